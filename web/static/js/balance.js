// The referee's balance: which device it is, tare, calibrate, how good it is, and what an igloo holds.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { showRefusal, tell } from "./net.js";
import { change, liveRound, store, takeBalance } from "./store.js";
import { number, percent, t, tn } from "./words.js";

const COUNTS = Array.from({ length: 12 }, (_, i) => i + 2);
/** Euro coins, g: three of them make grams. */
const COINS = [["1 c", 2.3], ["2 c", 3.06], ["5 c", 3.92], ["1 €", 7.5], ["2 €", 8.5]];

async function doing(path, body = {}) {
  try {
    takeBalance(await tell(`/api/balance/${path}`, body));
    change((s) => { s.refusal = null; });
  } catch (refused) {
    showRefusal(refused.error);
  }
}

/** Somebody came to this part. */
export const opened = () => style("igloo");

const named = (one) => (one.kind === "simulated" ? t("the simulated igloo") : one.key);

const weigh = (what, words, { value = 0, main = false, off = false, key = false } = {}) =>
  h("button", { type: "button", class: key ? "key" : main ? "main" : "second", "data-do": "balance-weigh", "data-what": what, "data-value": value, "data-key": `w-${what}-${value}`, disabled: off }, words);

function role(now) {
  const { balance, candidates } = now;
  return h("section", { class: "panel", "data-key": "role" },
    h("h2", null, t("Which device is the balance?")),
    h("p", { class: "quiet" }, t("It is remembered. A balance counts no shakes and enters no round; an igloo may be plugged in beside it.")),
    balance && !balance.there && h("p", { class: "note" }, t("The balance is not there: plug it in.")),
    h("div", { class: "row" }, candidates.map((one) => h("button", { type: "button", class: "toggle", "data-do": "balance-role", "data-to": one.key, "data-key": `b-${one.key}`,
      "aria-pressed": balance?.key === one.key ? "true" : "false" }, named(one)))),
    !candidates.length && h("p", { class: "quiet" }, t("No sensor is connected. Plug one in, and it appears here.")),
    balance && h("button", { type: "button", class: "second", "data-do": "balance-role", "data-to": "", "data-key": "no-role" }, t("None of them is the balance")));
}

function listening(now) {
  const { listening: at } = now;
  if (!at) return null;
  return h("div", { class: "stack", "data-key": "listening" },
    h("p", { class: "sentence", role: "status" }, t("Tap the platform lightly, three times.")),
    h("progress", { class: "shaken", max: at.of, value: at.seconds, "aria-label": t("The weighing") }),
    h("button", { type: "button", class: "second", "data-do": "balance-stop" }, t("Stop")));
}

function verdict(answer) {
  if (!answer) return null;
  if (!answer.posterior) return h("p", { class: "note", role: "status", "data-key": "answer" }, t(answer.why));
  const sure = percent(Math.max(...Object.values(answer.posterior)));
  return h("div", { class: "instruction", "data-key": "answer", "data-state": answer.state, "data-count": answer.count },
    h("p", { class: "wanted", role: "status" }, h("strong", null, answer.count), h("span", null, tn("bead", "beads", answer.count))),
    h("p", { class: "quiet" }, t("%(sure)s sure", { sure }), answer.grams === null ? null : ` · ${number(answer.grams, 2)} g`),
    answer.state === "more" && h("p", { class: "note" }, t(answer.why)));
}

/** Whose shells were weighed, by sticker. */
const shellsOf = (now) => now.calibration.shells ?? [];

const toPutOn = (at) =>
  (at.stage === "before" ? t("Tap the empty platform lightly, three times.")
    : at.stage === "after" ? t("Take it off, and tap the empty platform three times.")
    : at.empty ? t("Put the empty shell of igloo %(igloo)s on, let go, and tap it three times.", { igloo: at.igloo })
    : t("Put igloo %(igloo)s on, let go, and tap it three times.", { igloo: at.igloo }));

function told(one) {
  const facts = { igloo: one.igloo, n: one.count };
  if (one.state === "counted") return t("Igloo %(igloo)s holds %(n)s.", facts);
  return one.posterior ? t("Igloo %(igloo)s may hold %(n)s: weigh it again.", facts) : t("Igloo %(igloo)s: no count.", facts);
}

/** What a box holds: first what is not as its sticker says. */
function boxTold(at) {
  const wrong = at.told.filter((one) => !one.agrees);
  const right = at.told.length - wrong.length;
  return h("div", { class: "stack", "data-key": "box-told" },
    wrong.length > 0 && h("ul", { class: "plain" }, wrong.map((one) => h("li", { class: "row", "data-igloo": one.igloo, "data-count": one.count, "data-state": one.state, "data-key": `t-${one.igloo}` },
      h("strong", { class: one.disagrees ? "outcome bad" : "outcome" }, told(one)),
      h("button", { type: "button", class: "small-button", "data-do": "balance-choose", "data-igloo": one.igloo }, t("Weigh igloo %(igloo)s again", { igloo: one.igloo }))))),
    right > 0 && h("p", { class: "outcome good", role: "status", "data-right": right }, icon("check"), " ", tn("%(n)s igloo holds what its sticker says.", "%(n)s igloos hold what their stickers say.", right)));
}

/** A whole box: igloo after igloo is put on and tapped, and nobody touches the page. */
function box(now) {
  if (!now.calibration) return null;
  const at = now.box;
  const done = at?.stage === "done";
  return h("section", { class: "panel sitting", "data-key": "box", "data-stage": at?.stage ?? "none", "data-igloo": at?.igloo ?? "" },
    h("h2", null, at?.empty ? t("Empty shells") : t("A whole box")),
    !at && [h("p", { class: "quiet" }, t("Twelve igloos in two minutes: each is put on and tapped three times. You need not touch the page. At the end you see which of them does not hold what its sticker says.")),
      h("button", { type: "button", class: "second", "data-do": "balance-box", disabled: Boolean(now.listening) }, icon("scales"), t("Check a whole box")),
      h("p", { class: "quiet" }, t("5 mm beads weigh less than the shells differ by. Weigh the empty shells once, and such beads can be counted too.")),
      h("button", { type: "button", class: "second", "data-do": "balance-shells", disabled: Boolean(now.listening) }, t("Weigh the empty shells")),
      shellsOf(now).length > 0 && h("p", { class: "quiet", "data-shells": shellsOf(now).length }, tn("%(n)s shell was weighed.", "%(n)s shells were weighed.", shellsOf(now).length))],
    at && !done && h("p", { class: "sentence", role: "status", "data-key": "put-on" }, toPutOn(at)),
    at?.note && h("div", { class: "note row", role: "status", "data-key": "box-note" }, h("span", null, t(at.note.text, at.note)),
      at.note.other > 0 && at.note.igloo === at.last && at.last !== at.note.other && h("button", { type: "button", class: "small-button", "data-do": "balance-was", "data-igloo": at.note.other }, t("It was igloo %(igloo)s", { igloo: at.note.other }))),
    done && (at.empty ? h("p", { class: "outcome good", role: "status", "data-key": "shells-done" }, icon("check"), " ", tn("%(n)s shell was weighed.", "%(n)s shells were weighed.", at.weighed.length)) : boxTold(at)),
    at && !done && at.stage !== "before" && h("fieldset", null, h("legend", null, t("Another igloo is next")),
      h("div", { class: "keypad small" }, at.order.map((n) => h("button", { type: "button", class: "key", "data-do": "balance-choose", "data-igloo": n, "data-key": `n-${n}`, "aria-pressed": at.stage === "igloo" && n === at.igloo ? "true" : "false",
        "data-weighed": at.weighed.includes(n) ? "yes" : "no", "aria-label": at.weighed.includes(n) ? t("Igloo %(igloo)s, weighed", { igloo: n }) : t("Igloo %(igloo)s", { igloo: n }) }, n, at.weighed.includes(n) && icon("check"))))),
    at && h("div", { class: "row" },
      at.stage === "igloo" && at.weighed.length > 0 && h("button", { type: "button", class: "second", "data-do": "balance-box-end", "data-key": "box-end" }, t("These are all")),
      h("button", { type: "button", class: "second", "data-do": "balance-stop", "data-key": "box-stop" }, done ? t("Close") : t("Stop"))));
}

/** What an igloo holds; of what was weighed before, `since` so many weighings, nothing is told. */
function counting(now, since = 0) {
  if (!now.calibration) return null;
  const busy = Boolean(now.listening);
  return h("section", { class: "panel sitting", "data-key": "count" },
    h("h2", null, t("What does this igloo hold?")),
    h("p", { class: "sentence" }, now.tared ? t("Put the igloo on, press the button, and tap three times.") : t("First the empty platform: press the button, and tap three times.")),
    h("div", { class: "row" },
      weigh("unknown", [icon("scales"), t("Count")], { main: now.tared, off: busy || !now.tared }),
      weigh("tare", t("Tare: the empty platform"), { main: !now.tared, off: busy })),
    shellsOf(now).length > 0 && h("fieldset", null, h("legend", null, t("Or count it with its own shell: what does its sticker say?")),
      h("div", { class: "keypad small" }, shellsOf(now).map((n) => weigh("unknown", String(n), { value: n, off: busy || !now.tared, key: true })))),
    listening(now), !busy && now.note && h("p", { class: "note", role: "status", "data-key": "note" }, t(now.note)),
    !busy && now.weighed > since && verdict(now.answer),
    now.weighed > 0 && h("button", { type: "button", class: "second", "data-do": "balance-anew", "data-key": "anew" }, t("Forget these weighings")));
}

function good(now) {
  const card = now.calibration;
  if (!card) return null;
  return h("section", { class: "panel", "data-key": "good" },
    h("h2", null, t("How good this balance is")),
    h("p", { class: ["outcome", card.good ? "good" : "bad"], "data-good": card.good ? "yes" : "no" }, icon(card.good ? "check" : "close"), " ",
      card.good ? t("The balance is good enough to count with.") : t("Something needs fixing first:")),
    card.faults.length > 0 && h("ul", null, card.faults.map((one) => h("li", null, t(one)))),
    h("p", { class: "quiet" }, t("Empty, it swings at %(hz)s Hz.", { hz: number(card.empty_hz, 2) }),
      card.platform_g === null ? null : [" ", t("The platform weighs %(g)s g.", { g: number(card.platform_g, 1) })]));
}

function calibrating(now) {
  const busy = Boolean(now.listening);
  const off = busy || !now.tared;
  const igloos = new Set(now.known.filter((one) => one.what === "beads" && !one.why).map((one) => one.value));
  return h("details", { class: "panel", "data-key": "calibrating", open: !now.calibration },
    h("summary", null, t("Calibrate the balance")),
    h("div", { class: "stack" }, h("p", null, t("Tare first. Then three coins, each twice, and two igloos whose beads you counted, each twice. Tare between them, and at the end.")),
    weigh("tare", t("Tare: the empty platform"), { main: !now.tared, off: busy }),
    !now.calibration && [listening(now), !busy && now.note && h("p", { class: "note", role: "status", "data-key": "note" }, t(now.note))],
    h("fieldset", null, h("legend", null, t("A coin is on it")),
      h("div", { class: "keypad small" }, COINS.map(([name, grams]) => weigh("grams", name, { value: grams, off, key: true })))),
    h("fieldset", null, h("legend", null, t("An igloo with this many beads is on it")),
      h("div", { class: "keypad small" }, COUNTS.map((n) => weigh("beads", String(n), { value: n, off, key: true })))),
    h("p", { class: "quiet", "data-key": "known" }, tn("%(n)s known weighing", "%(n)s known weighings", now.known.length), " · ", tn("%(n)s tare", "%(n)s tares", now.tares)),
    h("div", { class: "row" },
      now.known.length > 0 && h("button", { type: "button", class: "second", "data-do": "balance-take-back", "data-key": "back" }, icon("undo"), t("Take the last one back")),
      igloos.size > 1 && h("button", { type: "button", class: "main", "data-do": "balance-keep", "data-key": "keep" }, icon("check"), t("Use it")))));
}

/** Draw this part of the workshop. */
export function part() {
  const { hidden, now } = store.balance;
  if (hidden || liveRound()) return h("p", { class: "panel hidden-count", "data-key": "hidden" }, icon("igloo"), t("A round is live: nothing is weighed before the check."));
  if (!now) return h("p", { class: "quiet" }, t("One moment …"));
  if (!now.balance?.there) return role(now);
  return now.box ? [box(now)] : [counting(now), box(now), good(now), calibrating(now), role(now)];
}

/** What the referee's room and a drill show of it: nothing where there is no calibrated balance, or a round is live. */
export function refereesBalance(since) {
  const { hidden, now } = store.balance;
  return !hidden && !liveRound() && now?.balance?.there && now.calibration && !now.box ? [counting(now, since)] : null;
}

export const PART_DO = {
  "balance-role": ({ to }) => doing("role", { key: to }),
  "balance-weigh": ({ what, value }) => doing("weigh", { what, value: Number(value) }),
  "balance-stop": () => doing("stop"),
  "balance-anew": () => doing("anew"),
  "balance-keep": () => doing("keep"),
  "balance-box": () => doing("box", { do: "begin" }),
  "balance-shells": () => doing("box", { do: "shells" }),
  "balance-choose": ({ igloo }) => doing("box", { do: "choose", igloo: Number(igloo) }),
  "balance-was": ({ igloo }) => doing("box", { do: "was", igloo: Number(igloo) }),
  "balance-box-end": () => doing("box", { do: "end" }),
  "balance-take-back": () => doing("take-back"),
};
