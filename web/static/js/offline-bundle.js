// The training that was taken along: one page without a table, a network or a server. What is answered stays on this
// device where the browser lets it, and goes home as a small file or as text.

import { icon, useSprite } from "./art.js";
import { h, patch } from "./dom.js";
import { memory } from "./store.js";
import { COUNTS, confusion, errorChart, exactChart, numbersTable, summary } from "./training-charts.js";
import { choose } from "./training-drills.js";
import { outcomes, statistics } from "./training-statistics.js";
import { compare, keypad, kindOf, pastShake, player, resultOf, sound } from "./training-parts.js";
import { sounded, wav } from "./training-sound.js";
import { t, teach, tn } from "./words.js";

const page = JSON.parse(document.getElementById("page").textContent);
const slot = (id) => document.getElementById(id);
const audio = slot("audio");
const SPEEDS = { full: 1, half: 0.5, quarter: 0.25 };
const MOST_ANSWERS = 2000;
const PAST = 24;
const ME = 1;
const KEY = `along-${page.file}`;

const fits = (one) => Array.isArray(one) && one.length === 3 && page.shakes[one[0]] && COUNTS.includes(one[1]) && Number.isSafeInteger(one[2]);

const now = {
  answers: [], // [place of the shake, number said, UTC milliseconds], oldest first
  round: null,
  playing: null,
  past: PAST,
  stored: true,
};

const room = () => location.hash.slice(1) || "drill";
const answered = () => now.answers.map(([place, guess]) => ({ truth: page.shakes[place].truth, guess, machine: page.shakes[place].machine }));

function alter(changes) {
  Object.assign(now, changes);
  draw();
}

function restore() {
  const stored = memory.get(KEY, []);
  now.answers = Array.isArray(stored) ? stored.filter(fits) : [];
}

function save() {
  memory.set(KEY, now.answers);
  now.stored = memory.get(KEY, []).length === now.answers.length;
}

// --- sound

let sounding = null;

function hear(place, speed, button) {
  if (sounding) URL.revokeObjectURL(sounding);
  sounding = URL.createObjectURL(wav(sounded(page.shakes[place], SPEEDS[speed], page.heard)));
  return sound(audio, sounding, button, alter);
}

function stop() {
  audio.pause();
  alter({ playing: null });
}

// --- drills

/** One of the shakes of so many beads that were heard least often. */
function least(count) {
  const timesHeard = (place) => now.answers.filter((one) => one[0] === place).length;
  const places = page.shakes.flatMap((one, place) => (one.truth === count ? [place] : []));
  const fewest = Math.min(...places.map(timesHeard));
  const open = places.filter((place) => timesHeard(place) === fewest);
  return open[Math.floor(Math.random() * open.length)];
}

function deal() {
  // The shake that is open stays so when the page is opened again: none is skipped because it is hard.
  const open = memory.get(`open-${KEY}`, null);
  const place = open?.after === now.answers.length && page.shakes[open.place] ? open.place
    : least(choose(now.answers.slice(-600).map(([at, guess]) => [page.shakes[at].truth, guess])));
  memory.set(`open-${KEY}`, { place, after: now.answers.length });
  alter({ round: { id: String(now.answers.length), place, number: now.answers.length + 1, kind: "simulated", shown: false } });
}

function answer(guess) {
  const { round } = now;
  const { truth, machine, wave } = page.shakes[round.place];
  // No two answers have the same moment: it is their name at home.
  const at = Math.max(Date.now(), (now.answers.at(-1)?.[2] ?? 0) + 1);
  now.answers.push([round.place, guess, at]);
  save();
  alter({ round: { ...round, shown: true, result: { truth, machine, wave, guesses: { [ME]: guess } } } });
  slot("announcer").textContent = t("There were %(truth)s beads.", { truth });
  document.querySelector(".next")?.focus();
}

function again() {
  const past = now.answers.map(([place, guess], at) => ({ id: `past-${at}`, truth: page.shakes[place].truth, guess })).reverse().slice(1);
  return past.length > 0 && h("details", { class: "past", "data-key": "past" }, h("summary", null, t("Hear the last ones again")),
    h("ul", { class: "row" }, past.slice(0, now.past).map((one) => h("li", { "data-key": one.id }, pastShake(one, now.playing)))),
    past.length > now.past && h("button", { type: "button", class: "second", "data-do": "more" }, t("Older ones")));
}

function tally() {
  const { right, near, off } = outcomes(answered());
  return now.answers.length > 0 && h("p", { class: "quiet tally" }, t("Right: %(right)s. One off: %(near)s. Further off: %(off)s.", { right, near, off }));
}

function drill() {
  const { round } = now;
  if (!round && now.answers.length >= MOST_ANSWERS) {
    return h("section", { class: "panel", "data-key": "full" }, h("p", { class: "sentence" }, t("This file is full. Bring the results home and take another along.")));
  }
  return h("section", { class: "panel drill", "data-key": "drill" },
    h("h1", null, t("Shake %(number)s", { number: round.number }), " ", kindOf(round)),
    h("p", { class: "sentence" }, round.shown ? t("Listen again, now that you know.") : t("Listen as often as you like: how many beads are in it?")),
    player(now.playing),
    !round.shown && keypad("guess", t("Your answer")),
    round.shown && [
      resultOf(round, ME, () => t("You")),
      h("button", { type: "button", class: "main next", "data-do": "deal" }, icon("shake"), t("Next shake")),
      compare(round, ME, now.playing),
      again(),
    ],
    tally());
}

// --- progress, and the way home

function progress() {
  const all = { ...statistics(answered(), page.published), name: t("On the way") };
  return h("div", { class: "progress", "data-key": "progress" },
    summary(all),
    tally(),
    now.answers.length > 0 && [
      h("section", { class: "panel charts" }, h("h2", null, t("Progress")), errorChart(all), exactChart(all)),
      confusion(all),
      numbersTable(all),
    ]);
}

const parcel = { size: -1, href: "", text: "" };

/** What is brought home, as text and as a file. */
function packed() {
  if (parcel.size !== now.answers.length) {
    if (parcel.href) URL.revokeObjectURL(parcel.href);
    parcel.size = now.answers.length;
    parcel.text = JSON.stringify({ format: page.format, file: page.file, answers: now.answers });
    parcel.href = URL.createObjectURL(new Blob([parcel.text], { type: "application/json" }));
  }
  return parcel;
}

function home() {
  const many = now.answers.length;
  const { href, text } = packed();
  return h("section", { class: "panel", "data-key": "home" },
    h("h1", null, t("Bring home")),
    h("p", { class: "sentence" }, tn("%(n)s answer so far.", "%(n)s answers so far.", many)),
    h("p", null, now.stored ? t("They stay on this device, in this file.") : t("This browser keeps nothing for this file: save the results before you close it.")),
    many > 0 && [
      h("p", null, t("At home, open the training room, “On the way”, and give it the saved file or this text. Nothing is counted twice.")),
      h("p", null, h("a", { class: "main", href, download: `companion-training-${page.file}.json`, "data-do": "save" }, t("Save the results"))),
      h("label", { for: "results" }, t("The results as text")),
      h("textarea", { id: "results", rows: 5, readonly: true, "data-key": `text-${many}` }, text),
      h("p", null, h("button", { type: "button", class: "second", "data-do": "select" }, t("Select the text"))),
    ]);
}

// --- the whole

function tabs() {
  const link = (name, words) => h("a", { href: `#${name}`, class: "tab", "aria-current": room() === name ? "page" : null }, words);
  return h("nav", { class: "tabs", "aria-label": t("Training") }, link("drill", t("Drill")), link("progress", t("Progress")), link("home", t("Bring home")));
}

function draw() {
  patch(slot("tabs"), [tabs(), !now.stored && room() !== "home" && h("p", { class: "refusal", role: "status" }, t("This browser keeps nothing for this file: save the results before you close it."))]);
  patch(slot("stage"), [room() === "progress" ? progress() : room() === "home" ? home() : drill()]);
}

const DO = {
  deal: () => {
    stop();
    if (now.answers.length >= MOST_ANSWERS) return alter({ round: null });
    deal();
    return hear(now.round.place, "full", "full");
  },
  play: ({ speed }) => hear(now.round.place, speed, speed),
  stop,
  guess: ({ count }) => { stop(); answer(Number(count)); },
  example: ({ count }) => {
    const others = page.shakes.flatMap((one, place) => (one.truth === Number(count) && place !== now.round.place ? [place] : []));
    hear(others[Math.floor(Math.random() * others.length)], "full", `example-${count}`);
  },
  past: ({ round }) => hear(now.answers[Number(round.slice("past-".length))][0], "full", round),
  more: () => alter({ past: now.past + PAST }),
  select: () => { slot("results").focus(); slot("results").select(); },
};

teach(page.language, page.words);
useSprite("");
restore();
save();
document.addEventListener("click", (event) => {
  const element = event.target.closest?.("[data-do]");
  if (element && !element.disabled) DO[element.dataset.do]?.({ ...element.dataset });
});
addEventListener("hashchange", () => {
  stop();
  slot("stage").focus({ preventScroll: true });
});
audio.addEventListener("ended", () => alter({ playing: null }));
if (now.answers.length < MOST_ANSWERS) deal();
else draw();
