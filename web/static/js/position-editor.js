// What the editors of positions are made of, game by game: buttons and fields that alter what lies on a place.

import { h } from "./dom.js";
import { colourName, token } from "./art.js";
import { gameOf } from "./games.js";
import { layoutName } from "./seats.js";
import { t } from "./words.js";

/** A button that alters the position: `op` with up to two facts. */
export const edit = (op, a, b, attributes, ...words) => h("button", { type: "button", class: "second", "data-do": "edit", "data-op": op, "data-a": a, "data-b": b,
  "data-key": `${op}-${a}-${b}`, ...attributes }, words);
/** A button that is pressed or not. */
export const toggle = (op, a, b, on, ...words) => edit(op, a, b, { class: "toggle", "aria-pressed": String(on) }, ...words);
/** Buttons under a line that says what they are. */
export const group = (label, ...children) => h("div", { class: "editor-group", role: "group", "aria-label": label, "data-key": `group-${label}` },
  h("p", { class: "quiet" }, label), h("div", { class: "steps many" }, children));
/** A field for a number up to `most`. */
export const number = (op, a, value, most, words) => h("label", { class: "count-field" }, h("span", null, words),
  h("input", { type: "number", min: 0, max: most, step: 1, value: value ?? "", inputmode: "numeric", "data-input": "edit", "data-op": op, "data-a": a, "data-key": `${op}-${a}` }));
/** What somebody typed, as a number up to `most`. */
export const whole = (text, most) => Math.min(most, Math.max(0, Math.trunc(Number(text) || 0)));

/** Who plays (`choose` is "colours"), or how many ("count"), where it is not settled by the box; or how its boards lie. */
export function whoPlays({ p, layouts }, choose) {
  const { colours, least, most } = gameOf(p.game).seats;
  if (choose === "colours") return group(t("Who plays?"), colours.map((colour) => toggle("seat", colour, null, p.players.some((one) => one.colour === colour), token(colour, "", p.game), colourName(colour))));
  if (layouts.length > 1) return group(t("How do the boards lie?"), layouts.map((name) =>
    h("button", { type: "button", class: "toggle", "data-do": "position-layout", "data-layout": name, "data-key": `layout-${name}`, "aria-pressed": String(p.layout === name) }, layoutName(p.game, name))));
  if (choose !== "count") return null;
  return group(t("How many play?"), Array.from({ length: most - least + 1 }, (_, i) => least + i).map((n) => toggle("many", n, null, p.players.length === n, n)));
}
