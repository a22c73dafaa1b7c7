// Moves as they are written. Their notation is English; whoever reads another language may write its words.

import { COLOURS, colourName } from "./art.js";
import { gameOf } from "./games.js";

const words = (game) => ({ ...Object.fromEntries(COLOURS.map((colour) => [colour, colourName(colour)])), ...game.words?.() });

const plain = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();

/** An example of a move of a game, in the reader's words; nothing where the game has none. */
export function example(id) {
  const game = gameOf(id);
  return game.example?.(words(game)) ?? null;
}

/** A move that was written in the reader's words, in the notation of a game. */
export function toNotation(id, text) {
  const known = new Map(Object.entries(words(gameOf(id))).map(([word, said]) => [plain(said), word]));
  return text.normalize("NFC").replace(/\p{L}+/gu, (word) => known.get(plain(word)) ?? word);
}
