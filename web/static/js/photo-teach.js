// Teach a game's cards: sheets of them, row by row in the order that the page asks for.

import { h } from "./dom.js";
import { ask, chosenFile, fetched, tell, upload } from "./net.js";
import { fileButton, overlay, READING_MS } from "./photo-picture.js";
import { change, isHost } from "./store.js";
import { t, tn } from "./words.js";

const known = {};
let shown = null;
let many = 12;

/** What was taught of a game: `{names, taught}`, or null until the table has answered. */
export function taughtOf(game) {
  if (known[game] === undefined) {
    known[game] = null;
    ask(`/api/cards/${game}`).then((cards) => { known[game] = cards; change(() => {}); }).catch(() => { delete known[game]; });
  }
  return known[game];
}

const next = (cards) => cards.names.findIndex((name) => !cards.taught.includes(name));

/** Draw the panel; the host teaches, the others see how far it is. */
export function teachPanel(game, named) {
  const cards = taughtOf(game);
  if (!cards) return h("p", { class: "quiet" }, t("One moment …"));
  const first = next(cards);
  const count = Math.min(many, cards.names.length - first);
  const list = cards.names.slice(first, first + count).map(named);
  return h("details", { class: "panel teach-cards", "data-key": `teach-${game}`, open: first >= 0 || shown?.game === game },
    h("summary", null, t("Cards taught: %(n)s of %(all)s", { n: cards.taught.length, all: cards.names.length })),
    h("p", null, t("The companion learns what your cards look like from photos of sheets: cards side by side in rows, the right way up, a finger’s width apart, on a table of one colour.")),
    !isHost() ? h("p", { class: "quiet" }, t("The host teaches the cards.")) : first < 0 ? h("p", null, t("All cards are taught.")) : [
      h("label", { class: "count-field" }, h("span", null, t("Cards in the next photo")),
        h("input", { type: "number", min: 1, max: 60, value: count, inputmode: "numeric", "data-input": "teach-count" })),
      h("p", null, t("Lay them row by row, from the left, in this order:")),
      h("ol", { class: "sheet-order" }, list.map((name) => h("li", null, name))),
      fileButton(t("Send the photo of this sheet"), "teach-sheet", { game, first, count }),
    ],
    shown?.game === game ? overlay(shown.url, { ...shown, cards: shown.cards.map((card) => ({ ...card, words: named(card.card), picked: false })) }, "sheet") : null,
    shown?.game === game ? h("p", { role: "status" }, tn("%(n)s card was learnt. Is each name on its card? Otherwise forget them and start again.", "%(n)s cards were learnt. Is each name on its card? Otherwise forget them and start again.", shown.cards.length)) : null,
    isHost() && cards.taught.length > 0 && h("button", { type: "button", class: "second", "data-do": "forget-cards", "data-game": game }, t("Forget these cards")));
}

async function sendSheet(input) {
  const file = chosenFile(input);
  const { game, first, count } = input.dataset;
  const answer = file && await fetched(() => upload(`/api/cards/${game}/teach?first=${first}&count=${count}`, file, READING_MS));
  if (!answer) return;
  if (shown) URL.revokeObjectURL(shown.url);
  shown = { ...answer, game, url: URL.createObjectURL(file) };
  known[game] = undefined;
  change(() => {});
}

export const TEACH_DO = {
  "forget-cards": async ({ game }) => {
    if (!await fetched(() => tell(`/api/cards/${game}/forget`, {}))) return;
    known[game] = undefined;
    shown = null;
    change(() => {});
  },
};
export const TEACH_CHANGE = { "teach-sheet": sendSheet };
export const TEACH_INPUT = {
  "teach-count": ({ value }) => { const n = Math.trunc(Number(value)); if (n >= 1 && n <= 60) { many = n; change(() => {}); } },
};
