// Before a game: who plays, what the table agrees on, who draws the cards.

import { h, s, style } from "./dom.js";
import { colourName, icon, token } from "./art.js";
import { gameName, gameOf, games, orFirst } from "./games.js";
import { isHost, mayAct, memory, store } from "./store.js";
import { boardSetup, readBoardSetup } from "./seats.js";
import { said, t } from "./words.js";

/** The game that is being set up: the one that was chosen, or the last one. */
export const chosenGame = () => store.game ?? orFirst(memory.get("game", null));

/** The games, each with its picture; the one that is chosen is set up below. */
function gameChoice(game) {
  return h("ul", { class: "tiles", "data-key": "games", "aria-label": t("Which game?") }, games().map(({ id, name, scene }) => h("li", null,
    h("button", { type: "button", class: "tile", "data-do": "choose-game", "data-game": id, "aria-pressed": String(id === game) },
      scene && s("svg", { class: "scene", viewBox: "0 0 160 96", preserveAspectRatio: "xMidYMid slice", "aria-hidden": "true", focusable: "false" }, s("use", { href: `${scene}#scene` })),
      h("span", null, said(name))))));
}

/** What the page does besides leading a game. */
function ways() {
  const way = (href, name, words) => h("li", null, h("a", { class: "way", href }, icon(name, "large"), h("span", null, words)));
  return h("ul", { class: "ways", "data-key": "ways", "aria-label": t("More to do") },
    way(`#learn/${chosenGame()}`, "question", t("Learn the game")), way("#score", "check", t("Score a finished game")), way("#referee", "scales", t("Ask the referee")), way("/training", "shake", t("Train your ear")));
}

/** The way back into a series that is not won yet, with the players of its newest game. */
function goOn(series) {
  if (!series?.can_go_on || series.game !== chosenGame()) return null;
  return h("section", { class: "panel go-on", "data-key": "go-on" },
    h("h2", null, t("The series to %(n)s points", { n: series.to })),
    h("ul", { class: "row" }, Object.entries(series.totals).map(([colour, points]) =>
      h("li", { class: "one" }, token(colour), h("span", { class: "unseen" }, colourName(colour)), points))),
    h("button", { type: "button", class: "second", "data-do": "next-game" }, icon("shake"), t("Go on with these players")));
}

/** Draw the set-up; for those who may not open a game, that they wait for the host, and `ask`, whose phone it is. */
export function setup(series, ask) {
  style("start");
  if (!isHost()) {
    return [h("section", { class: "panel welcome", "data-key": "welcome" },
      h("h1", null, t("Nobody is playing yet")),
      h("p", null, mayAct() ? t("You are at the table. The host starts the game.")
        : t("You are watching. The host starts the game.")),
      !mayAct() && h("p", null, h("a", { class: "main", href: "/join" }, icon("people"), t("Join with the table’s PIN"))),
      !mayAct() && h("p", { class: "quiet" },
        t("Host of this table? Open the link that the companion printed when it started, or ask it for a new one with: companion host"))),
    ask, ways()];
  }
  const game = chosenGame();
  const title = t("%(game)s: who plays?", { game: gameName(game) });
  return h("div", { class: "start", "data-key": "start" },
    h("h1", null, t("What shall we play?")),
    gameChoice(game),
    ways(),
    goOn(series),
    gameOf(game).setup?.form(title) ?? boardSetup(game, title));
}

/** Read the set-up form: the body of `open-match`, or a complaint. */
export function readSetup(form) {
  const game = chosenGame();
  memory.set("game", game);
  const data = new FormData(form);
  const { body, ...more } = gameOf(game).setup?.read(data) ?? readBoardSetup(game, data);
  return { ...more, body: body && { game, ...body } };
}
