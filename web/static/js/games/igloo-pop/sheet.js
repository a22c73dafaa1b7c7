// The score sheet of Igloo Pop: cards and thalers, counted, or the cards read from a photo.

import { h } from "../../dom.js";
import { playerName } from "../../art.js";
import { t } from "../../words.js";

const CARDS_OF_ALL = ["three", "two", "one"];

const numbered = (length, count) => Array.from({ length: count }, (_, i) => Array.from({ length }, (__, j) => i + 2 + j).join("/"));

function position(now) {
  // Cards that nobody named are made up, of the worth that was counted.
  const known = new Set(Object.values(now.won).flat());
  const stack = Object.fromEntries(Object.entries({ three: [1, 12], two: [2, 11], one: [3, 10] })
    .map(([kind, size]) => [kind, numbered(...size).filter((card) => !known.has(card))]));
  const players = now.seats.map((colour) => {
    const value = now.values[colour];
    const cards = now.won[colour] ?? CARDS_OF_ALL.flatMap((kind) => stack[kind].splice(0, value[kind] ?? 0));
    return { name: playerName({ colour }), colour, own: value.own ?? 0, captured: value.captured ?? 0, cards };
  });
  return { places: {}, players, phase: "over" };
}

export default {
  start: () => ({ won: {} }),
  fields: () => [["three", t("cards with one number (3 points)"), 12], ["two", t("cards with two numbers (2 points)"), 11],
    ["one", t("cards with three numbers (1 point)"), 10], ["own", t("own thalers left"), 10], ["captured", t("thalers won from others"), 50]],
  shared: CARDS_OF_ALL,
  position,
  beside: (now, seat) => now.won[seat]?.length > 0 && h("p", { class: "pile" }, now.won[seat].map((card) => h("span", { class: "mini-card" }, card))),
  // Who types how many cards there were has counted them anew.
  typed: (now, seat, name) => (CARDS_OF_ALL.includes(name) ? { won: Object.fromEntries(Object.entries(now.won).filter(([one]) => one !== seat)) } : null),
  take: (now, seat, cards) => {
    const of = (numbers) => cards.filter((card) => card.split("/").length === numbers).length;
    return { won: { ...now.won, [seat]: cards }, values: { ...now.values, [seat]: { ...now.values[seat], three: of(1), two: of(2), one: of(3) } } };
  },
};
