// The workshop: what the house keeps and how it is set up. Each part has a module of its own, fetched when it is opened.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { lazy } from "./lazy.js";
import { isHost, mayAct } from "./store.js";
import { t } from "./words.js";

/**
 * The parts, each with words of its own by its name. A module exports `part()`, what is drawn, and may export
 * `PART_DO`, `PART_SUBMIT`, `PART_CHANGE` and `PART_INPUT`, what is done, as a room does; `opened()` is called whenever
 * somebody comes to the part.
 */
const PARTS = [
  { id: "igloo", icon: "igloo", title: () => t("The igloo"), module: lazy(() => import("./calibration-run.js"), "igloo") },
  { id: "balance", icon: "scales", title: () => t("The balance"), module: lazy(() => import("./balance.js"), "balance") },
  { id: "camera", icon: "camera", title: () => t("The camera"), module: lazy(() => import("./camera-setup.js"), "camera") },
  { id: "devices", icon: "plug", title: () => t("Devices"), module: lazy(() => import("./workshop-devices.js"), "devices") },
  { id: "people", icon: "people", title: () => t("People"), module: lazy(() => import("./people.js"), "people") },
  { id: "rights", icon: "crown", title: () => t("Who may do what"), module: lazy(() => import("./rights.js"), "rights") },
  { id: "backups", icon: "cards", title: () => t("Backups"), module: lazy(() => import("./backups.js"), "backups") },
];

let open = null;

/** The part that the address names after `#workshop/`, else the first. */
const named = () => PARTS.find((one) => one.id === location.hash.split("/")[1]) ?? PARTS[0];

function body(one) {
  const found = one.module();
  if (!found) return h("p", { class: "quiet" }, t("One moment …"));
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

const through = (kind) => new Proxy({}, { get: (_, name) => named().module.here()?.[kind]?.[name] });

export const ROOM_DO = through("PART_DO");
export const ROOM_SUBMIT = through("PART_SUBMIT");
export const ROOM_CHANGE = through("PART_CHANGE");
export const ROOM_INPUT = through("PART_INPUT");
