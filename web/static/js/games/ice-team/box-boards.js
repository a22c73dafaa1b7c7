// The track boards of an owner's Ice Team, and how they lie: drawn, and put right by taps. Nothing of it is typed.

import { h, patch, s } from "../../dom.js";
import { layoutName } from "../../seats.js";
import { t } from "../../words.js";

const SIZE = 22;
const WAYS = { hex: [[1, 0], [0, 1], [-1, 1], [-1, 0], [0, -1], [1, -1]], square: [[1, 0], [0, 1], [-1, 0], [0, -1]] };
const NEXT = { f: "I", I: ".", ".": "f" };
const TOOLS = () => [["space", t("a space of a board")], ["start", t("the Start")], ["village", t("the Village")]];
const kinds = () => ({ f: t("a space for a floe"), I: t("igloo"), ".": t("open sea") });

let now = null;

const key = ([q, r]) => `${q},${r}`;
const layout = () => now.layouts[now.chosen];
const grid = () => now.boards[layout().boards[0].board].grid;
const turned = ([a, b], turns) => Array.from({ length: turns }).reduce(([x, y]) => (grid() === "hex" ? [-y, x + y] : [-y, x]), [a, b]);

/** Every space of the four boards: where it lies, which it is, and what is printed on it. */
function spaces() {
  return layout().boards.flatMap((placed, n) => now.boards[placed.board].rows.flatMap((row, r) => [...row].map((kind, q) => {
    const [dq, dr] = turned([q, r], placed.turn ?? 0);
    return { at: [placed.at[0] + dq, placed.at[1] + dr], n, board: placed.board, q, r, kind };
  })));
}

function cell([q, r]) {
  if (grid() === "square") {
    const [x, y] = [q * SIZE * 1.8, r * SIZE * 1.8];
    return { x, y, d: `M${x - SIZE * 0.9} ${y - SIZE * 0.9}h${SIZE * 1.8}v${SIZE * 1.8}h${-SIZE * 1.8}z` };
  }
  const [x, y] = [SIZE * Math.sqrt(3) * (q + r / 2), SIZE * 1.5 * r];
  const points = Array.from({ length: 6 }, (_, i) => [x + SIZE * Math.sin((i * Math.PI) / 3), y - SIZE * Math.cos((i * Math.PI) / 3)]);
  return { x, y, d: `M${points.map((point) => point.map((v) => v.toFixed(1)).join(" ")).join("L")}z` };
}

function drawing() {
  const lying = spaces();
  const shores = ["start", "village"].flatMap((shore) => layout()[shore].map((at) => ({ at, shore })));
  const taken = new Set([...lying, ...shores].map((one) => key(one.at)));
  // Where a shore may grow: beside what lies there already.
  const free = now.tool === "space" ? [] : [...lying, ...shores].flatMap(({ at }) => WAYS[grid()].map(([dq, dr]) => [at[0] + dq, at[1] + dr]))
    .filter((at, i, all) => !taken.has(key(at)) && all.findIndex((one) => key(one) === key(at)) === i).map((at) => ({ at, free: true }));
  const all = [...free, ...shores, ...lying];
  const middles = all.map((one) => cell(one.at));
  const [xs, ys] = [middles.map((one) => one.x), middles.map((one) => one.y)];
  const box = [Math.min(...xs) - SIZE * 1.2, Math.min(...ys) - SIZE * 1.2, Math.max(...xs) - Math.min(...xs) + SIZE * 2.4, Math.max(...ys) - Math.min(...ys) + SIZE * 2.4];
  return s("svg", { class: "board box-map", viewBox: box.map((v) => v.toFixed(0)).join(" "), role: "group", "aria-label": t("The boards as they lie") }, all.map((one) => {
    const { x, y, d } = cell(one.at);
    const open = now.tool === "space" ? one.kind !== undefined : one.free || one.shore === now.tool;
    const words = one.kind !== undefined ? t("Board %(name)s, space %(n)s: %(what)s", { name: one.board, n: 3 * one.r + one.q + 1, what: kinds()[one.kind] })
      : one.shore === "start" ? t("Start") : one.shore === "village" ? t("Village") : t("nothing lies here");
    return s("g", { class: ["cell", one.shore, one.free && "free", { f: "floe", I: "igloo", ".": "sea" }[one.kind]], "data-cell": key(one.at), "data-key": key(one.at),
        ...(open ? { role: "button", tabindex: 0, "aria-label": words } : {}) },
      s("path", { d }),
      s("text", { x, y: y + 5, "text-anchor": "middle", "aria-hidden": "true" }, one.kind === "I" ? t("Ig") : one.kind === "." ? "~" : one.kind === "f" ? `${one.board}${3 * one.r + one.q + 1}` : one.free ? "+" : one.shore === "start" ? t("S") : t("V")));
  }));
}

function nudges(placed, n) {
  const push = (words, sign, ...step) => h("button", { type: "button", class: "second", "data-nudge": n, "data-by": step.join(), "aria-label": t("Board %(name)s: %(what)s", { name: placed.board, what: words }) }, sign);
  const turn = t("turn it");
  return h("div", { class: "nudges", "data-key": `nudge-${n}` }, h("b", { "aria-label": t("Board %(name)s", { name: placed.board }), role: "img" }, placed.board),
    push(t("to the left"), "←", -1, 0), push(t("to the right"), "→", 1, 0), push(t("up"), "↑", 0, -1), push(t("down"), "↓", 0, 1),
    h("button", { type: "button", class: "second", "data-turn": n, "aria-label": t("Board %(name)s: %(what)s", { name: placed.board, what: turn }) }, "⟳"));
}

function redraw() {
  const part = document.getElementById("box-boards");
  if (!part) return;
  patch(part, [
    Object.keys(now.layouts).length > 1 && h("div", { class: "steps", "data-key": "layouts", role: "group", "aria-label": t("How do the boards lie?") }, Object.keys(now.layouts).map((name) =>
      h("button", { type: "button", class: "toggle", "data-layout": name, "data-key": name, "aria-pressed": String(name === now.chosen) }, layoutName("ice-team", name)))),
    h("p", { "data-key": "how" }, t("Tap what differs from your boards. A tap changes:")),
    h("div", { class: "steps", "data-key": "tools", role: "group", "aria-label": t("What a tap changes") }, TOOLS().map(([id, words]) =>
      h("button", { type: "button", class: "toggle", "data-tool": id, "data-key": id, "aria-pressed": String(id === now.tool) }, words))),
    h("div", { class: "scroll", "data-key": "map", tabindex: 0, role: "region", "aria-label": t("The boards as they lie") }, drawing()),
    h("p", { class: "quiet", "data-key": "legend" }, t("Each board has two igloos (Ig), one space of open sea (~) and six spaces for floes.")),
    layout().boards.map(nudges),
  ]);
}

function tapCell(at) {
  if (now.tool === "space") {
    const one = spaces().find((space) => key(space.at) === at);
    if (!one) return;
    const rows = now.boards[one.board].rows;
    now.boards[one.board].rows = rows.map((row, r) => (r === one.r ? row.slice(0, one.q) + NEXT[one.kind] + row.slice(one.q + 1) : row));
    return;
  }
  const shore = layout()[now.tool];
  layout()[now.tool] = shore.some((one) => key(one) === at) ? shore.filter((one) => key(one) !== at) : [...shore, at.split(",").map(Number)];
}

function tapped(event) {
  const { dataset } = event.target.closest("[data-cell][role=button], [data-nudge], [data-turn], [data-layout], [data-tool]") ?? { dataset: null };
  if (!dataset) return;
  if (dataset.layout) now.chosen = dataset.layout;
  else if (dataset.tool) now.tool = dataset.tool;
  else if (dataset.cell) tapCell(dataset.cell);
  else {
    const placed = layout().boards[Number(dataset.nudge ?? dataset.turn)];
    if (dataset.nudge) placed.at = dataset.by.split(",").map((step, axis) => placed.at[axis] + Number(step));
    else placed.turn = ((placed.turn ?? 0) + 1) % WAYS[grid()].length;
  }
  redraw();
}

/** Draw the boards of a box, which is altered in a copy until `drawnBoards` is asked for it. */
export function boardsEditor({ boards, layouts }) {
  now = { ...structuredClone({ boards, layouts }), chosen: Object.keys(layouts)[0], tool: "space" };
  setTimeout(redraw);
  const part = h("div", { id: "box-boards", class: "box-boards" });
  part.addEventListener("click", tapped);
  part.addEventListener("keydown", (event) => {
    if (!event.target.matches("svg [role=button]") || !["Enter", " "].includes(event.key)) return;
    event.preventDefault();
    tapped(event);
  });
  return h("details", { class: "extras" }, h("summary", null, t("Boards, and how they lie")), part);
}

/** The boards and layouts as they were put right. */
export const drawnBoards = () => ({ boards: now.boards, layouts: now.layouts });
