// Wide pictures on a narrow phone: a long board stands upright, a table of cards is folded into rows.

import { h, s, set } from "./dom.js";
import { arrange, fill, forget } from "./drawing.js";

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

/** Whether a picture so wide is to be drawn in another way here. */
export const tooWide = (wide) => onPhone() && wide > WIDE;

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

/** The middles of the cells of an element that is or has a place. */
const cellsOf = ({ places }) => places.flatMap(({ node }) =>
  [...node.querySelectorAll("polygon")].map((one) => middle(one.getAttribute("points").split(" ").map((point) => point.split(",").map(Number)))));

/** A long board turned: what was left is below. */
function upright(node) {
  const drawn = s("g");
  const spots = s("g", { class: "spots" });
  const turned = s("g", null, drawn, spots);
  let seen = "";
  node.append(turned);
  node.setAttribute("role", "presentation");
  return (parts, order, [wide, high]) => {
    const legend = parts.find((one) => one.node.matches("text.fish"))?.node;
    const cells = parts.flatMap((part) => { part.cells ??= cellsOf(part); return part.cells; });
    // What stands beside a cell goes with it: with other cells all may stand elsewhere.
    if (seen !== String(cells)) forget(drawn);
    seen = String(cells);
    fill(drawn, parts, (group) => { keepUpright(group, cells); return group; });
    arrange(spots, order);
    set(turned, "transform", `translate(0 ${wide}) rotate(-90)`);
    set(node, "viewBox", `0 0 ${legend ? value(legend, "y") - 24 : high} ${wide}`);
    return [node];
  };
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

/** Where something stands that a row must not leave out. */
const marksOf = ({ node }, wide) => [...(node.matches("rect, text, g[transform]") ? [node] : []), ...node.querySelectorAll("rect, text, g[transform]")]
  .filter((one) => !(one.nodeName === "rect" && value(one, "width") > wide))
  .map((one) => moved(one) ?? [value(one, "x") + 1, value(one, "y") + 1]);

const slice = (i) => {
  const [drawn, spots] = [s("g"), s("g", { class: "spots" })];
  return { drawn, spots, node: s("svg", { class: "board slice", "data-key": `slice-${i}` }, drawn, spots) };
};

/** The place of a card, where the row is that it lies in. */
function corner(spot) {
  const rect = spot.querySelector("rect");
  return [value(rect, "x") + Math.min(value(rect, "width"), 100) / 2, value(rect, "y") + Math.min(value(rect, "height"), 60) / 2];
}

/** A table of cards in rows that are `wide` at most; each row has its part of the picture, and its places. */
function folded({ wide, rows }, node) {
  // All of it, to be looked at, never shown.
  const table = s("svg");
  const slices = [];
  let groups = [];
  let seen = null;
  for (const [name, text] of Object.entries({ width: 0, height: 0, class: "source", "aria-hidden": "true" })) node.setAttribute(name, text);
  return (parts, order, [, high]) => {
    fill(table, parts);
    // A frame that is wider than a row would be torn apart with it: it is drawn round its rows instead.
    const isFrame = (one) => one.node.matches("rect[stroke]") && value(one.node, "width") > wide;
    const frames = parts.filter(isFrame).map((one) => one.node);
    const drawn = parts.filter((one) => !isFrame(one));
    const marks = parts.flatMap((part) => { part.marks ??= marksOf(part, wide); return part.marks; });
    const cuts = rows(table, high).filter((part) => marks.some((mark) => within(mark, part)));
    while (slices.length < cuts.length) slices.push(slice(slices.length));
    const left = new Set(order);
    cuts.forEach((part, i) => {
      const here = [...left].filter((spot) => within(corner(spot), part));
      for (const spot of here) left.delete(spot);
      set(slices[i].node, "viewBox", part.join(" "));
      fill(slices[i].drawn, drawn.filter((one) => { one.reach ??= reach(one.node); return meet(one.reach, part); }));
      arrange(slices[i].spots, here);
    });
    const shown = slices.slice(0, cuts.length);
    const around = cuts.map(([, top, , tall]) => frames.findIndex((one) => within([value(one, "x"), top + tall / 2], [value(one, "x"), value(one, "y"), 1, value(one, "height")])));
    if (seen !== String([frames.length, ...around])) groups = frames.map(() => h("div"));
    seen = String([frames.length, ...around]);
    groups.forEach((group, g) => {
      set(group, "class", value(frames[g], "stroke-width") > 1 ? "framed on" : "framed");
      arrange(group, shown.filter((_, i) => around[i] === g).map((one) => one.node));
    });
    return [node, ...new Set(shown.map((one, i) => groups[around[i]] ?? one.node))];
  };
}

/** How a picture is drawn where it is not too wide: as it is. */
export function asItIs(node) {
  const [drawn, spots] = [s("g"), s("g", { class: "spots" })];
  node.append(drawn, spots);
  return (parts, order) => {
    fill(drawn, parts);
    arrange(spots, order);
    return [node];
  };
}

/**
 * Draw pictures with their places in the way that fits a phone: what draws one of a game's parts, order of places and size, and
 * returns the elements, one below the other. `way` is "upright" for a long board, or says where a table of cards is folded:
 * `rows(node, high)` are the parts.
 */
export const narrow = (way, node) => (way === "upright" ? upright(node) : folded(way, node));
