// Elements from words, and the least change from one drawing of the page to the next.
//
// A drawing is thrown away and made anew whenever something changes; patch() then alters only what differs, so
// that focus, scrolling, open details and a finger that is just going down all survive. What is large and seldom
// changes is kept: it is made anew only where something of what it is made from is another.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    const text = name === "class" && Array.isArray(value) ? value.filter(Boolean).join(" ") : String(value);
    element.setAttribute(name, value === true ? "" : text);
  }
  element.append(...flatten(children));
  return element;
}

function flatten(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== "")
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** Make an HTML element; attributes that are null or false are left out. */
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function s(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** By name what was kept: what it was made from, and the element that shows it, which a patch may bring to the page. */
const kept = new Map();

/** What stands in a drawing of the page for an element that is on the page already, and stays there as it is. */
export const stays = (same) => Object.assign(h("template"), { same });

/** An element with a key; `make` makes it, unless everything that it is made `from` is the same as last time. */
export function keep(name, from, make) {
  const last = kept.get(name);
  if (last?.node.isConnected && from.every((one, i) => one === last.from[i])) return stays(last.node);
  const node = make();
  kept.set(name, { from, node });
  return node;
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null);

/** Give an element an attribute, unless it has it so: a picture whose size is set once more has all its writing laid out anew. */
export function set(node, name, value) {
  const text = String(value);
  if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

function updateAttributes(now, next) {
  for (const { name } of [...now.attributes]) {
    if (next.hasAttribute(name)) continue;
    // A person opened these details; drawing again does not close them.
    if (name === "open" && now.nodeName === "DETAILS") continue;
    now.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (name === "open" && now.nodeName === "DETAILS") continue;
    set(now, name, value);
  }
}

/** Make an element look like another one of its kind, changing as little as possible. */
export function update(now, next) {
  if (now.nodeType !== Node.ELEMENT_NODE) {
    if (now.data !== next.data) now.data = next.data;
    return;
  }
  // The browser compares much sooner than we do; only what is kept is looked for further down.
  if (now.isEqualNode(next) && ![...kept.values()].some(({ node }) => node !== next && next.contains(node))) return;
  updateAttributes(now, next);
  patch(now, [...next.childNodes]);
}

/** Make the children of `parent` look like `children`, changing as little as possible. */
export function patch(parent, children) {
  const wanted = flatten([children]);
  const keyed = new Map();
  for (const child of parent.childNodes) if (keyOf(child)) keyed.set(keyOf(child), child);
  const staying = new Set(wanted.map((next) => keyOf(next.same ?? next)));
  let here = parent.firstChild;
  for (const next of wanted) {
    // What goes makes way first: what stays is not moved round it, for a moved element loses focus and finger.
    while (here && keyOf(here) && !staying.has(keyOf(here))) {
      const gone = here;
      here = here.nextSibling;
      gone.remove();
    }
    const { same } = next;
    if (same) {
      if (same === here) here = here.nextSibling;
      else parent.insertBefore(same, here);
      continue;
    }
    const key = keyOf(next);
    let match = null;
    if (key) {
      const known = keyed.get(key);
      match = known && known.nodeName === next.nodeName ? known : null;
    } else if (here && !keyOf(here) && here.nodeName === next.nodeName) {
      match = here;
    }
    if (!match) {
      parent.insertBefore(next, here);
      continue;
    }
    if (match === here) here = here.nextSibling;
    else parent.insertBefore(match, here);
    update(match, next);
    for (const one of kept.values()) if (one.node === next) one.node = match;
  }
  while (here) {
    const after = here.nextSibling;
    here.remove();
    here = after;
  }
}

/** Fetch a style sheet that is not needed everywhere, once. */
export function style(name) {
  if (document.querySelector(`link[data-style=${name}]`)) return;
  const link = document.querySelector("link[rel=stylesheet]").cloneNode();
  link.dataset.style = name;
  link.href = link.href.replace(/[^/]*$/, `${name}.css`);
  document.head.append(link);
}
