// The camera's picture with the board drawn over it: the grid, what was read, corners to put right, places to tap.

import { h, s } from "./dom.js";
import { t } from "./words.js";

export const CORNERS = () => [t("far left"), t("far right"), t("near right"), t("near left")];

const points = (corners) => corners.map((point) => point.join(",")).join(" ");
const middle = (corners) => [0, 1].map((axis) => corners.reduce((sum, point) => sum + point[axis], 0) / corners.length);

function cell(name, corners, { words, unsure, wrong, tap, label }) {
  const [x, y] = middle(corners);
  const high = Math.hypot(corners[3][0] - corners[0][0], corners[3][1] - corners[0][1]);
  const lines = words ? words.split("\n") : [];
  return s("g", {
      class: ["cell", unsure && "unsure", wrong && "wrong", tap && "tappable"], "data-key": `cell-${name}`,
      "data-do": tap ?? null, "data-place": name, role: tap ? "button" : null, tabindex: tap ? 0 : null,
      "aria-label": tap ? label ?? name : null,
    },
    s("polygon", { points: points(corners) }),
    lines.map((line, i) => s("text", { x, y: y + high * (0.22 * (i - (lines.length - 1) / 2) + 0.07), "text-anchor": "middle", "font-size": high * 0.2 }, line)));
}

function handle([x, y], n, size, chosen) {
  const name = CORNERS()[n];
  return s("g", { class: ["corner", chosen && "chosen"], "data-key": `corner-${n}`, "data-do": "camera-corner", "data-corner": n, role: "button", tabindex: 0,
      "aria-label": t("Corner %(n)s, %(where)s: the arrow keys move it", { n: n + 1, where: name }), "aria-pressed": String(Boolean(chosen)), transform: `translate(${x} ${y})` },
    s("circle", { r: size * 0.035, class: "hit-area" }), s("circle", { r: size * 0.016 }), s("path", { d: `M${-size * 0.03} 0H${size * 0.03}M0 ${-size * 0.03}V${size * 0.03}` }),
    s("text", { y: -size * 0.026, "text-anchor": "middle", "font-size": size * 0.03 }, n + 1));
}

/** The part of a photo that shows what was read (corners in its pixels), with some table around it: left, top, width, height. */
export function around(corners, width, height) {
  if (!corners.length) return [0, 0, width, height];
  const rim = 0.06 * Math.max(width, height);
  const [left, top] = [0, 1].map((axis) => Math.max(0, Math.min(...corners.map((point) => point[axis])) - rim));
  const right = Math.min(width, Math.max(...corners.map((point) => point[0])) + rim);
  const low = Math.min(height, Math.max(...corners.map((point) => point[1])) + rim);
  return [left, top, right - left, low - top].map((value) => Math.round(value));
}

/**
 * Draw the frame `src` of `size` (width, height). `cells` maps places to their corners in it; `describe(name)` says how a
 * place is drawn. `corners` are the four that are being put right, `chosen` the one that the next tap moves. With `close`
 * only the part around the cells is shown.
 */
export function overlay(src, size, { cells = {}, describe = () => ({}), corners = null, chosen = null, close = false, alt }) {
  const [wide, high] = size;
  const box = close ? around(Object.values(cells).flat(), wide, high) : [0, 0, wide, high];
  return h("div", { class: ["camera-picture", corners && "picking", close && "close"], "data-key": "camera-picture" },
    close ? null : h("img", { src, alt, width: wide, height: high, decoding: "async" }),
    s("svg", { viewBox: box.join(" "), "data-key": "overlay", role: "group", "aria-label": close ? alt : t("The grid over the picture") },
      close && s("image", { href: src, width: wide, height: high }),
      s("g", { class: "cells" }, Object.entries(cells).map(([name, where]) => cell(name, where, describe(name)))),
      corners && s("polygon", { class: "frame", points: points(corners) }),
      corners && corners.map((point, n) => handle(point, n, Math.max(wide, high), n === chosen))));
}

/** Where in the picture a click was, in its pixels; null beside it. */
export function placeOf(event) {
  const svg = event.target.closest?.(".camera-picture.picking svg");
  if (!svg) return null;
  const { left, top, width, height } = svg.getBoundingClientRect();
  const [, , wide, high] = svg.getAttribute("viewBox").split(" ").map(Number);
  return [((event.clientX - left) / width) * wide, ((event.clientY - top) / height) * high].map((v) => Math.round(v * 10) / 10);
}
