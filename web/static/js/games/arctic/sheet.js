// The score sheet of Arctic: piles, tokens and totems.

import { h } from "../../dom.js";
import { icon, playerName } from "../../art.js";
import { t } from "../../words.js";
import { ANIMALS, LANDS, animal } from "./animals.js";

const named = (seat) => playerName({ colour: seat });

function editor(now) {
  return [
    h("fieldset", { class: "counts-of-box" }, h("legend", null, t("Where each animal’s token stands")),
      ANIMALS.map((name) => h("label", { class: "count-field" }, h("span", null, animal(name)),
        h("select", { "data-change": "token", "data-animal": name }, LANDS.map((n) => h("option", { value: n, selected: now.tokens[name] === n }, n)))))),
    now.seats.map((seat) => h("fieldset", { class: "pile-of", "data-key": `pile-${seat}` },
      h("legend", null, t("Pile of %(who)s, from the bottom up", { who: named(seat) })),
      h("p", { class: "pile" }, now.piles[seat].length ? now.piles[seat].map((name) => h("span", { class: "mini-card" }, name === "?" ? "?" : animal(name))) : t("no card")),
      h("div", { class: "steps many" },
        [...ANIMALS, "?"].map((name) => h("button", { type: "button", class: "second", "data-do": "pile", "data-seat": seat, "data-animal": name },
          name === "?" ? t("face down") : animal(name))),
        h("button", { type: "button", class: "second", "data-do": "unpile", "data-seat": seat, disabled: !now.piles[seat].length, "aria-label": t("Take the top card away") }, icon("undo"))),
      h("label", { class: "count-field" }, h("span", null, t("Totem")),
        h("select", { "data-change": "totem", "data-seat": seat }, h("option", { value: "" }, "?"),
          ANIMALS.map((name) => h("option", { value: name, selected: now.totems[seat] === name }, animal(name))))))),
  ];
}

function position(now) {
  const places = {};
  for (const land of LANDS) {
    places[`land${land}`] = { ground: "landscape", things: ANIMALS.filter((name) => now.tokens[name] === land).map((kind) => ({ kind, count: 1 })) };
  }
  const players = now.seats.map((seat) => ({
    name: named(seat), pile: now.piles[seat].map((name) => (name === "?" ? "down:?" : name)), hand: 0,
    penalty: now.values[seat].penalty ?? 0, ...(now.totems[seat] ? { totem: now.totems[seat] } : {}),
  }));
  return { places, players, phase: Object.keys(now.totems).length >= now.seats.length ? "over" : "totems", stage: "last" };
}

const pile = (now, seat, cards) => ({ piles: { ...now.piles, [seat]: cards } });

export default {
  start: (seats) => ({ piles: Object.fromEntries(seats.map((seat) => [seat, []])), totems: {}, tokens: Object.fromEntries(ANIMALS.map((name) => [name, 3])) }),
  fields: () => [["penalty", t("Penalty cards"), 60]],
  editor,
  position,
  take: pile,
  missing: ({ totems, seats }) => (seats.some((seat) => !totems[seat]) ? t("To keep this game, give each player’s totem: it is worth points.") : null),
  does: {
    pile: (now, { seat, animal: name }) => pile(now, seat, [...now.piles[seat], name]),
    unpile: (now, { seat }) => pile(now, seat, now.piles[seat].slice(0, -1)),
  },
  changes: {
    token: (now, { dataset, value }) => ({ tokens: { ...now.tokens, [dataset.animal]: Number(value) } }),
    totem: (now, { dataset, value }) => {
      const { [dataset.seat]: gone, ...others } = now.totems;
      return { totems: value ? { ...others, [dataset.seat]: value } : others };
    },
  },
};
