// Arctic on the page: a table of cards.

import { value } from "../../narrow.js";
import { t } from "../../words.js";
import { ANIMALS, animal } from "./animals.js";

/** Where its table is folded on a phone: between cards, between the small ones of a pile, every four of a hand. */
const FOLD = { row: 460, pile: 476, hand: 408 };
const MARGIN = 20;

function rows(node, high) {
  const top = (name) => value(node.querySelector(`[data-spot="${name}"]`), "y");
  const players = [...node.querySelectorAll("[data-spot^=player]")];
  const river = node.querySelector("[data-spot=pile]");
  const fold = (y, end, x) => [[10, y, x - 10, end - y], [x - 3, y, x - 10, end - y]];
  const found = [];
  if (river) {
    const cuts = [top("land0") - 6, value(river, "y") - 26, top("power0") - 8, value(players[0], "y") - 6];
    found.push([10, 0, FOLD.row - 10, cuts[0]]);
    for (let i = 0; i + 1 < cuts.length; i += 1) found.push(...fold(cuts[i], cuts[i + 1], FOLD.row));
  }
  for (const player of players) {
    const [y, height] = [value(player, "y") - 2, value(player, "height") + 4];
    const end = Math.min(high, y + height);
    const hand = [...node.querySelectorAll("rect")].filter((one) => value(one, "width") === 98 && value(one, "y") > y + 100 && value(one, "y") < end);
    const low = hand.length ? Math.min(...hand.map((one) => value(one, "y"))) - 4 : end;
    found.push(...fold(y, y + 44, FOLD.pile), ...fold(y + 44, low, FOLD.pile));
    for (let x = MARGIN - 4; hand.some((one) => value(one, "x") > x); x += FOLD.hand) found.push([x, low, FOLD.hand + 4, end - low]);
  }
  return found;
}

const animals = () => Object.fromEntries(ANIMALS.map((name) => [name, animal(name)]));

export default {
  seats: { least: 2, most: 4, colours: ["p1", "p2", "p3", "p4"], numbered: true },
  scene: new URL("./scene.svg", import.meta.url).href,
  narrow: { wide: FOLD.row, rows },
  spot: (name) => (name === "pile" ? t("The pile") : name.startsWith("card") ? "" : null),
  example: (say) => `${say.draw} ${say.fox}-5-${say.moose}`,
  words: () => ({
    take: t("take"), pass: t("pass"), reveal: t("reveal"), place: t("place"), draw: t("draw"), discard: t("put away"), give: t("give"), end: t("end"), card: t("card"),
    ...animals(),
  }),
  places: { things: animals },
  parts: {
    dispute: () => import("./dispute.js"),
    sheet: () => import("./sheet.js"),
    position: () => import("./position.js"),
    pile: () => import("./pile.js"),
  },
};
