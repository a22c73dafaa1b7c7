// Moves as they are written. Their notation is English; whoever reads another language may write its words.

import { COLOURS, colourName } from "./art.js";
import { t } from "./words.js";

const words = () => ({
  walk: t("walk"), kayak: t("kayak"), swim: t("swim"), leap: t("leap"), place: t("place"), take: t("take"), return: t("return"), pass: t("pass"), reveal: t("reveal"),
  melt: t("melt"), build: t("build"), move: t("move"), hunt: t("hunt"), harpoon: t("harpoon"), drift: t("drift"), flee: t("flee"), thaw: t("thaw"),
  draw: t("draw"), discard: t("put away"), give: t("give"), push: t("push"), freeze: t("freeze"), stop: t("stop"), end: t("end"),
  card: t("card"), fish: t("fish"), fox: t("fox"), moose: t("moose"), walrus: t("walrus"), orca: t("orca"), puffin: t("puffin"), bear: t("bear"),
  ...Object.fromEntries(COLOURS.map((colour) => [colour, colourName(colour)])),
});

const plain = (word) => word.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();

/** An example of a move of a game, in the reader's words. */
export function example(game) {
  const say = words();
  return { "iglu-iglu": `${say.walk} b2 b3`, arctic: `${say.draw} ${say.fox}-5-${say.moose}`, "ice-team": `${say.leap} a1 a3` }[game]
    ?? `${say.place} ${say.red} ${say.card}4`;
}

/** A move that was written in the reader's words, in the notation. */
export function toNotation(text) {
  const known = new Map(Object.entries(words()).map(([id, said]) => [plain(said), id]));
  return text.normalize("NFC").replace(/\p{L}+/gu, (word) => known.get(plain(word)) ?? word);
}
