// The ways into the rooms, each with its name; on a phone they lie under the thumb.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { mayAct } from "./store.js";
import { t } from "./words.js";

/** Draw them; `here` is the room that one is in, `table` the address of the table's page where this is another one. */
export function doors(here, table = "") {
  const door = (href, name, words) => h("a", { class: ["second", name === "scales" && "to-referee"], href, "data-key": href, "aria-current": href === here ? "page" : null }, icon(name), h("span", null, words));
  return [
    door(`${table}#`, "igloo", t("Game")),
    door(`${table}#referee`, "scales", t("Referee")),
    door("/training", "shake", t("Training")),
    mayAct() && door(`${table}#workshop`, "gear", t("Workshop")),
  ];
}
