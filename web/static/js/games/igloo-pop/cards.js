// The cards of Igloo Pop, and the igloos that stand on them.

import { h, s } from "../../dom.js";
import { icon, thaler } from "../../art.js";

/**
 * An igloo with its thaler in the notch, 40 wide and 44 high, its foot at (0, 0); `number` is what was found
 * under it, `sensor` that it wears the cap.
 */
export function igloo({ colour, number = null, sensor = false, current = false }, x, y, scale = 1) {
  return s("g", { class: ["iglet", current && "current"], transform: `translate(${x} ${y}) scale(${scale})` },
    s("ellipse", { class: "shadow", cx: 2, cy: 1, rx: 22, ry: 4.5 }),
    s("path", { class: "dome", d: "M-19 0v-5a19 19 0 0 1 38 0v5z" }),
    s("path", { class: "bricks", d: "M-18-9h36M-13-17h26M-6-9v-8M6-9v-8M-11 0v-9M11 0v-9" }),
    number === null
      ? s("path", { class: "door", d: "M-5 0v-3a5 5 0 0 1 10 0v3z" })
      : [
          s("circle", { class: "found", cx: 0, cy: -4, r: 11 }),
          s("text", { class: "found-number", x: 0, y: 1, "text-anchor": "middle" }, number),
        ],
    colour && thaler(colour, 0, -29, 0.95),
    sensor && s("path", { class: "waves", d: "M14-36a9 9 0 0 1 0 12M18-40a15 15 0 0 1 0 20" }));
}

/** The numbers of a card, as people say them. */
export function cardName(numbers) {
  return numbers ? numbers.join("/") : "";
}

/** The small figures that say what a card is worth. */
export function eskimos(points) {
  return h("span", { class: "eskimos" }, Array.from({ length: points }, () => icon("eskimo", "small")));
}
