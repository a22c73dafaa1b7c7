// "On the way": the training is taken along as a file, and what was answered there comes home.

import { icon } from "./art.js";
import { h } from "./dom.js";
import { ask, tell } from "./net.js";
import { number, percent, t, tn } from "./words.js";

const AGAIN_MS = 1000;
const MOST_BYTES = 60_000;
const STORED_PREFIX = "companion.along-";

const state = { status: null, imported: null, complaint: null, waiting: false };

/** Ask how far the shakes are, again and again until they are made; `alter` draws, `here()` says whether anybody looks. */
export async function watchOfflineBundle(alter, here) {
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
export function forgetImport() {
  Object.assign(state, { imported: null, complaint: null });
}

function downloadPanel() {
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

function importPanel(name) {
  const { imported, complaint } = state;
  const here = name === null ? 0 : storedResults().reduce((sum, one) => sum + one.results.answers.length, 0);
  return h("section", { class: "panel", "data-key": "import" },
    h("h2", null, t("Bring results home")),
    name === null ? h("p", { class: "sentence" }, t("Say who you are, and what you answered on the way counts for you.")) : h("form", { "data-submit": "import-results", class: "results-form" },
      h("p", null, t("What was answered on the way counts for %(name)s, once.", { name })),
      h("label", { class: "second file" }, icon("cards"), h("span", null, t("The saved file")),
        h("input", { type: "file", id: "results-file", name: "file", accept: ".json,application/json", class: "unseen", "data-change": "results-file" })),
      h("label", { for: "results-text" }, t("Or its text")),
      h("textarea", { id: "results-text", name: "text", rows: 3, autocomplete: "off", spellcheck: "false" }),
      h("p", { class: "complaint", role: "alert" }, complaint ?? ""),
      h("button", { type: "submit", class: "second" }, t("Bring the text home"))),
    here > 0 && h("p", null, h("button", { type: "button", class: "second", "data-do": "import-stored" }, tn("Bring home the %(n)s answer that is on this device", "Bring home the %(n)s answers that are on this device", here))),
    imported && h("p", { class: "sentence", role: "status" },
      imported.new > 0 ? tn("%(n)s answer came home.", "%(n)s answers came home.", imported.new) : t("Nothing new: it has all been counted before."),
      imported.new > 0 && imported.known > 0 && [" ", tn("%(n)s was counted before.", "%(n)s were counted before.", imported.known)]));
}

/** The room; `name` is who trains, null for nobody. */
export function offlineBundle(name) {
  return [
    h("section", { class: "panel", "data-key": "take" },
      h("h1", null, t("On the way")),
      h("p", { class: "sentence" }, t("Train on the train: one file with simulated shakes of every number, for a phone without any network.")),
      downloadPanel()),
    importPanel(name),
  ];
}

/** What was answered in the file when it was opened from this page: this browser keeps it. */
function storedResults() {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(STORED_PREFIX)).map((name) => ({
      name, results: { format: "companion-along-1", file: name.slice(STORED_PREFIX.length), answers: JSON.parse(localStorage[name]) },
    })).filter(({ results }) => results.answers?.length > 0);
  } catch {
    return [];
  }
}

/** What a file or a text says, or null. */
async function results(form) {
  const fields = new FormData(form);
  const file = fields.get("file");
  try {
    return file.size > MOST_BYTES ? null : JSON.parse(file.size ? await file.text() : fields.get("text"));
  } catch {
    return null;
  }
}

/** Take in a file or a text; without a form, what this browser keeps. True when it was taken. */
export async function importResults(form, person, doing) {
  forgetImport();
  const parcels = form ? [{ results: await results(form) }] : storedResults();
  for (const parcel of parcels) {
    if (!parcel.results) {
      state.complaint = t("These are not results of training on the way.");
      return false;
    }
    const answer = await doing(() => tell("/api/training/along", { person, results: parcel.results }));
    if (!answer) return false;
    state.imported = { new: (state.imported?.new ?? 0) + answer.new, known: (state.imported?.known ?? 0) + answer.known };
    if (parcel.name) localStorage.removeItem(parcel.name);
  }
  form?.reset();
  return true;
}
