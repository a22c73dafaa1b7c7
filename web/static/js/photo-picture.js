// A photo with what was read in it drawn over it; it stays in this browser, the table only reads it.

import { h, s } from "./dom.js";
import { thaler } from "./art.js";
import { t } from "./words.js";

/** The room's own style sheet, asked for when the room is first entered. */
export function style() {
  if (document.querySelector("link[href*='photo']")) return;
  const link = document.querySelector("link[rel=stylesheet]").cloneNode();
  link.href = link.href.replace(/[^/]*$/, "photo.css");
  document.head.append(link);
}

const points = (corners) => corners.map((point) => point.join(",")).join(" ");
const middle = (corners) => [0, 1].map((axis) => corners.reduce((sum, point) => sum + point[axis], 0) / corners.length);
const wide = (corners) => Math.hypot(corners[1][0] - corners[0][0], corners[1][1] - corners[0][1]);

function text(at, words, size) {
  return s("text", { class: "read", x: at[0], y: at[1], "font-size": size, "text-anchor": "middle" }, words);
}

/**
 * Draw a photo (an object URL) and what was read. `cards` have corners and `words`, `doubt`, `picked`; `igloos` have
 * `at`, `colour`, `number`, `doubt`, `picked`. What is tapped is sent as `card` or `igloo` with its number.
 */
export function overlay(photo, { width, height, cards, igloos = [] }, what) {
  const size = Math.max(width, height) / 42;
  // Above the upper edge of a card, where the cards of a fan leave room for each other.
  const over = (corners) => [(corners[0][0] * 3 + corners[1][0]) / 4, (corners[0][1] * 3 + corners[1][1]) / 4 - size * 0.4];
  return h("div", { class: "photo-of", "data-key": `photo-${what}` },
    s("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": t("The photo, and what was read in it") },
      s("image", { href: photo, width, height }),
      cards.map((card, i) => s("g", { class: ["seen", card.doubt && "doubt", card.picked && "picked"], role: "button", tabindex: 0,
          "data-do": "photo-card", "data-n": i, "data-key": `card${i}`, "aria-pressed": String(Boolean(card.picked)),
          "aria-label": card.doubt ? t("%(what)s, doubtful", { what: card.words }) : card.words },
        s("polygon", { points: points(card.corners) }),
        text(card.fanned ? over(card.corners) : middle(card.corners), card.short ?? card.words, card.fanned ? size * 0.8 : Math.min(size * 1.4, wide(card.corners) / 3)))),
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
