// A photo with what was read in it drawn over it; it stays in this browser, the table only reads it.

import { h, s } from "./dom.js";
import { thaler } from "./art.js";
import { around } from "./camera-picture.js";
import { t } from "./words.js";

/** Cards are read on a small computer: so long an answer may take. */
export const READING_MS = 120000;

const points = (corners) => corners.map((point) => point.join(",")).join(" ");
const wide = (corners) => Math.hypot(corners[1][0] - corners[0][0], corners[1][1] - corners[0][1]);

function text(at, words, size) {
  return s("text", { class: "read", x: at[0], y: at[1], "font-size": size, "text-anchor": "middle" }, words);
}

/**
 * Draw a photo (an object URL) and what was read. `cards` have corners and `words`, `doubt`, `picked`; `igloos` have
 * `at`, `colour`, `number`, `doubt`, `picked`. A card that is tapped is sent as `tap`, an igloo as `photo-igloo`, with its number.
 */
export function overlay(photo, { width, height, cards, igloos = [] }, what, tap = "photo-card") {
  const box = around(cards.flatMap((card) => card.corners), width, height);
  const size = box[2] / 38;
  // Above the upper edge of a card: there the cards of a fan leave room for each other, and igloos for the words.
  const over = (corners, part) => {
    const edges = corners.map((corner, i) => [corner, corners[(i + 1) % 4]]);
    const [a, b] = part < 0.5 ? edges[0] : edges.sort((p, q) => p[0][1] + p[1][1] - q[0][1] - q[1][1])[0];
    return [0, 1].map((axis) => a[axis] * (1 - part) + b[axis] * part - (axis ? size * 0.3 : 0));
  };
  return h("div", { class: "photo-overlay", "data-key": `photo-${what}` },
    s("svg", { viewBox: box.join(" "), role: "group", "aria-label": t("The photo, and what was read in it") },
      s("image", { href: photo, width, height }),
      cards.map((card, i) => s("g", { class: ["seen", card.doubt && "doubt", card.picked && "picked"], role: "button", tabindex: 0,
          "data-do": tap, "data-n": i, "data-key": `card${i}`, "aria-pressed": String(Boolean(card.picked)),
          "aria-label": card.doubt ? t("%(what)s, doubtful", { what: card.words }) : card.words },
        s("polygon", { points: points(card.corners) }),
        text(over(card.corners, card.fanned ? 0.15 : 0.5), card.short ?? card.words, size * (card.fanned ? 1 : 1.2)))),
      igloos.map((igloo, i) => {
        const reach = (wide(cards[igloo.on_card]?.corners ?? [[0, 0], [size * 4, 0]]) * 0.3);
        return s("g", { class: ["seen igloo", igloo.doubt && "doubt", igloo.picked && "picked"], role: "button", tabindex: 0,
            "data-do": "photo-igloo", "data-n": i, "data-key": `igloo${i}`, "aria-pressed": String(Boolean(igloo.picked)),
            "aria-label": igloo.words },
          s("circle", { cx: igloo.at[0], cy: igloo.at[1], r: reach }),
          igloo.colour ? thaler(igloo.colour, igloo.at[0], igloo.at[1] - reach * 0.35, reach / 24) : null,
          text([igloo.at[0], igloo.at[1] + reach * 0.75], igloo.number ?? "?", reach * 0.8));
      })));
}

/** A button that takes a photo. */
export function fileButton(words, name, facts = {}) {
  return h("label", { class: "main file", "data-key": `file-${name}` }, h("span", null, words),
    h("input", { type: "file", accept: "image/*", class: "unseen", "data-change": name,
      ...Object.fromEntries(Object.entries(facts).map(([key, value]) => [`data-${key}`, value])) }));
}
