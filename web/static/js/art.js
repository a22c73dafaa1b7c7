// Small drawings: icons, thalers with a shape for each colour, igloos, faces of cards.

import { h, s } from "./dom.js";
import { memory, store } from "./store.js";
import { t } from "./words.js";

let sprite = "";

/** Say where the icons lie. */
export function useSprite(url) {
  sprite = url;
}

/** The address of a drawing that lies beside the icons. */
export const drawn = (name) => sprite.replace(/[^/]*$/, name);

/** An icon beside text, so it is silent for screen readers. */
export function icon(name, size = "") {
  return s("svg", { class: ["icon", size], "aria-hidden": "true", focusable: "false" },
    s("use", { href: `${sprite}#${name}` }));
}

export const COLOURS = ["red", "yellow", "green", "blue", "violet", "black"];

/** The name of a thaler's colour in the reader's language. */
export function colourName(colour) {
  return {
    red: t("red"),
    yellow: t("yellow"),
    green: t("green"),
    blue: t("blue"),
    violet: t("violet"),
    black: t("black"),
    p1: "P1",
    p2: "P2",
    p3: "P3",
    p4: "P4",
  }[colour] ?? colour;
}

// Around (0, 0), to fit a disc of radius 12: what tells the colours apart without colour.
const digit = (n) => () => s("text", { class: "digit", y: 5, "text-anchor": "middle" }, n);
const SHAPES = {
  p1: digit(1),
  p2: digit(2),
  p3: digit(3),
  p4: digit(4),
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
    s("g", { class: "shape" }, SHAPES[colour]?.() ?? s("circle", { r: 2 })));
}

// The pieces of the games on boards, as their pictures draw them.
const EARS = () => [s("circle", { cx: -9, cy: -10, r: 4.5 }), s("circle", { cx: 9, cy: -10, r: 4.5 })];
const PIECES = {
  "iglu-iglu": {
    red: () => s("circle", { r: 11.5 }),
    blue: () => s("rect", { x: -10.5, y: -10.5, width: 21, height: 21 }),
    yellow: () => s("path", { d: "M0-14L13 10H-13z" }),
    green: () => s("path", { d: "M0-14L14 0 0 14-14 0z" }),
  },
  "ice-team": {
    green: () => [EARS(), s("circle", { r: 13 })],
    red: () => [EARS(), s("path", { d: "M0-15.5L15.5 0 0 15.5-15.5 0z" })],
  },
};

const playing = () => store.view?.match?.game ?? store.game ?? memory.get("game", "igloo-pop");

/** What a colour plays with, as an icon beside a name: a thaler, or the piece of the game on the board. */
export function token(colour, size = "", game = playing()) {
  const piece = PIECES[game]?.[colour];
  return s("svg", { class: ["token", size], viewBox: piece ? "-17 -17 34 34" : "-12.5 -12.5 25 25", "aria-hidden": "true", focusable: "false" },
    piece ? s("g", { class: `piece ${colour}` }, piece(), s("text", { y: 5, "text-anchor": "middle" }, [...colourName(colour)][0].toLocaleUpperCase())) : thaler(colour));
}

/**
 * An igloo with its thaler in the notch, 40 wide and 44 high, its foot at (0, 0); `number` is what was found
 * under it, `sensor` that it wears the cap.
 */
export function igloo({ colour, number = null, sensor = false, current = false }, x, y, scale = 1) {
  return s("g", { class: ["iglet", current && "current"], transform: `translate(${x} ${y}) scale(${scale})` },
    s("path", { class: "dome", d: "M-19 0v-5a19 19 0 0 1 38 0v5z" }),
    s("path", { class: "bricks", d: "M-18-9h36M-13-17h26M-6-9v-8M6-9v-8M-11 0v-9M11 0v-9" }),
    number === null
      ? s("path", { class: "door", d: "M-5 0v-3a5 5 0 0 1 10 0v3z" })
      : [
          s("circle", { class: "found", cx: 0, cy: -4, r: 11 }),
          s("text", { class: "found-number", x: 0, y: 1, "text-anchor": "middle" }, number),
        ],
    colour && thaler(colour, 0, -29, 0.95),
    sensor && s("path", { class: "waves", d: "M14-36a9 9 0 0 1 0 12M18-40a15 15 0 0 1 0 20" }));
}

/** What a player is called; who gave no name is called by the colour. */
export function playerName(player) {
  const name = player.name || colourName(player.colour);
  return name.charAt(0).toLocaleUpperCase() + name.slice(1);
}

/** The numbers of a card, as people say them. */
export function cardName(numbers) {
  return numbers ? numbers.join("/") : "";
}

/** The small figures that say what a card is worth. */
export function eskimos(points) {
  return h("span", { class: "eskimos" }, Array.from({ length: points }, () => icon("eskimo", "small")));
}
