// The devices of the house beside igloo and camera: buttons and lights, the home's automation; and the doctor's findings.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { fact, stateWords } from "./devices.js";
import { ask, fetched, tell } from "./net.js";
import { change, isHost } from "./store.js";
import { kindMark } from "./rulings.js";
import { said, t, tn } from "./words.js";

const DOCTOR_MS = 60000;
const now = { devices: null, settings: null, findings: null, looking: false, saved: null, complaint: null };

const alter = (changes) => change(() => { Object.assign(now, changes); });

/** Somebody came to this part. */
export const opened = () => fetched(async () => {
  alter({ findings: null, saved: null, complaint: null });
  const devices = await ask("/api/devices");
  const settings = isHost() ? (await ask("/api/settings")).settings : null;
  alter({ devices, settings });
});

/** The setting of that name, changed here by the host; it is used from the next start on. */
function setting(name) {
  const found = now.settings?.find((one) => one.name === name);
  if (!found) return null;
  const id = `device-${name}`;
  const more = { id, name, autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  return h("form", { "data-submit": "device-setting", "data-key": `setting-${name}` },
    h("label", { for: id }, said(found.words)),
    found.kind === "lines" ? h("textarea", { ...more, rows: 4 }, found.value.join("\n")) : h("input", { ...more, type: "text", maxlength: 500, value: found.value }),
    now.complaint?.name === name && h("p", { class: "complaint", role: "alert" }, said(now.complaint.error)),
    h("p", { class: "row" }, h("button", { type: "submit", class: "second" }, t("Keep it")),
      now.saved === name && h("span", { role: "status" }, t("Kept; it takes effect when the companion next starts."))));
}

function device(title, name, found, none, more) {
  return h("section", { class: "panel", "data-key": title },
    h("h2", null, name),
    found
      ? h("p", { class: "device-head" }, h("span", { class: ["lamp", found.state], "aria-hidden": "true" }), h("strong", null, stateWords(found.state)), found.kind && kindMark(found.kind))
      : h("p", { class: "quiet" }, none),
    found?.note && h("p", { class: found.state === "connected" ? "quiet" : "note" }, t(found.note)),
    found?.detail && h("p", { class: "quiet", lang: "en" }, found.detail),
    more);
}

const PINS = () => ({
  next: t("Button: next"), shake: t("Button: shake"), undo: t("Button: take back"), dispute: t("Button: doubt"), buzzer: t("Buzzer"), legal: t("Light: legal"),
  doubt: t("Light: doubt"), "turn-red": t("Light for whose turn it is, red"), "turn-green": t("Light for whose turn it is, green"), "turn-blue": t("Light for whose turn it is, blue"),
});

function panel({ pins }) {
  const words = PINS();
  return h("dl", { class: "facts" }, Object.entries(pins).map(([part, pin]) => fact(words[part] ?? part, `GPIO ${pin}`)));
}

const STATES = () => ({ wrong: t("Wrong"), warning: t("Look at this"), note: t("Worth knowing"), good: t("Good") });
const ORDER = ["wrong", "warning", "note", "good"];

function finding(one, i) {
  const marks = { wrong: "close", warning: "flag", note: "more", good: "check" };
  return h("li", { class: ["finding", `is-${one.state}`], "data-key": `${one.check}-${i}`, "data-state": one.state },
    icon(marks[one.state]), h("span", null, h("b", null, STATES()[one.state]), " – ", said(one),
      one.cure && one.state !== "good" && h("span", { class: "cure" }, h("b", null, t("What helps:")), " ", said(one.cure))));
}

function findings() {
  const shown = [...now.findings].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const bad = shown.filter((one) => one.state === "wrong" || one.state === "warning");
  return [
    h("p", { class: "sentence", role: "status" }, bad.length ? tn("%(n)s thing needs looking at.", "%(n)s things need looking at.", bad.length) : t("Nothing is wrong.")),
    h("ul", { class: "findings" }, shown.filter((one) => one.state !== "good").map(finding)),
    h("details", { "data-key": "good" }, h("summary", null, t("What is good")), h("ul", { class: "findings" }, shown.filter((one) => one.state === "good").map(finding))),
  ];
}

function doctor() {
  if (!isHost()) return null;
  return h("section", { class: "panel", "data-key": "doctor" },
    h("h2", null, t("Check everything")),
    h("p", null, t("The machine, nights, devices, service and network are checked; nothing is changed.")),
    h("p", null, h("button", { type: "button", class: "main", "data-do": "doctor", disabled: now.looking }, icon("check"), now.looking ? t("One moment …") : t("Check everything"))),
    now.findings && findings());
}

/** Draw the part. */
export function part() {
  if (!now.devices) return h("p", { class: "quiet" }, t("One moment …"));
  const { panel: buttons, mqtt } = now.devices;
  return [
    doctor(),
    device("panel", t("Buttons and lights"), buttons, t("None are chosen: the page has the same buttons."), [buttons && panel(buttons), setting("panel_pins")]),
    device("mqtt", t("Home automation"), mqtt, t("No broker is named: home automation is told nothing."), setting("mqtt_address")),
  ];
}

export const PART_DO = {
  doctor: async () => {
    alter({ looking: true });
    const answer = await fetched(() => tell("/api/doctor", {}, { signal: AbortSignal.timeout(DOCTOR_MS) }));
    alter({ looking: false, findings: answer?.findings ?? now.findings });
  },
};

export const PART_SUBMIT = {
  "device-setting": async (form) => {
    const field = form.elements[0];
    const value = field.type === "textarea" ? field.value.split("\n").map((one) => one.trim()).filter(Boolean) : field.value;
    try {
      const { settings } = await tell("/api/settings", { [field.name]: value });
      alter({ settings, saved: field.name, complaint: null });
    } catch (refused) {
      const lost = t("The table did not answer. Nothing is lost: try again.");
      alter({ saved: null, complaint: { name: field.name, error: refused.error ?? { en: lost } } });
    }
  },
};
