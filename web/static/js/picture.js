// The picture that the rules draw, and on it the places that can be tapped.

import { h, s, set, stays, update } from "./dom.js";
import { arrange, setHead, takenApart } from "./drawing.js";
import { gameOf } from "./games.js";
import { asItIs, narrow, tooWide } from "./narrow.js";
import { said, tn } from "./words.js";

/** A board that is longer than so many times its height has a row of its own: beside it there is no room for the rest. */
export const LONG = 1.7;

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

function badge([x, y], cost, turned) {
  return s("g", { class: "cost", transform: `translate(${x - 10} ${y + 10})${turned ? " rotate(90)" : ""}` },
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

/** What a place is to a finger; null where it is nothing. */
function spot(here, { game, lit, draggable = new Set(), chosen, about, can, every = false, costs, names = () => null }) {
  const moves = lit.get(here);
  const picked = chosen.includes(here);
  const inQuestion = about.includes(here);
  if (!can && !picked && !inQuestion) return null;
  const button = can && (every || moves || picked);
  const cost = costs && moves ? cheapest(moves) : null;
  return {
    class: ["spot", moves && "lit", draggable.has(here) && "draggable", picked && "picked", inQuestion && "in-question"].filter(Boolean).join(" "),
    "data-key": `spot-${here}`,
    "data-do": can ? "tap" : null,
    "data-place": here,
    role: button ? "button" : null,
    tabindex: button ? 0 : null,
    "aria-pressed": button && picked ? "true" : null,
    "aria-label": button ? [label(game, here, moves, names(here)), cost !== null && tn("%(n)s point", "%(n)s points", cost)].filter(Boolean).join(", ") : null,
    cost,
  };
}

function given(node, attributes) {
  for (const [name, text] of Object.entries(attributes)) set(node, name, text);
  return node;
}

/** A picture on the page, which is drawn again and again: what did not change stays as it is. */
function pictureIn(way, game) {
  const node = s("svg", { class: "board", "data-key": "picture" });
  const frame = h("div", { "data-key": way === "plain" ? "board" : "board-narrow" });
  const layout = way === "plain" ? asItIs(node) : narrow(gameOf(game).narrow, node);
  const turned = gameOf(game).narrow === "upright" && way !== "plain";
  const spots = new Map();
  let known = null;

  function spotOf(here, place, key, options) {
    const { cost, ...attributes } = spot(here, options) ?? {};
    if (!attributes.class) return null;
    const is = [key, cost, ...Object.values(attributes)];
    const last = spots.get(here);
    if (last?.is.every((one, i) => one === is[i])) return last.node;
    const parts = shapes(place);
    const made = s("g", attributes, parts.map(outline), cost !== null && badge(corner(parts[0]), cost, turned));
    // What has the focus, or lies under a finger, stays.
    if (last) update(last.node, made);
    spots.set(here, { is, node: last?.node ?? made });
    return last?.node ?? made;
  }

  return {
    frame, way, game,
    draw({ head, parts }, options) {
      const { name, state = "" } = options;
      if (head.key !== known) setHead(node, head);
      known = head.key;
      const [, , wide, high] = head.node.getAttribute("viewBox").split(" ").map(Number);
      const order = parts.flatMap(({ key, places }) => places.map((place) => spotOf(place.name, place.node, key, options)).filter(Boolean));
      arrange(frame, layout(parts, order, [wide, high]));
      if (way !== "plain") return given(frame, { class: "sheet-of-board narrow", role: "group", "aria-label": name, "data-state": state });
      given(node, { role: "group", "aria-label": name });
      const classes = ["scroll sheet-of-board", wide > 620 && "wide", wide > LONG * high && "long"].filter(Boolean).join(" ");
      return given(frame, { class: classes, tabindex: 0, role: "region", "aria-label": name, "data-state": state });
    },
  };
}

const widthOf = ({ head }) => Number(head.node.getAttribute("viewBox").split(" ")[2]);
const wayOf = (drawing, game) => (tooWide(widthOf(drawing)) && gameOf(game).narrow ? "narrow" : "plain");

/**
 * Draw a picture. `lit` maps places to the moves that go on there; from `draggable` pieces are carried; `chosen` are the places of the path, `about` those that are asked about; `can` says
 * whether taps are heard (`every`: from every place) (other places then answer why not); `costs` whether each lit place shows what it takes; `state` is what the table's state is that it shows.
 * `names` may call a place by what lies there; `game` knows how its own places are called, and how it is drawn on a phone.
 */
export function picture(text, options) {
  const drawing = takenApart(text);
  return pictureIn(wayOf(drawing, options.game), options.game).draw(drawing, options);
}

/**
 * A picture that is drawn again and again in one place of the page: `show(from, what)` gives what stands for it there. `what`
 * tells text and options, as for `picture`; it is asked only where something of what it is made `from` is another than last time.
 */
export function livePicture() {
  let shown = null;
  return (from, what) => {
    const here = shown?.frame.isConnected;
    if (here && from === shown.from) return stays(shown.frame);
    const [text, options] = what();
    const drawing = takenApart(text);
    const way = wayOf(drawing, options.game);
    const fits = here && way === shown.way && options.game === shown.game;
    shown = { ...fits ? shown : pictureIn(way, options.game), from };
    const frame = shown.draw(drawing, options);
    return fits ? stays(frame) : frame;
  };
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
  const drawing = takenApart(text);
  if (wayOf(drawing, game) !== "plain") {
    const folds = pictureIn("narrow", game).draw(drawing, { game, lit: new Map(), chosen: [], about: [], can: false, name });
    return given(folds, { "data-key": "still", role: "img" });
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
