// All cards of the box, to say which one lies somewhere.

import { h } from "../../dom.js";
import { tn } from "../../words.js";
import { cardName, eskimos } from "./cards.js";

const CARDS = [
  ...Array.from({ length: 12 }, (_, i) => [i + 2]),
  ...Array.from({ length: 11 }, (_, i) => [i + 2, i + 3]),
  ...Array.from({ length: 10 }, (_, i) => [i + 2, i + 3, i + 4]),
];

/** All cards of the box, those that lie somewhere struck out; `does` says what a tap on a card does. */
export function cardPicker(match, does) {
  const lying = new Set();
  for (const card of match.cards) if (card.numbers) lying.add(cardName(card.numbers));
  for (const player of match.players) for (const card of player.cards) lying.add(cardName(card.numbers));
  return h("div", { class: "picker", role: "group", "aria-labelledby": "question" }, [1, 2, 3].map((size) =>
    h("div", { class: ["picker-row", `with-${size}`] },
      h("span", { class: "worth" }, eskimos(4 - size), h("span", { class: "unseen" },
        tn("worth %(n)s point", "worth %(n)s points", 4 - size))),
      CARDS.filter((card) => card.length === size).map((card) => {
        const text = cardName(card);
        return h("button", {
          type: "button", class: "mini-card", "data-key": text, ...does(text), disabled: lying.has(text),
        }, text);
      }))));
}
