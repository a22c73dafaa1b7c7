// What was ruled: results of the check, faults, clauses to open, the way back.

import { h, keep } from "./dom.js";
import { icon, token } from "./art.js";
import { isHost, mayAct, store } from "./store.js";
import { clock, said, t, tn, wordsKnown } from "./words.js";

/** Clause ids as buttons that open the clause. */
export function clauses(ids) {
  if (!ids?.length) return null;
  return h("span", { class: "clauses" }, ids.map((id) =>
    h("button", { type: "button", class: "clause", "data-do": "clause", "data-id": id,
      "aria-label": t("Clause %(id)s", { id }) }, id)));
}

/** Breaches that somebody reported or the igloo felt. */
export function faults(match) {
  const open = match.faults.filter((fault) => !fault.dismissed);
  if (!open.length) return null;
  return h("section", { class: "panel faults", "data-key": "faults" },
    h("h2", null, t("Faults")),
    h("ul", null, open.map((fault) =>
      h("li", { "data-key": `fault${fault.seq}`, class: "fault" },
        fault.colour ? token(fault.colour) : icon("flag"),
        h("div", null,
          h("p", null, said(fault)),
          fault.note && h("p", { class: "quiet" }, fault.note),
          h("p", { class: "under" },
            fault.kind && kindMark(fault.kind),
            clauses([fault.clause]),
            isHost() && h("button", { type: "button", class: "small-button", "data-do": "dismiss-fault",
              "data-seq": fault.seq }, t("The table lets it pass"))))))));
}

/** Where a device's words come from, plainly. */
export function kindMark(kind) {
  const text = { real: t("real"), recorded: t("recorded"), simulated: t("SIMULATED") }[kind] ?? kind;
  return h("span", { class: `kind ${kind}` }, text);
}

/** Whether I may take it back by myself: it is my own, or the camera's, and nothing was revealed since. */
export const undoIsMine = (undo) => (undo.by === store.me.id || undo.by === "camera") && !undo.needs_agreement;

/** Whether this phone may take back what was done last: by itself or, the host's, when the table agrees. */
export const mayUndo = (match) => Boolean(match.can_undo) && mayAct() && (undoIsMine(match.can_undo) || isHost());

/** The way back: the newest entry, what it was, and whether the table must agree. */
export function undoButton(match) {
  const undo = match.can_undo;
  if (!mayUndo(match)) return null;
  return h("button", { type: "button", class: "round-button", "data-do": "undo", "data-key": "undo",
    "aria-label": t("Take back: %(what)s", { what: said(undo) }), title: t("Take back: %(what)s", { what: said(undo) }) },
    icon("undo"));
}

/** What was refused, and why. */
export function refusal(refused) {
  if (!refused) return null;
  return h("div", { class: "refusal", role: "alert" },
    h("p", null, said(refused)),
    clauses(refused.clauses),
    h("button", { type: "button", class: "round-button", "data-do": "close-refusal", "aria-label": t("Close") },
      icon("close")));
}

/** What happened, the newest first. */
export const log = (view) => keep("log", [view.log, store.away, wordsKnown()], () => logged(view));

function logged(view) {
  const since = store.away === null ? [] : view.log.filter((entry) => entry.seq > store.away);
  return h("section", { class: "panel log", "data-key": "log" },
    h("h2", null, t("What happened")),
    since.length > 0 && h("p", { class: "since", role: "status" }, tn("%(n)s entry since you looked", "%(n)s entries since you looked", since.length), " ",
      h("button", { type: "button", class: "small-button", "data-do": "looked" }, t("Seen"))),
    view.log.length
      ? h("ol", { tabindex: 0, "aria-label": t("What happened") }, [...view.log].reverse().map((entry) =>
          h("li", { "data-key": `log${entry.seq}`, class: [entry.undone && "undone", store.away !== null && entry.seq > store.away && "fresh"] },
            h("time", { datetime: new Date(entry.at).toISOString() }, clock(entry.at)),
            h("span", null, entry.by === "camera" && entry.device ? [icon("camera"), " ", kindMark(entry.device), " "] : null, said(entry), entry.undone ? h("span", { class: "unseen" }, ` (${t("taken back")})`) : null))))
      : h("p", { class: "quiet" }, t("Nothing yet.")));
}
