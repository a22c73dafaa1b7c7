// The workshop: what the house keeps and how it is set up. Each part has a module of its own, fetched when it is opened.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { change, isHost, mayAct } from "./store.js";
import { t, withWords } from "./words.js";

/**
 * The parts, each with words of its own by its name. A module exports `part()`, what is drawn, and may export
 * `PART_DO`, `PART_SUBMIT`, `PART_CHANGE` and `PART_INPUT`, what is done, as a room does; `opened()` is called whenever
 * somebody comes to the part.
 */
const PARTS = [
  { id: "igloo", icon: "igloo", title: () => t("The igloo"), module: () => import("./calibration-run.js") },
  { id: "balance", icon: "scales", title: () => t("The balance"), module: () => import("./balance.js") },
  { id: "camera", icon: "camera", title: () => t("The camera"), module: () => import("./camera-setup.js") },
  { id: "devices", icon: "plug", title: () => t("Devices"), module: () => import("./workshop-devices.js") },
  { id: "people", icon: "people", title: () => t("People"), module: () => import("./people.js") },
  { id: "rights", icon: "crown", title: () => t("Who may do what"), module: () => import("./rights.js") },
  { id: "backups", icon: "cards", title: () => t("Backups"), module: () => import("./backups.js") },
];

const modules = {};
let open = null;

/** The part that the address names after `#workshop/`, else the first. */
const named = () => PARTS.find((one) => one.id === location.hash.split("/")[1]) ?? PARTS[0];

function body(one) {
  const found = modules[one.id];
  if (!found) {
    withWords(one.module(), one.id).then((module) => { modules[one.id] = module; change(() => {}); });
    return h("p", { class: "quiet" }, t("One moment …"));
  }
  if (open !== one.id) {
    open = one.id;
    found.opened?.();
  }
  return found.part();
}

/** Draw the workshop. */
export function room() {
  style("workshop");
  const here = named();
  return h("section", { class: "workshop", "data-key": "workshop" },
    h("h1", null, t("The workshop")),
    h("nav", { class: "parts", "aria-label": t("The workshop") }, h("ul", null, PARTS.map((one) =>
      h("li", null, h("a", { class: "toggle", href: `#workshop/${one.id}`, "aria-current": one === here ? "page" : null },
        icon(one.icon), one.title()))),
      h("li", null, h("a", { class: "toggle", href: "#album" }, icon("camera"), t("Album"))),
      isHost() && h("li", null, h("button", { type: "button", class: "toggle", "data-do": "settings" }, icon("gear"), t("Settings"))))),
    mayAct() ? h("div", { class: "part", "data-key": `part-${here.id}` }, body(here))
      : h("p", { class: "panel" }, t("You are watching."), " ", h("a", { href: "/join" }, t("Join with the table’s PIN"))));
}

/** Somebody left the room: a part that is opened again begins anew. */
export const left = () => { open = null; };

const through = (kind) => new Proxy({}, { get: (_, name) => modules[named().id]?.[kind]?.[name] });

export const ROOM_DO = through("PART_DO");
export const ROOM_SUBMIT = through("PART_SUBMIT");
export const ROOM_CHANGE = through("PART_CHANGE");
export const ROOM_INPUT = through("PART_INPUT");
