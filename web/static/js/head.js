// What stands above every game: whose turn it is, what is to be done, the way back, the menu.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { has, part } from "./games.js";
import { undoButton } from "./rulings.js";
import { isHost, mayAct, store } from "./store.js";
import { t } from "./words.js";

/** Draw the head of a game, with the way back unless that stands elsewhere. */
export function head(match, title, sentence, back = true) {
  return h("header", { class: "now" },
    h("div", { class: "now-words" },
      h("h1", null, title),
      h("p", { class: "sentence", id: "sentence" }, sentence)),
    h("div", { class: "tools" },
      h("button", { type: "button", class: "round-button", "data-do": "may", "aria-label": t("What can be done now?"), title: t("What can be done now?") }, icon("question")),
      mayAct() && [back && undoButton(match), menu(match)]));
}

function menu(match) {
  const paused = store.view.night.paused;
  const item = (action, name, words) =>
    h("li", null, h("button", { type: "button", class: "item", "data-do": action }, icon(name), words));
  return h("details", { class: "menu", "data-key": "menu" },
    h("summary", { class: "round-button", "aria-label": t("More") }, icon("more")),
    h("ul", null,
      !match.over && item(paused ? "resume" : "pause", paused ? "play" : "pause", paused ? t("Go on") : t("Pause the night")),
      part(match.game, "play")?.faults && item("fault-dialog", "flag", t("Report a fault")),
      isHost() && !match.over && match.board && item("clock", "pause", t("Turn clock")),
      isHost() && item("correct-dialog", "check", t("Correct a score")),
      isHost() && !match.over && has(match.game, "sheet") && h("li", null, h("a", { class: "item", href: "#score" }, icon("check"), t("End it with a score sheet"))),
      isHost() && !match.over && item("close-dialog", "close", t("End this game now"))));
}
