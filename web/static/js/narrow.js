// Wide pictures on a narrow phone: a long board stands upright, a table of cards is folded into rows.

import { h, s } from "./dom.js";

const phone = matchMedia("(max-width: 759px) and (orientation: portrait)");
const WIDE = 620;
const NEAR = 45;
/** No sign on a card reaches further from where it begins. */
const SIGN = 60;

/** Call `again` when the width crosses from one way of drawing to the other. */
export function onTurn(again) {
  phone.addEventListener("change", again);
}

/** Whether the page is as narrow as a phone. */
export const onPhone = () => phone.matches;

const size = (node) => node.getAttribute("viewBox").split(" ").map(Number).slice(2);

/** Whether a picture is to be drawn in another way here. */
export const tooWide = (node) => onPhone() && size(node)[0] > WIDE;

/** A number that an element of a picture has as an attribute. */
export const value = (node, name) => Number(node.getAttribute(name) ?? 0);
const middle = (points) => [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);

/** Where an element was moved to, or null. */
export function moved(node) {
  const found = /^translate\(([-\d.]+)[ ,]([-\d.]+)\)/.exec(node.getAttribute("transform") ?? "");
  return found ? [Number(found[1]), Number(found[2])] : null;
}

/** Where something beside the middle of its cell comes when the board turns and it does not. */
function beside([x, y], cells) {
  const near = cells.map(([cx, cy]) => [Math.hypot(x - cx, y - cy), cx, cy]).sort((a, b) => a[0] - b[0])[0];
  if (!near || near[0] > NEAR) return [x, y];
  const [, cx, cy] = near;
  return [cx - (y - cy), cy + (x - cx)];
}

/** Keep writing and figures upright in a board that is turned. */
function keepUpright(node, cells) {
  for (const child of [...node.children]) {
    const at = moved(child);
    if (at) {
      const [x, y] = beside(at, cells);
      child.setAttribute("transform", child.getAttribute("transform").replace(/^translate\([^)]*\)/, `translate(${x} ${y}) rotate(90)`));
    } else if (child.nodeName === "text") {
      const [x, y] = beside([value(child, "x"), value(child, "y")], cells);
      child.setAttribute("x", x);
      child.setAttribute("y", y);
      child.setAttribute("transform", `rotate(90 ${x} ${y})`);
    } else if (child.nodeName === "g") keepUpright(child, cells);
  }
}

/** A long board turned: what was left is below. Returns the part of it in which places are drawn. */
function upright(node) {
  const [wide, high] = size(node);
  const legend = node.querySelector("text.fish");
  const below = legend ? value(legend, "y") - 24 : high;
  const cells = [...node.querySelectorAll("[data-spot] polygon")].map((one) =>
    middle(one.getAttribute("points").split(" ").map((point) => point.split(",").map(Number))));
  const turned = s("g", { transform: `translate(0 ${wide}) rotate(-90)` });
  for (const child of [...node.children]) if (child.nodeName !== "defs") turned.append(child);
  keepUpright(turned, cells);
  node.append(turned);
  node.setAttribute("viewBox", `0 0 ${below} ${wide}`);
  return turned;
}

/** Whether a point lies in a part of a picture: left, top, width, height. */
export const within = ([x, y], [left, top, wide, high]) => x >= left && x < left + wide && y >= top && y < top + high;

/** How far what is drawn may reach: left, top, width, height; a line anywhere, a writing along its row, a sign a little way. */
function reach(one) {
  if (one.nodeName === "rect") return [value(one, "x"), value(one, "y"), value(one, "width"), value(one, "height")];
  if (one.nodeName === "text") return [0, value(one, "y") - NEAR, Infinity, 2 * NEAR];
  if (one.getAttribute("fill") === "none") return [0, 0, Infinity, Infinity];
  const path = /^M\s*([-\d.]+)[ ,]+([-\d.]+)/.exec(one.getAttribute("d") ?? "");
  const [x, y] = moved(one) ?? path?.slice(1).map(Number) ?? [];
  return x === undefined ? [0, 0, Infinity, Infinity] : [x - SIGN, y - SIGN, 2 * SIGN, 2 * SIGN];
}

const meet = ([a, b, c, d], [left, top, wide, high]) => a < left + wide && a + c > left && b < top + high && b + d > top;

/** A table of cards in rows that are `wide` at most; each row has its part of the picture, and its places. */
function folded({ wide, rows }, node, spots) {
  const [, high] = size(node);
  // A frame that is wider than a row would be torn apart with it: it is drawn round its rows instead.
  const frames = [...node.querySelectorAll("rect[stroke]")].filter((one) => !one.closest("defs") && value(one, "width") > wide);
  const marks = [...node.querySelectorAll("rect, text, g[transform]")]
    .filter((one) => !one.closest("defs") && !(one.nodeName === "rect" && value(one, "width") > wide))
    .map((one) => moved(one) ?? [value(one, "x") + 1, value(one, "y") + 1]);
  const slices = rows(node, high).filter((part) => marks.some((mark) => within(mark, part)));
  const drawn = [...node.children].filter((one) => one.nodeName !== "defs");
  const reaches = drawn.filter((one) => !frames.includes(one)).map((one) => [one, reach(one)]);
  for (const one of drawn) one.remove();
  for (const [name, text] of Object.entries({ width: 0, height: 0, class: "source", "aria-hidden": "true" })) node.setAttribute(name, text);
  const left = new Set(spots);
  const parts = slices.map((part, i) => {
    const here = [...left].filter((spot) => {
      const rect = spot.querySelector("rect");
      return within([value(rect, "x") + Math.min(value(rect, "width"), 100) / 2, value(rect, "y") + Math.min(value(rect, "height"), 60) / 2], part);
    });
    for (const spot of here) left.delete(spot);
    return s("svg", { class: "board slice", viewBox: part.join(" "), "data-key": `slice-${i}` },
      s("g", null, reaches.filter(([, far]) => meet(far, part)).map(([one]) => one.cloneNode(true))), s("g", { class: "spots" }, here));
  });
  const groups = frames.map((one) => h("div", { class: ["framed", value(one, "stroke-width") > 1 && "on"] }));
  const around = ([, top, , tall]) => frames.findIndex((one) => within([value(one, "x"), top + tall / 2], [value(one, "x"), value(one, "y"), 1, value(one, "height")]));
  const shown = parts.map((part, i) => {
    const group = groups[around(slices[i])];
    group?.append(part);
    return group ?? part;
  });
  return [node, ...new Set(shown)];
}

/**
 * Draw a picture with its places in the way that fits a phone: the elements, one below the other.
 * `way` is "upright" for a long board, or says where a table of cards is folded: `rows(node, high)` are the parts.
 */
export function narrow(way, node, spots) {
  if (way !== "upright") return folded(way, node, spots);
  upright(node).append(s("g", { class: "spots" }, spots));
  for (const badge of node.querySelectorAll(".cost")) {
    const [x, y] = moved(badge);
    badge.setAttribute("transform", `translate(${x} ${y}) rotate(90)`);
  }
  node.setAttribute("role", "presentation");
  return [node];
}
