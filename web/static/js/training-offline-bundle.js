// "On the way": the training is taken along as a file, and what was answered there comes home.

import { icon } from "./art.js";
import { h } from "./dom.js";
import { ask, tell } from "./net.js";
import { number, percent, t, tn } from "./words.js";

const AGAIN_MS = 1000;
const MOST_BYTES = 60_000;
const KEPT = "companion.along-";

const state = { status: null, brought: null, complaint: null, waiting: false };

/** Ask how far the shakes are, again and again until they are made; `alter` draws, `here()` says whether anybody looks. */
export async function watchAlong(alter, here) {
  if (state.waiting) return;
  state.waiting = true;
  try {
    while (here()) {
      state.status = await ask("/api/training/along").catch(() => state.status);
      alter({});
      if (state.status?.ready || state.status?.failed) break;
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  } finally {
    state.waiting = false;
  }
}

/** Forget what was said of the last results: somebody else trains now, or another room was entered. */
export function leaveAlong() {
  Object.assign(state, { brought: null, complaint: null });
}

function take() {
  const { status } = state;
  if (!status) return h("p", { class: "quiet" }, t("One moment …"));
  if (status.failed) return h("p", { class: "sentence" }, t("The shakes could not be made; the log of the companion says why."));
  if (!status.ready) {
    return h("p", { class: "sentence", role: "status", "data-key": "making" }, t("The shakes are being made: %(share)s.", { share: percent(status.of ? status.made / status.of : 0) }));
  }
  return [
    h("p", { class: "row" }, h("a", { class: "main", href: "/training/along.html", download: "", "data-key": "take" }, t("Take it along")),
      h("a", { class: "second", href: "/training/along.html?here=1", target: "_blank", rel: "noopener", "data-key": "open" }, t("Open it here"))),
    h("p", { class: "quiet" }, t("One file of about %(size)s MB: open it from the downloads of this phone. An iPhone shows files without their scripts: there, open it here and leave the tab open.", { size: number(1.7, 1) })),
  ];
}

function bringHome(name) {
  const { brought, complaint } = state;
  const here = name === null ? 0 : kept().reduce((sum, one) => sum + one.results.answers.length, 0);
  return h("section", { class: "panel", "data-key": "bring" },
    h("h2", null, t("Bring results home")),
    name === null ? h("p", { class: "sentence" }, t("Say who you are, and what you answered on the way counts for you.")) : h("form", { "data-submit": "bring", class: "bring" },
      h("p", null, t("What was answered on the way counts for %(name)s, once.", { name })),
      h("label", { class: "second file" }, icon("cards"), h("span", null, t("The saved file")),
        h("input", { type: "file", id: "brought-file", name: "file", accept: ".json,application/json", class: "unseen", "data-change": "bring-file" })),
      h("label", { for: "brought-text" }, t("Or its text")),
      h("textarea", { id: "brought-text", name: "text", rows: 3, autocomplete: "off", spellcheck: "false" }),
      h("p", { class: "complaint", role: "alert" }, complaint ?? ""),
      h("button", { type: "submit", class: "second" }, t("Bring the text home"))),
    here > 0 && h("p", null, h("button", { type: "button", class: "second", "data-do": "bring-kept" }, tn("Bring home the %(n)s answer that is on this device", "Bring home the %(n)s answers that are on this device", here))),
    brought && h("p", { class: "sentence", role: "status" },
      brought.new > 0 ? tn("%(n)s answer came home.", "%(n)s answers came home.", brought.new) : t("Nothing new: all of it was counted before."),
      brought.new > 0 && brought.known > 0 && [" ", tn("%(n)s was counted before.", "%(n)s were counted before.", brought.known)]));
}

/** The room; `name` is who trains, null for nobody. */
export function along(name) {
  return [
    h("section", { class: "panel", "data-key": "take" },
      h("h1", null, t("On the way")),
      h("p", { class: "sentence" }, t("Train in the train: one file with simulated shakes of every number, for a phone without any network.")),
      take()),
    bringHome(name),
  ];
}

/** What was answered in the file when it was opened from this page: this browser keeps it. */
function kept() {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(KEPT)).map((name) => ({
      name, results: { format: "companion-along-1", file: name.slice(KEPT.length), answers: JSON.parse(localStorage[name]) },
    })).filter(({ results }) => results.answers?.length > 0);
  } catch {
    return [];
  }
}

/** What a file or a text says, or null. */
async function results(form) {
  const told = new FormData(form);
  const file = told.get("file");
  try {
    return file.size > MOST_BYTES ? null : JSON.parse(file.size ? await file.text() : told.get("text"));
  } catch {
    return null;
  }
}

/** Take in a file or a text; without a form, what this browser keeps. True when it was taken. */
export async function bring(form, person, doing) {
  leaveAlong();
  const parcels = form ? [{ results: await results(form) }] : kept();
  for (const parcel of parcels) {
    if (!parcel.results) {
      state.complaint = t("These are no results of the training on the way.");
      return false;
    }
    const answer = await doing(() => tell("/api/training/along", { person, results: parcel.results }));
    if (!answer) return false;
    state.brought = { new: (state.brought?.new ?? 0) + answer.new, known: (state.brought?.known ?? 0) + answer.known };
    if (parcel.name) localStorage.removeItem(parcel.name);
  }
  form?.reset();
  return true;
}
