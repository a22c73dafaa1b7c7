// Backups beside the journal: made, listed, taken home, brought back.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { agreed, openDialog } from "./dialogs.js";
import { ask, showRefusal, tell } from "./net.js";
import { change, isHost } from "./store.js";
import { number, said, t, tn } from "./words.js";

const MAKING_MS = 120000;
let shelf = null;
let making = false;

async function fetched() {
  if (!isHost()) return;
  try {
    const told = await ask("/api/backups");
    change(() => { shelf = told; });
  } catch (refused) {
    showRefusal(refused.error);
  }
}

/** Somebody came to this part. */
export const opened = fetched;

const when = (at) => (at === null ? "?" : new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }));

function backup(one) {
  return h("li", { class: "backup", "data-key": one.name },
    h("div", null, h("strong", null, when(one.made)), " ", h("span", { class: "quiet" }, one.name),
      h("p", { class: one.sound ? "quiet" : "note" }, one.sound
        ? [tn("%(n)s entry", "%(n)s entries", one.seq), ", ", tn("%(n)s picture", "%(n)s pictures", one.pictures), ", ", t("%(mb)s MB", { mb: number(one.bytes / 1e6, 1) })]
        : t("This file is damaged."))),
    h("div", { class: "row" },
      h("a", { class: "second", href: `/api/backups/${encodeURIComponent(one.name)}`, download: one.name }, t("Download")),
      one.sound && h("button", { type: "button", class: "second danger", "data-do": "restore", "data-name": one.name }, t("Bring back"))));
}

/** Draw this part. */
export function part() {
  if (!isHost()) return h("p", { class: "panel" }, t("Only the host of the table sees to the backups."));
  if (!shelf) return h("p", { class: "quiet" }, t("One moment …"));
  return h("section", { class: "panel", "data-key": "shelf" },
    h("h2", null, t("Backups")),
    h("p", { class: "quiet" }, t("One is made every night. Those on this card help when a file is damaged; copy one elsewhere for when the card is.")),
    Object.values(shelf.status).map((one) => h("p", { class: one.ok ? "quiet" : "note" }, said(one))),
    h("button", { type: "button", class: "main", "data-do": "make-backup", disabled: making }, icon("check"), making ? t("One moment …") : t("Make a backup now")),
    shelf.backups.length ? h("ul", { class: "plain" }, shelf.backups.map(backup)) : h("p", { class: "quiet" }, t("None yet.")));
}

async function restore(name) {
  const one = shelf.backups.find((found) => found.name === name);
  const sentence = t("The nights become as they were on %(when)s. What is there now is put aside on the card, not lost. The table starts anew; phones come back by themselves.", { when: when(one.made) });
  if (!await agreed(sentence, t("Bring it back"), t("Bring this backup back?"))) return;
  try {
    await tell(`/api/backups/${encodeURIComponent(name)}/restore`, { confirm: name }, { signal: AbortSignal.timeout(MAKING_MS) });
    openDialog(t("It is being brought back"), h("p", { role: "status" }, t("The table starts anew. This takes a few seconds.")));
  } catch (refused) {
    showRefusal(refused.error);
  }
}

export const PART_DO = {
  "make-backup": async () => {
    change(() => { making = true; });
    try {
      await tell("/api/backups", {}, { signal: AbortSignal.timeout(MAKING_MS) });
    } catch (refused) {
      showRefusal(refused.error);
    }
    making = false;
    await fetched();
  },
  restore: ({ name }) => restore(name),
};
