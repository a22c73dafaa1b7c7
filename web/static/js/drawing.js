// A drawing of the rules, taken apart into the elements that it consists of. The rules write one element or a few on a
// line, or a group on several; a line that was there before is not read again, and what it drew stays on the page as it is.

import { s, set } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
/** What stands before the elements: the drawing's own tag, its title, and its definitions. */
const WHOLE = /^\s*(<svg[^>]*>)\s*(?:<title>[^<]*<\/title>\s*)?(<defs>[^]*?<\/defs>)?([^]*)<\/svg>\s*$/;
/** Lines that are remembered; a game has some hundred at once. */
const MOST = 4000;

const known = new Map();
const heads = new Map();

/** Read a drawing; null where it is none. */
function read(text) {
  const found = new DOMParser().parseFromString(text, "image/svg+xml");
  return found.querySelector("parsererror") ? null : document.importNode(found.documentElement, true);
}

/** The lines of a drawing; those of a group that has several are one. */
function linesOf(body) {
  const lines = [];
  let open = 0;
  for (const line of body.split("\n")) {
    if (open) lines.push(`${lines.pop()}\n${line}`);
    else if (line) lines.push(line);
    open += (line.match(/<g[ >]/g)?.length ?? 0) - (line.match(/<\/g>/g)?.length ?? 0);
  }
  return lines;
}

/** An element of a drawing; names of its places move from `id` to `data-spot`, so that they cannot clash with the page's own. */
function element(key, node) {
  const named = [...(node.id ? [node] : []), ...node.querySelectorAll("[id]")];
  const places = named.map((place) => {
    const name = place.id;
    place.removeAttribute("id");
    place.setAttribute("data-spot", name);
    return { name, node: place };
  });
  return { key, node, places };
}

const elements = (key, nodes) =>
  nodes.filter(({ nodeName }) => nodeName !== "title" && nodeName !== "desc").map((node, i) => element(i ? `${key}\n${i}` : key, node));

/** Read lines that are not known, all at once; false where one of them does not stand by itself. */
function readLines(lines) {
  if (!lines.length) return true;
  const found = read(`<svg xmlns="${SVG}">${lines.map((line) => `<g>${line}</g>`).join("")}</svg>`);
  if (found?.childElementCount !== lines.length) return false;
  if (known.size > MOST) known.clear();
  [...found.children].forEach((group, i) => known.set(lines[i], elements(lines[i], [...group.children])));
  return true;
}

function headOf(tag, definitions = "") {
  const key = tag + definitions;
  if (!heads.has(key)) {
    if (heads.size > 20) heads.clear();
    heads.set(key, read(`${tag}${definitions}</svg>`));
  }
  return { key, node: heads.get(key) };
}

/** A drawing that is not written line by line. */
function whole(text) {
  const node = read(text);
  const drawn = [...node.children].filter(({ nodeName }) => nodeName !== "defs");
  for (const one of drawn) one.remove();
  for (const one of node.querySelectorAll("title, desc")) one.remove();
  return { head: { key: node.outerHTML, node }, parts: drawn.flatMap((one) => elements(one.outerHTML, [one])) };
}

/**
 * Take a drawing apart: `head` is its tag with the definitions, `parts` are its elements. Each has a `key`, the same for what is
 * drawn alike, a `node` that is only to be copied, and its `places`, by their names.
 */
export function takenApart(text) {
  const [, tag, definitions, body] = WHOLE.exec(text) ?? [];
  if (!tag) return whole(text);
  const lines = linesOf(body);
  if (!readLines([...new Set(lines)].filter((line) => !known.has(line)))) return whole(text);
  return { head: headOf(tag, definitions), parts: lines.flatMap((line) => known.get(line)) };
}

/** Have an element hold these nodes and no others; what stands where it should is not touched. */
export function arrange(parent, nodes) {
  let here = parent.firstChild;
  let right = 0;
  for (; here && here === nodes[right]; right += 1) here = here.nextSibling;
  if (!here && right === nodes.length) return;
  const staying = new Set(nodes);
  for (const one of [...parent.childNodes]) if (!staying.has(one)) one.remove();
  here = right ? nodes[right - 1].nextSibling : parent.firstChild;
  for (const one of nodes.slice(right)) {
    if (one === here) here = here.nextSibling;
    else parent.insertBefore(one, here);
  }
}

const filled = new WeakMap();

/** Have an element show parts of a drawing; `alter` may alter the copy of each, which then lies in a group. */
export function fill(parent, parts, alter = null) {
  const last = filled.get(parent) ?? [];
  if (last.length === parts.length && parts.every(({ key }, i) => key === last[i].key)) return;
  const before = new Map();
  for (const one of last) before.set(one.key, [...before.get(one.key) ?? [], one]);
  const now = parts.map(({ key, node }) => {
    const same = before.get(key)?.shift();
    if (same) return same;
    const copy = node.cloneNode(true);
    return { key, copy: alter ? alter(s("g", null, copy)) : copy };
  });
  filled.set(parent, now);
  arrange(parent, now.map(({ copy }) => copy));
}

/** Have all that an element shows be made anew the next time. */
export const forget = (parent) => filled.delete(parent);

/** Have a drawing's own element be as its head says; what lies in it below the definitions stays, and what it is to a reader. */
export function setHead(node, { node: head }) {
  for (const { name, value } of head.attributes) if (name !== "role") set(node, name, value);
  node.querySelector(":scope > defs")?.remove();
  const definitions = head.querySelector("defs");
  if (definitions) node.prepend(definitions.cloneNode(true));
}
