// Backups beside the journal: made, listed, taken home, brought back.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { agreed, openDialog } from "./dialogs.js";
import { ask, chosenFile, fetched, pause, tell, upload } from "./net.js";
import { change, isHost } from "./store.js";
import { date, number, percent, said, t, tn } from "./words.js";

const MAKING_MS = 120000;
/** What the table takes in at a time. */
const PIECE = 4 * 1024 * 1024;
const TRIES = 4;
/** How often it is asked whether the service has started anew. */
const AGAIN_MS = 700;
let listing = null;
let making = false;
let share = null; // of a file that is being taken in

/** Somebody came to this part. */
export async function opened() {
  const answer = isHost() && await fetched(() => ask("/api/backups"));
  if (answer) change(() => { listing = answer; });
}

const when = (at) => (at === null ? "?" : date(at, { dateStyle: "medium", timeStyle: "short" }));

function backup(one) {
  return h("li", { class: "backup", "data-key": one.name },
    h("div", null, h("strong", null, when(one.made)), " ", h("span", { class: "quiet" }, one.name),
      h("p", { class: one.sound || one.locked ? "quiet" : "note" }, one.locked ? t("Encrypted with another passphrase.") : one.sound
        ? [tn("%(n)s entry", "%(n)s entries", one.seq), ", ", tn("%(n)s picture", "%(n)s pictures", one.pictures), ", ", t("%(mb)s MB", { mb: number(one.bytes / 1e6, 1) })]
        : t("This file is damaged."))),
    h("div", { class: "row" },
      h("a", { class: "second", href: `/api/backups/${encodeURIComponent(one.name)}`, download: one.name }, t("Download")),
      (one.sound || one.locked) && h("button", { type: "button", class: "second danger", "data-do": "restore", "data-name": one.name }, t("Bring back"))));
}

function encryption() {
  const button = (does, words) => h("button", { type: "button", class: "second", "data-do": does }, words);
  if (!listing.encrypts) return h("div", { "data-key": "encryption" }, button("encrypt-backups", t("Encrypt backups from now on")));
  return h("div", { "data-key": "encryption" },
    h("p", { class: "quiet" }, icon("check"), t("Backups are encrypted from now on."), " ", lost()),
    h("div", { class: "row" }, button("encrypt-backups", t("New passphrase")), button("encrypt-no-more", t("Stop encrypting"))));
}

const lost = () => t("A lost passphrase is a lost backup: nobody can open it without it. Write it down, away from this box.");

/** Ask for a passphrase, which is to be seen: who mistypes it here loses the backups. */
async function passphraseWindow(title, sentence, action) {
  const form = await openDialog(title,
    h("form", { method: "dialog", "data-submit": "dialog-form" },
      h("p", null, sentence),
      h("label", { for: "passphrase" }, t("Passphrase")),
      h("input", { id: "passphrase", name: "passphrase", type: "text", maxlength: 200, required: true, autocomplete: "off", autocapitalize: "none", spellcheck: "false" }),
      h("button", { type: "submit", class: "main" }, action)));
  return form ? form.get("passphrase") : null;
}

async function encrypt(passphrase) {
  await fetched(() => tell("/api/backups/passphrase", { passphrase }));
  await opened();
}

/** Draw this part. */
export function part() {
  if (!isHost()) return h("p", { class: "panel" }, t("Only the host of the table sees to the backups."));
  if (!listing) return h("p", { class: "quiet" }, t("One moment …"));
  return h("section", { class: "panel", "data-key": "backups" },
    h("h2", null, t("Backups")),
    h("p", { class: "quiet" }, t("One is made every night. Those on this card help when a file is damaged; copy one elsewhere for when the card is.")),
    Object.values(listing.status).map((one) => h("p", { class: one.ok ? "quiet" : "note" }, said(one))),
    h("button", { type: "button", class: "main", "data-do": "make-backup", disabled: making }, icon("check"), making ? t("One moment …") : t("Make a backup now")),
    encryption(),
    h("label", { class: "second file" }, icon("cards"), h("span", null, share === null ? t("Add a backup file from this device") : t("Adding it: %(share)s", { share: percent(share) })),
      h("input", { type: "file", accept: ".zip,.age,application/zip", "data-change": "add-backup", class: "unseen", disabled: share !== null })),
    h("p", { class: "quiet" }, t("A file that was copied elsewhere is checked and laid beside these. Nothing is replaced until you bring it back.")),
    listing.backups.length ? h("ul", { class: "plain" }, listing.backups.map(backup)) : h("p", { class: "quiet" }, t("None yet.")));
}

async function restore(name) {
  const one = listing.backups.find((found) => found.name === name);
  const sentence = t("The nights go back to how they were on %(when)s. What is there now is put aside on the card, not lost. The table restarts; phones come back by themselves.", { when: one.locked ? one.name : when(one.made) });
  const passphrase = one.locked ? await passphraseWindow(t("Bring this backup back?"), t("It is encrypted with a passphrase that this box does not have."), t("Go on")) : "";
  if (passphrase === null) return;
  if (!await agreed(sentence, t("Bring it back"), t("Bring this backup back?"))) return;
  const before = await fetched(() => ask("/api/health"));
  const done = before && await fetched(() => tell(`/api/backups/${encodeURIComponent(name)}/restore`, { confirm: name, passphrase }, { signal: AbortSignal.timeout(MAKING_MS) }));
  if (!done) return;
  openDialog(t("It is being brought back"), h("p", { role: "status" }, t("The table is restarting. This takes a few seconds; then this page shows it.")));
  await restarted(before.started);
  // Whatever this page knew may be of nights that are not here any more.
  location.assign("/");
}

/** Wait until the service is another than the one that called its start so. */
async function restarted(started) {
  for (;;) {
    await pause(AGAIN_MS);
    const answer = await ask("/api/health").catch(() => null);
    if (answer && answer.started !== started) return;
  }
}

/** Send a piece; one that got no answer is sent again, which is safe: it is taken once. */
async function uploadPiece(file, at) {
  const where = `/api/backups/brought?at=${at}&size=${file.size}&name=${encodeURIComponent(file.name.slice(-200))}`;
  for (let tries = 1; ; tries += 1) {
    try {
      return await upload(where, file.slice(at, at + PIECE), MAKING_MS);
    } catch (refused) {
      if (refused.error || tries === TRIES) throw refused;
      await pause(1000 * tries);
    }
  }
}

async function uploadBackup(file) {
  let answer = null;
  for (let at = 0; answer === null || at < file.size; at = answer.taken) {
    change(() => { share = at / file.size; });
    answer = await uploadPiece(file, at);
  }
  return answer.backup;
}

export const PART_DO = {
  "make-backup": async () => {
    change(() => { making = true; });
    await fetched(() => tell("/api/backups", {}, { signal: AbortSignal.timeout(MAKING_MS) }));
    making = false;
    await opened();
  },
  "encrypt-backups": async () => {
    const passphrase = await passphraseWindow(t("Encrypt backups"), lost(), t("Encrypt from now on"));
    if (passphrase !== null) await encrypt(passphrase);
  },
  "encrypt-no-more": async () => {
    if (await agreed(t("Anyone who has a backup file can then read it. Those already encrypted stay so."), t("Stop encrypting"))) await encrypt("");
  },
  restore: ({ name }) => restore(name),
};

export const PART_CHANGE = {
  "add-backup": async (input) => {
    const file = chosenFile(input);
    if (!file) return;
    const backup = await fetched(() => uploadBackup(file));
    change(() => { share = null; });
    await opened();
    if (backup) restore(backup.name);
  },
};
