// The buttons of a table that has some of wood and wire, for who sits too far from them.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { gameOf } from "./games.js";
import { showRefusal, tell } from "./net.js";
import { mayAct, store } from "./store.js";
import { t } from "./words.js";

/** Draw the buttons that mean something in this game now. */
export function tableButtons(match) {
  if (!match || match.over || !mayAct() || store.view.night.paused) return null;
  const shaken = gameOf(match.game).igloos;
  const button = (name, picture, words) =>
    h("button", { type: "button", class: "table-button", "data-do": "table-button", "data-button": name }, icon(picture, "large"), h("span", null, words));
  const buttons = [
    button("next", "play", t("Next")),
    shaken && button("shake", "shake", t("Shake!")),
    button("dispute", "scales", t("Doubt")),
  ].filter(Boolean);
  return h("section", { class: "panel table-buttons", "data-key": "table-buttons" },
    h("h2", null, t("Buttons of the table")),
    h("div", { class: "row" }, buttons));
}

/** Press one; everybody at the table hears of a doubt. */
export async function press({ button }) {
  try {
    await tell("/api/button", { button });
  } catch (refused) {
    showRefusal(refused.error);
  }
}
