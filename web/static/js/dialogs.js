// Small windows over the page: a clause, an agreement, the way in for others.

import { h, patch } from "./dom.js";
import { icon } from "./art.js";
import { games } from "./games.js";
import { said, t } from "./words.js";

/** What a clause stands on, in words. */
export const statusWords = () => ({
  text: t("stated in the rulebook"),
  deduced: t("deduced from the rulebook"),
  "outside source": t("from a source outside the rulebook"),
  "house ruling": t("house ruling: the rulebook is silent"),
  unknown: t("not known"),
});

const element = () => document.getElementById("dialog");
let answer = null;

/** Open a window with these contents; resolves to what `closeDialog` is given, null when it is dismissed. */
export function openDialog(title, ...contents) {
  const dialog = element();
  closeDialog(null);
  patch(dialog, [
    h("header", { "data-key": "head" },
      h("h2", { id: "dialog-title" }, title),
      h("button", { type: "button", class: "round-button", "data-do": "close-dialog-window", "aria-label": t("Close") }, icon("close"))),
    h("div", { class: "dialog-body", "data-key": `body${Date.now()}` }, contents),
  ]);
  dialog.showModal();
  document.body.classList.add("in-dialog");
  return new Promise((resolve) => { answer = resolve; });
}

/** Close the window and answer who opened it. */
export function closeDialog(value) {
  const dialog = element();
  if (dialog.open) dialog.close();
  document.body.classList.remove("in-dialog");
  const resolve = answer;
  answer = null;
  resolve?.(value);
}

/** Have Escape and a tap beside the window dismiss it. */
export function prepareDialog() {
  const dialog = element();
  // The event comes late: another window may be open by then.
  dialog.addEventListener("close", () => { if (!dialog.open) closeDialog(null); });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) closeDialog(null);
  });
}

/** A clause of the rulebook, or a listed dispute, in the reader's language. */
export function clauseWindow(clause) {
  const dispute = clause.kind === "dispute";
  return openDialog(clause.id,
    dispute ? h("p", { class: "sentence" }, said(clause.question)) : null,
    h("p", { class: "clause-text" }, said(clause)),
    clause.note ? h("p", { class: "quiet" }, said(clause.note)) : null,
    h("p", { class: "quiet" }, dispute ? null : [said(clause.book), ": ", said(clause.heading), ". "],
      h("span", { class: "ground" }, statusWords()[clause.status] ?? clause.status)));
}

/** Ask whether the table agrees; resolves to true only then. */
export async function agreed(sentence, action, question = t("Does the table agree?")) {
  const yes = await openDialog(question,
    h("p", null, sentence),
    h("div", { class: "row" },
      h("button", { type: "button", class: "main", "data-do": "dialog-yes" }, action),
      h("button", { type: "button", class: "second", "data-do": "close-dialog-window" }, t("No"))));
  return yes === true;
}

/** The way in for others: the code to scan, the PIN, the address. */
export function inviteWindow(table) {
  return openDialog(t("Others join"),
    h("img", { class: "code", src: `/api/join.svg?${Date.now()}`, alt: t("Code that opens this table on another phone") }),
    h("p", { class: "pin", role: "group", "aria-label": t("PIN of this table") }, table.pin),
    h("p", null, t("Scan the code, or open %(address)s and enter the PIN. Without the PIN you can only watch.", { address: table.address })),
    table.joined.length
      ? h("ul", { class: "joined" }, table.joined.map((one) =>
          h("li", null, one.role === "host" ? icon("crown") : icon("people"),
            one.label || (one.role === "host" ? t("Host") : t("Player")))))
      : null);
}

/** What a backup that was brought back says of settings; nothing of it was taken. */
let offers = new Map();

function offer({ name, offered, words }) {
  if (offered === null) return null;
  const shown = typeof offered === "boolean" ? (offered ? t("yes") : t("no")) : [offered].flat().join(", ") || t("nothing");
  return h("div", { class: "note" },
    h("p", null, t("A backup that was brought back says: %(value)s. This was not taken.", { value: shown })),
    h("button", { type: "button", class: "second", "data-do": "take-offered", "data-name": name, "aria-label": `${t("Use this value")}: ${said(words)}` }, t("Use this value")));
}

/** Put into the form what a backup says of a setting. */
export function takeOffered({ name }) {
  const field = document.getElementById(`setting-${name}`);
  const offered = offers.get(name);
  if (field.type === "checkbox") field.checked = offered;
  else field.value = [offered].flat().join("\n");
  field.focus();
}

const settingField = (one) => [plainField(one), offer(one)];

function plainField({ name, words, kind, value, low, high, restart }) {
  const id = `setting-${name}`;
  const label = [said(words), restart ? h("small", { class: "quiet" }, ` (${t("from the next start on")})`) : null];
  if (kind === "switch") {
    return h("label", { class: "check" }, h("input", { id, type: "checkbox", name, checked: value }), h("span", null, label));
  }
  const quiet = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const field = {
    number: () => h("input", { id, name, type: "number", min: low, max: high, step: 1, value, required: true, inputmode: "numeric" }),
    lines: () => h("textarea", { id, name, rows: Math.min(5, value.length + 2), ...quiet, "aria-describedby": `${id}-how` }, value.join("\n")),
    text: () => h("input", { id, name, type: "text", maxlength: 500, value, ...quiet }),
  }[kind]();
  return h("div", { class: "field" },
    h("label", { for: id }, label), field,
    kind === "lines" ? h("small", { class: "quiet", id: `${id}-how` }, t("one per line")) : null);
}

/** The ways to what an owner enters of the boxes; for one game, or all. */
export function boxButtons(game = null) {
  return h("div", { class: "row", "data-key": "boxes" }, games("box").filter(({ id }) => !game || id === game).map(({ id, box }) =>
    h("button", { type: "button", class: "second", "data-do": "box", "data-game": id }, icon("cards"), box())));
}

/** The settings of the house, for the host. */
export function settingsWindow({ settings, note }) {
  offers = new Map(settings.map((one) => [one.name, one.offered]));
  return openDialog(t("Settings"),
    note ? h("p", { class: "note" }, t(note)) : null,
    h("form", { "data-submit": "settings" },
      settings.map(settingField),
      h("p", { class: "complaint", role: "alert", id: "settings-complaint" }),
      h("button", { type: "submit", class: "main" }, t("Keep the settings"))),
    boxButtons());
}

/** Read the settings window: `{name: value}`. */
export function readSettings(form) {
  const values = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") values[field.name] = field.checked;
    else if (field.type === "number") values[field.name] = Number(field.value);
    else if (field.type === "textarea") values[field.name] = field.value.split("\n").map((one) => one.trim()).filter(Boolean);
    else values[field.name] = field.value;
  }
  return values;
}
