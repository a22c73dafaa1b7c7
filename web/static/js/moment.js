// What moves when the table changes: drawn over the page, so that the page below is already as it is.

import { s } from "./dom.js";
import { moved, value, within } from "./narrow.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
/** More than so many pieces at once is another position, not a move. */
const MOST = 14;
const SLIDE_MS = 450;
const LEAP_MS = 650;
const CHANGE_MS = 700;
const GAIN_MS = 2400;
/** What lies in the water is not drawn: a place that becomes such a one has melted. */
const WATER = new Set(["water", "sea"]);

/** Whether this reader wants things to move. */
export const moves = () => !calm.matches && !document.hidden;

/** The sheet that lies over the page; what is on it is told elsewhere, and nothing on it is tapped. */
function sheet() {
  const found = document.querySelector("svg.moment");
  if (found) return found;
  const made = s("svg", { class: "moment", "aria-hidden": "true" });
  document.body.append(made);
  return made;
}

const css = ({ a, b, c, d, e, f }, up = 0) => `matrix(${[a, b, c, d, e, f - up].map((one) => one.toFixed(3)).join(", ")})`;

/** Let a copy of something drawn go through keyframes on the sheet; `what` is the kind of move; resolves when it is gone. */
export function play(what, html, frames, ms, delay = 0) {
  const node = s("g", { class: ["moving", what] });
  node.innerHTML = html;
  sheet().append(node);
  return node.animate(frames, { duration: ms, delay, fill: "both", easing: "ease-in-out" }).finished.catch(() => {}).then(() => {
    node.remove();
    const left = document.querySelector("svg.moment");
    if (left && !left.childElementCount) left.remove();
  });
}

/** Where an element of a drawing is on the screen, as a matrix from its own units. */
export const place = (node) => node.getScreenCTM();

/** What an element draws, without where it is. */
export function drawing(node) {
  const copy = node.cloneNode(true);
  copy.removeAttribute("transform");
  // Letters that were enlarged for a television keep their size without a style, which a text cannot bring along.
  for (const one of copy.querySelectorAll("[style]")) {
    if (one.style.fontSize) one.setAttribute("font-size", one.style.fontSize);
    one.removeAttribute("style");
  }
  return copy.outerHTML;
}

/** A place as it lies there, without its name and without the water below it; and the shape of it. */
function ground(spot) {
  if (spot.nodeName === "rect") return { html: spot.outerHTML, shape: spot };
  const shapes = spot.querySelectorAll(":scope > polygon");
  const copy = spot.cloneNode(true);
  for (const one of copy.querySelectorAll(":scope > text")) one.remove();
  if (shapes.length > 1) copy.querySelector(":scope > polygon").remove();
  return { html: drawing(copy), shape: shapes[shapes.length - 1] };
}

/** Whether an element stands where it is drawn: in a folded picture the edges of a row have what stands in the next one, too. */
function ownPart(node) {
  if (!node.ownerSVGElement.classList.contains("slice")) return true;
  const { x, y, width, height } = node.ownerSVGElement.viewBox.baseVal;
  return within(moved(node) ?? [value(node, "x"), value(node, "y")], [x, y, width, height]);
}

/** The drawn board as it is now: its pieces, and its places with what they are. */
export function look() {
  // Above the board there may be pictures of what the camera asks about.
  const last = [...document.querySelectorAll("[data-key=board], [data-key=board-narrow]")].at(-1);
  const boards = [...last?.querySelectorAll("svg.board") ?? []];
  if (!boards.length) return null;
  const all = (what) => boards.flatMap((one) => [...one.querySelectorAll(what)]).filter(ownPart);
  const pieces = all("g[class][transform]")
    .filter((one) => !one.closest("defs, .spots") && !one.parentElement.closest("g[class][transform]"))
    .map((node) => ({ node, html: drawing(node), own: node.getAttribute("transform"), at: place(node) })).filter((one) => one.at);
  const spots = new Map(all("[data-spot]").map((node) => {
    const { html, shape } = ground(node);
    return [node.dataset.spot, { is: node.getAttribute("class"), html, node, shape, at: shape && place(node) }];
  }));
  return { frame: boards[0].getScreenCTM(), pieces, spots };
}

/** What was seen before, as it would lie where the board is now: words above it may have pushed it. */
function brought(before, { frame }) {
  if (!frame?.a || !before.frame?.a) return before;
  const shift = frame.multiply(before.frame.inverse());
  const moved = (one) => ({ ...one, at: one.at && shift.multiply(one.at) });
  return { pieces: before.pieces.map(moved), spots: new Map([...before.spots].map(([name, one]) => [name, moved(one)])) };
}

function sizeOf(now) {
  for (const { shape, at } of now.spots.values()) if (at) return shape.getBBox().width * Math.hypot(at.a, at.b);
  return 60;
}

/** Pair what is gone with what is new and looks the same, the nearest first. */
function paired(gone, fresh) {
  const pairs = [];
  const left = new Set(fresh);
  for (const one of gone) {
    const alike = [...left].filter((other) => other.html === one.html)
      .sort((x, y) => Math.hypot(x.at.e - one.at.e, x.at.f - one.at.f) - Math.hypot(y.at.e - one.at.e, y.at.f - one.at.f));
    if (!alike.length) continue;
    left.delete(alike[0]);
    pairs.push([one, alike[0]]);
  }
  const met = new Set(pairs.map(([one]) => one));
  return { pairs, gone: gone.filter((one) => !met.has(one)), fresh: [...left] };
}

function hide(node, ms) {
  node.animate([{ opacity: 0 }, { opacity: 0 }], { duration: ms });
}

/** A piece goes from where it was to where it is: a step slides, what is further leaps. */
function travel([from, to], step) {
  const far = Math.hypot(to.at.e - from.at.e, to.at.f - from.at.f);
  const leaps = far > 1.5 * step;
  const what = leaps ? "leap" : "move";
  const ms = leaps ? LEAP_MS : SLIDE_MS;
  const middle = Object.fromEntries([..."abcdef"].map((one) => [one, (from.at[one] + to.at[one]) / 2]));
  hide(to.node, ms);
  play(what, to.html, [{ transform: css(from.at) }, ...(leaps ? [{ transform: css(middle, Math.min(far / 3, 90)) }] : []), { transform: css(to.at) }], ms);
  return what;
}

/** The box of a shape on the screen, about whose middle it turns or melts. */
function about({ shape, at }) {
  const { x, y, width, height } = shape.getBBox();
  return at.translate(x + width / 2, y + height / 2);
}

function scaled(one, x, y = x) {
  const { x: left, y: top, width, height } = one.shape.getBBox();
  return css(about(one).scaleNonUniform(x, y).translate(-left - width / 2, -top - height / 2));
}

/** The places that are something else now: floes that drifted, melted, were turned over. */
function places(before, now) {
  const changed = [...now.spots].map(([name, to]) => [before.spots.get(name), to])
    .filter(([from, to]) => from?.html && to.at && from.is !== to.is);
  if (changed.length > MOST) return [];
  const used = new Set();
  return changed.map((one) => {
    const [from, to] = one;
    if (used.has(one)) return null;
    const there = WATER.has(to.is) && changed.find((other) => !used.has(other) && other !== one && other[1].is === from.is && WATER.has(other[0].is));
    used.add(one);
    if (there) {
      used.add(there);
      hide(there[1].node, CHANGE_MS);
      const [x, y] = [about(there[1]).e - about(to).e, about(there[1]).f - about(to).f];
      play("drift", from.html, [{ transform: css(from.at) }, { transform: css({ a: from.at.a, b: from.at.b, c: from.at.c, d: from.at.d, e: from.at.e + x, f: from.at.f + y }) }], CHANGE_MS);
      return "drift";
    }
    if (WATER.has(to.is)) {
      play("melt", from.html, [{ transform: scaled(to, 1), opacity: 1 }, { transform: scaled(to, 0.45), opacity: 0 }], CHANGE_MS);
      return "melt";
    }
    if (WATER.has(from.is)) {
      hide(to.node, CHANGE_MS);
      play("drift", to.html, [{ transform: scaled(to, 0.45), opacity: 0 }, { transform: scaled(to, 1), opacity: 1 }], CHANGE_MS);
      return "drift";
    }
    hide(to.node, CHANGE_MS);
    play("turn", from.html, [{ transform: scaled(to, 1) }, { transform: scaled(to, 0.02, 1) }, { transform: scaled(to, 0.02, 1), opacity: 0 }, { opacity: 0 }], CHANGE_MS);
    play("turn", to.html, [{ transform: scaled(to, 0.02, 1), opacity: 0 }, { transform: scaled(to, 0.02, 1), opacity: 0, offset: 0.34 }, { transform: scaled(to, 0.02, 1), opacity: 1, offset: 0.36 }, { transform: scaled(to, 1), opacity: 1 }], CHANGE_MS);
    return "turn";
  });
}

const key = ({ html, own }) => `${html} ${own}`;

/** Show how the board came from what it was; tells what happened, by names: move, leap, melt, drift, turn. */
export function boardMoved(seen) {
  const now = seen && look();
  if (!now) return [];
  const before = brought(seen, now);
  const [had, has] = [new Set(before.pieces.map(key)), new Set(now.pieces.map(key))];
  const gone = before.pieces.filter((one) => !has.has(key(one)));
  const fresh = now.pieces.filter((one) => !had.has(key(one)));
  const found = places(before, now);
  if (gone.length + fresh.length <= 2 * MOST) {
    const sorted = paired(gone, fresh);
    const step = sizeOf(now);
    found.push(...sorted.pairs.map((pair) => travel(pair, step)));
    for (const one of sorted.gone) play("gone", one.html, [{ transform: css(one.at), opacity: 1 }, { transform: css(one.at), opacity: 0 }], SLIDE_MS);
    for (const one of sorted.fresh) {
      hide(one.node, SLIDE_MS);
      play("come", one.html, [{ transform: css(one.at.scale(0.3)), opacity: 0 }, { transform: css(one.at), opacity: 1 }], SLIDE_MS);
      found.push("move");
    }
  }
  return [...new Set(found.filter(Boolean))];
}

const inSight = (box) => box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;

/** Where a player is on this screen, in pixels: at the seat, at the score; else, and for nobody, in the middle of the board. */
export function whereIs(colour) {
  const seats = !colour ? [] : [`.seats .seat.${colour}`, `.turns [data-key="${colour}"]`, `.tv-scores [data-key="${colour}"]`, `.scores [data-key="${colour}"] summary`];
  const boxes = [...seats, ".play svg.circle", ".play .sheet-of-board", "#board"].map((one) => document.querySelector(one)?.getBoundingClientRect());
  const box = boxes.find((one) => one && inSight(one)) ?? { left: 0, top: 0, width: innerWidth, height: innerHeight };
  return [box.left + box.width / 2, box.top + box.height / 2];
}

/** Words over the page for a while: beside somebody who has won something, or large in the middle. */
export function words(text, [x, y], { large = false, ms = GAIN_MS, delay = 0 } = {}) {
  const node = s("text", { "text-anchor": "middle" }, text);
  const still = `translate(${Math.max(70, Math.min(innerWidth - 70, x))}px, ${y}px)`;
  // Who wants no motion reads the same, standing still.
  const frames = moves()
    ? [{ transform: `${still} scale(0.4)`, opacity: 0 }, { transform: `${still} scale(1.1)`, opacity: 1, offset: 0.15 }, { transform: still, opacity: 1, offset: 0.75 }, { transform: `${still} translateY(${large ? 0 : -24}px)`, opacity: 0 }]
    : [{ transform: still, opacity: 1 }, { transform: still, opacity: 1 }];
  return play(large ? "said large" : "said", node.outerHTML, frames, ms, delay);
}
