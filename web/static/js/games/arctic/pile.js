// A pile of Arctic in a photo: of each card its animal, which is all that scores, in the order of the pile.

import { t } from "../../words.js";
import { ANIMALS, animal } from "./animals.js";

const SURE = 0.9;

export default {
  title: () => t("A pile in one photo"),
  how: () => t("Fan the pile out so that a third of each card shows, in one row or several from the top of the photo down, the lowest card first."),
  send: () => t("Send a photo of the pile"),
  seats: () => ["p1", "p2", "p3", "p4"],
  whose: () => t("Whose pile is it?"),
  edit: (n) => t("Card %(n)s from the bottom: which animal?", { n }),
  missing: () => t("A card is missing below it"),
  is: (card) => card.kind,
  put: (name) => ({ kind: name, kind_p: 1 }),
  words: animal,
  names: () => ANIMALS,
  doubt: (card) => card.gap_before || card.kind_p < SURE,
  named: (card) => {
    const [main, value, companion] = card.split("-");
    return `${animal(main)} ${value}, ${animal(companion)}`;
  },
};
