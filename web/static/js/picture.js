// The picture that the rules draw, and on it the places that can be tapped.

import { h, s } from "./dom.js";
import { gameOf } from "./games.js";
import { narrow, tooWide } from "./narrow.js";
import { said, tn } from "./words.js";

/** Pictures parsed last: the one that is tapped, and that of a ruling. */
let known = [];
const KNOWN = 2;
/** A board that is longer than so many times its height has a row of its own: beside it there is no room for the rest. */
export const LONG = 1.7;

/** Parse a picture; names of places move from `id` to `data-spot`, so that they cannot clash with the page's own. */
function parse(text) {
  const found = known.find((one) => one.text === text);
  if (!found) {
    const node = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    for (const one of node.querySelectorAll(":scope > title, :scope > desc")) one.remove();
    for (const place of node.querySelectorAll("[id]")) {
      if (place.closest("defs")) continue;
      place.setAttribute("data-spot", place.id);
      place.removeAttribute("id");
    }
    known = [{ text, node }, ...known].slice(0, KNOWN);
  }
  return (found ?? known[0]).node.cloneNode(true);
}

/** The shapes of a place: its rectangle, its cell, or all cells of a shore. */
function shapes(place) {
  if (place.nodeName === "rect") return [place];
  const cells = [...place.querySelectorAll("polygon")];
  return place.classList.contains("start") || place.classList.contains("village") ? cells : cells.slice(0, 1);
}

function corner(shape) {
  if (shape.nodeName === "rect") {
    return [Number(shape.getAttribute("x")) + Number(shape.getAttribute("width")), Number(shape.getAttribute("y"))];
  }
  const points = shape.getAttribute("points").split(" ").map((one) => one.split(",").map(Number));
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.max(...xs) - 6, Math.min(...ys) + 8];
}

function outline(shape) {
  const names = shape.nodeName === "rect" ? ["x", "y", "width", "height"] : ["points"];
  return s(shape.nodeName, Object.fromEntries(names.map((name) => [name, shape.getAttribute(name)])));
}

function badge([x, y], cost) {
  return s("g", { class: "cost", transform: `translate(${x - 10} ${y + 10})` },
    s("circle", { r: 11 }), s("text", { y: 5, "text-anchor": "middle" }, cost));
}

function label(game, name, moves, called) {
  const place = gameOf(game).spot?.(name) ?? name;
  if (!moves) return called ?? place;
  if (moves.length > 2) return called ? `${called}, ${tn("%(n)s possibility", "%(n)s possibilities", moves.length)}` : `${place}: ${tn("%(n)s possibility", "%(n)s possibilities", moves.length)}`;
  return `${place && `${place}: `}${moves.map(said).join("; ")}`;
}

function cheapest(moves) {
  const costs = moves.map((move) => move.cost).filter((cost) => cost !== null);
  return costs.length && moves.every((move) => move.path.length <= 2) ? Math.min(...costs) : null;
}

/**
 * Draw a picture. `lit` maps places to the moves that go on there; from `draggable` pieces are carried; `chosen` are the places of the path, `about` those that are asked about; `can` says
 * whether taps are heard (`every`: from every place) (other places then answer why not); `costs` whether each lit place shows what it takes.
 * `names` may call a place by what lies there; `game` knows how its own places are called, and how it is drawn on a phone.
 */
export function picture(text, { game, lit, draggable = new Set(), chosen, about, can, every = false, costs, name, names = () => null }) {
  const node = parse(text);
  const [, , wide, high] = node.getAttribute("viewBox").split(" ").map(Number);
  const spots = [...node.querySelectorAll("[data-spot]")];
  const order = spots.map((place) => {
    const here = place.getAttribute("data-spot");
    const moves = lit.get(here);
    const picked = chosen.includes(here);
    const parts = shapes(place);
    const inQuestion = about.includes(here);
    if (!can && !picked && !inQuestion) return null;
    const button = can && (every || moves || picked);
    const cost = costs && moves ? cheapest(moves) : null;
    return s("g", {
        class: ["spot", moves && "lit", draggable.has(here) && "draggable", picked && "picked", inQuestion && "in-question"],
        "data-key": `spot-${here}`,
        "data-do": can ? "tap" : null,
        "data-place": here,
        role: button ? "button" : null,
        tabindex: button ? 0 : null,
        "aria-pressed": button && picked ? "true" : null,
        "aria-label": button ? [label(game, here, moves, names(here)), cost !== null && tn("%(n)s point", "%(n)s points", cost)].filter(Boolean).join(", ") : null,
      },
      parts.map(outline), cost !== null && badge(corner(parts[0]), cost));
  });
  node.setAttribute("class", "board");
  node.setAttribute("data-key", "picture");
  if (tooWide(node) && gameOf(game).narrow) {
    return h("div", { class: "sheet-of-board narrow", "data-key": "board-narrow", role: "group", "aria-label": name }, narrow(gameOf(game).narrow, node, order.filter(Boolean)));
  }
  node.append(s("g", { class: "spots" }, order));
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", name);
  return h("div", { class: ["scroll", "sheet-of-board", wide > 620 && "wide", wide > LONG * high && "long"], "data-key": "board", tabindex: 0, role: "region", "aria-label": name }, node);
}

let shownFor = null;

/** On a narrow screen bring what is to be tapped into sight, once for each state of the table and each choice. */
export function bringIntoSight(key) {
  const frame = document.querySelector(".play .sheet-of-board.wide");
  if (!frame || key === shownFor || frame.scrollWidth <= frame.clientWidth + 1) return;
  shownFor = key;
  const { left, right } = frame.getBoundingClientRect();
  const boxes = [...frame.querySelectorAll(".spot.lit, .spot.in-question")].map((one) => one.getBoundingClientRect());
  if (!boxes.length || boxes.some((box) => box.left >= left && box.right <= right)) return;
  const [first] = boxes.sort((a, b) => a.left - b.left);
  frame.scrollLeft += first.left - left - 40;
}

/** A picture of a game to look at only; on a narrow screen drawn in the way that fits it. */
export function still(text, name, game) {
  const folds = parse(text);
  if (tooWide(folds) && gameOf(game).narrow) {
    folds.setAttribute("class", "board");
    return h("div", { class: "sheet-of-board narrow", "data-key": "still", role: "img", "aria-label": name }, narrow(gameOf(game).narrow, folds, []));
  }
  const node = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  node.setAttribute("class", "board");
  // What stands below the picture stands in words on the page, where it can be read on a phone.
  const below = [...node.querySelectorAll(".caption")];
  if (below.length) {
    const [x, y, wide] = node.getAttribute("viewBox").split(" ");
    node.setAttribute("viewBox", `${x} ${y} ${wide} ${Number(below[0].getAttribute("y")) - 20}`);
    for (const line of below) line.remove();
  }
  return h("div", { class: "scroll sheet-of-board", tabindex: 0, role: "region", "aria-label": name }, node);
}
