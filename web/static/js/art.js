// Small drawings: icons, thalers with a shape for each colour, the pieces of games; and what players are called.

import { s } from "./dom.js";
import { gameOf, orFirst } from "./games.js";
import { memory, store } from "./store.js";
import { t } from "./words.js";

let sprite = "";
/** Icons that were made once: a copy is made sooner than another. */
const icons = new Map();

/** Say where the icons lie. */
export function useSprite(url) {
  sprite = url;
  icons.clear();
}

/** The address of a drawing that lies beside the icons. */
export const drawn = (name) => sprite.replace(/[^/]*$/, name);

/** An icon beside text, so it is silent for screen readers. */
export function icon(name, size = "") {
  const key = `${name} ${size}`;
  if (!icons.has(key)) {
    icons.set(key, s("svg", { class: ["icon", size], "aria-hidden": "true", focusable: "false" },
      s("use", { href: `${sprite}#${name}` })));
  }
  return icons.get(key).cloneNode(true);
}

export const COLOURS = ["red", "yellow", "green", "blue", "violet", "black"];

/** Seats without a colour are p1, p2 … */
const NUMBERED = /^p(\d)$/;

/** The name of a thaler's colour in the reader's language. */
export function colourName(colour) {
  return {
    red: t("red"),
    yellow: t("yellow"),
    green: t("green"),
    blue: t("blue"),
    violet: t("violet"),
    black: t("black"),
  }[colour] ?? colour?.replace(NUMBERED, "P$1");
}

// Around (0, 0), to fit a disc of radius 12: what tells the colours apart without colour.
const SHAPES = {
  red: () => s("circle", { r: 5.2 }),
  yellow: () => s("path", { d: "M0-6.6 6.2 4.4H-6.2z" }),
  green: () => s("rect", { x: -4.9, y: -4.9, width: 9.8, height: 9.8 }),
  blue: () => s("path", { d: "M0-7 5.4 0 0 7-5.4 0z" }),
  violet: () => s("path", { d: "M0-7.2 1.9-2.5 6.9-2.3 3 .9 4.3 5.7 0 3 -4.3 5.7 -3 .9 -6.9-2.3 -1.9-2.5z" }),
  black: () => s("path", { d: "M-1.9-6.4h3.8v4.5h4.5v3.8h-4.5v4.5h-3.8v-4.5h-4.5v-3.8h4.5z" }),
};

/** A thaler as part of a larger drawing, centred on (x, y). */
export function thaler(colour, x = 0, y = 0, scale = 1) {
  return s("g", { class: `thaler ${colour}`, transform: `translate(${x} ${y}) scale(${scale})` },
    s("circle", { class: "disc", r: 11 }),
    s("g", { class: "shape" }, SHAPES[colour]?.() ?? sign(colour)));
}

function sign(colour) {
  const [, digit] = NUMBERED.exec(colour) ?? [];
  return digit ? s("text", { class: "digit", y: 5, "text-anchor": "middle" }, digit) : s("circle", { r: 2 });
}

/** An icon of a thaler beside a name. */
export const coin = (colour, size = "") => s("svg", { class: ["token", size], viewBox: "-12.5 -12.5 25 25", "aria-hidden": "true", focusable: "false" }, thaler(colour));

const playing = () => store.view?.match?.game ?? store.game ?? orFirst(memory.get("game", null));

const pieceOf = (game, colour, more = {}) => {
  const drawing = gameOf(game).pieces?.[colour];
  return drawing && s("g", { class: `piece ${colour}`, ...more }, drawing(), s("text", { y: 5, "text-anchor": "middle" }, letters(colour)));
};

/** What a colour plays with in a game, its piece or a thaler, as part of a larger drawing: as large as a thaler there. */
export const pieceAt = (game, colour, x, y, scale) =>
  pieceOf(game, colour, { transform: `translate(${x} ${y}) scale(${scale * (12.5 / 17)})` }) ?? thaler(colour, x, y, scale);

/** What a colour plays with, as an icon beside a name: the piece of the game on the board, or a thaler. */
export function token(colour, size = "", game = playing()) {
  const piece = pieceOf(game, colour);
  if (!piece) return coin(colour, size);
  return s("svg", { class: ["token", size], viewBox: "-17 -17 34 34", "aria-hidden": "true", focusable: "false" }, piece);
}

const LETTERED = ["red", "blue", "yellow", "green"];

/** What stands on a piece, so that colour never stands alone: as much of its name as tells it from the others. */
export function letters(colour) {
  const name = [...colourName(colour)], others = LETTERED.filter((one) => one !== colour).map((one) => [...colourName(one)]);
  const alike = (n) => others.some((other) => name.slice(0, n).every((letter, at) => letter === other[at]));
  const enough = name.findIndex((_, at) => !alike(at + 1)) + 1 || name.length;
  return name[0].toLocaleUpperCase() + name.slice(1, enough).join("");
}

/** What a player is called; who gave no name is called by the colour. */
export function playerName(player) {
  const name = player.name || colourName(player.colour);
  return name.charAt(0).toLocaleUpperCase() + name.slice(1);
}

export const playerOf = (match, colour) => match.players.find((player) => player.colour === colour);

export function nameOf(match, colour) {
  const player = playerOf(match, colour);
  return player ? playerName(player) : colourName(colour);
}
