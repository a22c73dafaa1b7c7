// The cards of Igloo Pop that somebody has won, in a photo: which card each is.

import { COLOURS } from "../../art.js";
import { taughtOf } from "../../photo-teach.js";
import { openGame } from "../../score-save.js";
import { t } from "../../words.js";

const ID = "igloo-pop";

export default {
  title: () => t("The cards that a player has won"),
  how: () => t("At the end of a game: lay the cards of one player side by side, none on another."),
  send: () => t("Send a photo of the cards"),
  seats: () => (openGame()?.game === ID ? openGame().players.map((player) => player.colour) : COLOURS),
  whose: () => t("Whose cards are they?"),
  edit: (n) => t("Card %(n)s: which one is it?", { n }),
  missing: () => t("A card is missing"),
  is: (card) => card.card,
  put: (name) => ({ card: name, unsure: false }),
  words: (name) => name,
  names: () => taughtOf(ID)?.names ?? [],
  doubt: (card) => card.gap_before || card.unsure,
  named: (card) => card,
};
