// The training room: whose turn it is, the shake that is played, the answer, and what came of it.

import { h, patch } from "./dom.js";
import { icon, useSprite } from "./art.js";
import { doors } from "./doors.js";
import { alike, nameField } from "./faces.js";
import { wholeWave } from "./waveform.js";
import { entitle } from "./my-turn.js";
import { ask, tell } from "./net.js";
import { confusion, curve, errorChart, exactChart, numbersTable, posterior, summary, weeksChart } from "./training-charts.js";
import { forgetImport, importResults, offlineBundle, watchOfflineBundle } from "./training-offline-bundle.js";
import { change, isHost, mayAct, onChange, store } from "./store.js";
import { listen as hear } from "./stream.js";
import { onTheBalance } from "./training-balance.js";
import { compare, keypad, kindOf, player, resultOf, sound } from "./training-parts.js";
import { forgetHistory, historyList, moreHistory } from "./training-history.js";
import { learn, list, number, percent, said, t, tn } from "./words.js";

const page = JSON.parse(document.getElementById("page").textContent);
const slot = (id) => document.getElementById(id);
const audio = slot("audio");
const house = document.title;
const REMEMBERED = "training-person";
const LISTEN_MS = 700;
const DUEL_MS = 1000;

const now = {
  people: null, igloo: null, duels: [], ladder: [], // as /api/training gives them
  who: Number(localStorage.getItem(REMEMBERED)) || null,
  source: "stored",
  round: null, // the shake of the drill
  duel: null, // the duel that this phone plays
  answering: null, // who answers it on this phone
  statistics: null,
  forgetting: null,
  playing: null,
  busy: false,
  refused: null,
};

const room = () => location.hash.slice(1) || "drill";
const nameOf = (person) => now.people?.find((one) => one.person === person)?.name ?? t("somebody");

function alter(changes) {
  Object.assign(now, changes);
  draw();
}

function refuse(refused) {
  now.refused = refused?.error ?? { en: t("The table did not answer. Nothing is lost: try again.") };
  return null;
}

let underWay = Promise.resolve();

/** Do one thing at a time with the table; what it refuses is shown. */
async function doing(work) {
  if (now.busy) return null;
  alter({ busy: true, refused: null });
  try {
    return await (underWay = work());
  } catch (refused) {
    return refuse(refused);
  } finally {
    alter({ busy: false });
  }
}

/** Read what a room shows, whatever else is under way. */
async function read(address) {
  try {
    return await ask(address);
  } catch (refused) {
    return refuse(refused);
  }
}

/** Who said at the table whose phone this is trains under that name. */
async function trainsAs(label) {
  const called = (one) => alike(one.name ?? "", label);
  if (!now.people.some(called)) {
    await doing(() => tell("/api/training/people", { name: label }));
    now.people = (await read("/api/training"))?.people ?? now.people;
  }
  now.who = now.people.find(called)?.person ?? null;
}

/** Who trains on a phone that is nobody's yet has it at the table too; the host's may be the whole table's. */
async function isMine(person) {
  if (store.me.label || isHost()) return;
  const answer = await tell("/api/me", { name: nameOf(person) }).catch(() => null);
  if (answer) change((s) => { s.me = answer.me; });
}

async function look() {
  const answer = await read("/api/training");
  if (!answer) return draw();
  Object.assign(now, answer);
  if (!now.people.some((one) => one.person === now.who)) now.who = null;
  if (!now.who && store.me.label) await trainsAs(store.me.label);
  draw();
  enter();
}

/** Fetch what the room that is entered shows. */
async function enter() {
  if (!mayAct() || !now.people) return;
  if (room() === "drill" && now.who && !now.round) await deal(false);
  if (room() === "progress" && now.who) {
    const { who } = now;
    const statistics = await read(`/api/training/people/${who}/figures`);
    if (now.who === who) alter({ statistics });
  }
  if (room() === "along") watchOfflineBundle(alter, () => room() === "along");
  if (room() === "ladder" || (room() === "duel" && !now.duel)) {
    alter(await read("/api/training") ?? {});
  }
}

// --- sound

const soundOf = (round, speed) => `/api/training/rounds/${encodeURIComponent(round.id)}/${speed}.wav`;

const playAt = (address, button) => sound(audio, address, button, alter);
const play = (round, speed) => playAt(soundOf(round, speed), speed);

function stop() {
  audio.pause();
  alter({ playing: null });
}

// --- drills

async function deal(sounding = true) {
  // Somebody else, or another source, was chosen before the shake had come.
  await underWay.catch(() => {});
  const round = await doing(() => tell("/api/training/rounds", { person: now.who, source: now.source }));
  if (!round || round.person !== now.who || round.source !== now.source) return;
  alter({ round });
  if (round.source === "igloo") listen();
  else if (sounding && !round.shown && room() === "drill") play(round, "full");
}

let listening = 0;

/** Ask after the igloo until it was heard. */
function listen() {
  listening += 1;
  const mine = listening;
  const again = async () => {
    if (mine !== listening || now.round?.state !== "listening" || room() !== "drill") return;
    try {
      const round = await ask(`/api/training/rounds/${encodeURIComponent(now.round.id)}`);
      if (mine !== listening) return;
      alter({ round, refused: null });
    } catch (refused) {
      if (refused?.error) alter({ refused: refused.error });
    }
    setTimeout(again, LISTEN_MS);
  };
  setTimeout(again, LISTEN_MS);
}

/** What was said and what there was, one after the other; and all that was answered, to be heard again. */
const again = (round) => [compare(round, now.who, now.playing), historyList(now.who, round.id, now.playing)];

function drillWords(round) {
  if (round.state === "listening") return t("Take the igloo and shake it for two or three seconds.");
  if (round.state === "look") return t("Turn the igloo over: which number is under it?");
  if (round.state === "done") return t("Listen again, now that you know.");
  return round.source === "igloo" ? t("I heard it. How many beads are in it?") : t("Listen as often as you like: how many beads are in it?");
}

function nobody(title, words) {
  return h("section", { class: "panel", "data-key": "nobody" }, h("h1", null, title), h("p", { class: "sentence" }, words));
}

function drill() {
  const { round } = now;
  if (!now.who) return nobody(t("How many beads are in it? Learn to hear it."), t("Say who you are, and the first shake is yours."));
  return [h("section", { class: "panel drill", "data-key": "drill", "data-state": round?.state ?? "none" },
    now.igloo && h("fieldset", { class: "sources" }, h("legend", null, t("What is shaken")),
      [["stored", t("Stored shakes")], ["igloo", t("The igloo on the table")]].map(([source, words]) =>
        h("button", { type: "button", class: "toggle", "data-do": "source", "data-source": source, "aria-pressed": now.source === source ? "true" : "false" }, words))),
    round ? [
      h("h1", null, round.source === "igloo" ? t("The igloo on the table") : t("Shake %(number)s", { number: round.number }), " ", kindOf(round)),
      h("p", { class: "sentence" }, drillWords(round)),
      round.sound && player(now.playing),
      round.state === "heard" && keypad("guess", t("Your answer"), now.busy),
      round.state === "look" && keypad("truth", t("The number under the igloo"), now.busy),
      round.result && resultOf(round, now.who, nameOf),
      round.shown && h("button", { type: "button", class: "main next", "data-do": "deal" }, icon("shake"), t("Next shake")),
      round.result && again(round),
    ] : [
      h("h1", null, t("How many beads are in it? Learn to hear it.")),
      h("button", { type: "button", class: "main", "data-do": "deal" }, icon("shake"), t("Deal me a shake")),
    ]),
  round?.state === "look" && onTheBalance(round.id, { DO, wanted: () => now.round?.id === round.id && now.round.state === "look" && room() === "drill" })];
}

// --- duels

const inDuel = () => now.duel && room() === "duel";

async function watchDuel() {
  if (!inDuel() || now.duel.over) return;
  try {
    const before = now.duel;
    const duel = await ask(`/api/training/duels/${encodeURIComponent(before.id)}`);
    // What was tapped meanwhile has brought a newer one.
    if (now.duel === before && JSON.stringify(duel) !== JSON.stringify(before)) alter({ duel });
  } catch (refused) {
    if (refused?.error) alter({ refused: refused.error });
  }
  setTimeout(watchDuel, DUEL_MS);
}

function enterDuel(duel) {
  if (!duel) return;
  alter({ duel, answering: duel.people.some((one) => one.person === now.who) ? now.who : null });
  setTimeout(watchDuel, DUEL_MS);
}

function duelSetup() {
  return h("section", { class: "panel", "data-key": "duel-setup" },
    h("h1", null, t("A duel")),
    h("p", null, t("All hear the same shakes, on one phone or on several. Three points for the right number, one for a neighbour.")),
    now.duels.map((one) => h("button", { type: "button", class: "second", "data-do": "join-duel", "data-duel": one.id, "data-key": one.id },
      t("Play on: %(who)s", { who: list(one.people.map((name) => name ?? t("somebody"))) }))),
    now.people.length < 2 ? h("p", { class: "sentence" }, t("A duel needs two: enter another name above."))
      : h("form", { "data-submit": "duel" },
        h("fieldset", { class: "choice" }, h("legend", null, t("Who plays")),
          now.people.map((one) => h("label", { "data-key": `p${one.person}` }, h("input", { type: "checkbox", name: "people", value: one.person }), one.name))),
        h("fieldset", { class: "choice across" }, h("legend", null, t("How many shakes")),
          [3, 5, 10].map((many) => h("label", null, h("input", { type: "radio", name: "rounds", value: many, checked: many === 5 }), many))),
        h("p", { class: "complaint", id: "duel-complaint", role: "alert" }),
        h("button", { type: "submit", class: "main" }, t("Begin"))));
}

function duelPoints(duel) {
  const answered = (person) => duel.round.answered.includes(person);
  return h("ul", { class: "duellists" }, duel.people.map((one) => h("li", { "data-key": `d${one.person}`, class: duel.winners.includes(one.person) && "winner" },
    duel.winners.includes(one.person) && icon("crown"),
    h("span", { class: "name" }, one.name ?? t("somebody")),
    h("b", null, tn("%(n)s point", "%(n)s points", one.points)),
    !duel.over && h("span", { class: "quiet" }, answered(one.person) ? t("has answered") : t("listens")))));
}

function duelAnswers(round) {
  const { truth, guesses, points } = round.result;
  return h("section", { "data-key": `result-${round.id}`, class: "result-of" },
    h("p", { class: "truth-shown" }, h("strong", null, truth), " ", h("span", null, t("beads"))),
    h("table", null,
      h("thead", null, h("tr", null, h("th", { scope: "col" }, t("Player")), h("th", { scope: "col" }, t("Said")), h("th", { scope: "col" }, t("Points")))),
      h("tbody", null, Object.entries(guesses).map(([person, guess]) => h("tr", null,
        h("th", { scope: "row" }, nameOf(Number(person))), h("td", null, guess), h("td", null, points[person]))))),
    posterior(round.result, nameOf),
    round.result.wave && wholeWave(round.result.wave));
}

function duelPlay() {
  const { duel, answering } = now;
  const { round } = duel;
  const open = duel.people.filter((one) => !round.answered.includes(one.person));
  const mine = open.find((one) => one.person === answering);
  return h("section", { class: "panel", "data-key": "duel-play" },
    h("h1", null, duel.over ? t("The duel is over") : t("Shake %(number)s of %(rounds)s", { number: round.number, rounds: duel.rounds }), " ", kindOf(round)),
    duelPoints(duel),
    player(now.playing),
    !round.shown && !duel.over && [
      h("fieldset", { class: "sources" }, h("legend", null, t("Who answers on this phone")),
        open.map((one) => h("button", { type: "button", class: "toggle", "data-do": "answering", "data-person": one.person, "data-key": `a${one.person}`, "aria-pressed": mine?.person === one.person ? "true" : "false" }, one.name ?? t("somebody")))),
      mine ? keypad("duel-guess", t("The answer of %(name)s", { name: mine.name }), now.busy) : h("p", { class: "sentence" }, t("Nobody sees a number until everybody has answered.")),
    ],
    round.result && duelAnswers(round),
    h("p", { class: "row" },
      round.shown && !duel.over && h("button", { type: "button", class: "main next", "data-do": "duel-next" }, icon("shake"), t("Next shake")),
      duel.over ? h("button", { type: "button", class: "main", "data-do": "leave-duel" }, t("Another duel"))
        : h("button", { type: "button", class: "second", "data-do": "close-duel" }, t("End the duel"))));
}

// --- progress and ladder

function progress() {
  const { statistics } = now;
  if (!now.who) return nobody(t("Progress"), t("Say who you are to see your progress."));
  if (statistics?.person !== now.who) return h("p", { class: "quiet" }, t("One moment …"));
  return h("div", { class: "progress", "data-key": "progress" },
    summary(statistics),
    statistics.overall.own.answers > 0 && [
      h("section", { class: "panel charts" }, h("h2", null, t("Progress")), curve(statistics), errorChart(statistics), exactChart(statistics), weeksChart(statistics)),
      confusion(statistics),
      numbersTable(statistics),
    ],
    isHost() && h("section", { class: "panel" },
      h("h2", null, t("The name")),
      now.forgetting === now.who
        ? h("p", { class: "row" }, t("The name will be gone for good; the figures stay as nobody’s."),
          h("button", { type: "button", class: "second", "data-do": "forget" }, t("Forget it")),
          h("button", { type: "button", class: "second", "data-do": "keep-name" }, t("Keep it")))
        : h("p", null, h("button", { type: "button", class: "second", "data-do": "ask-forget" }, t("Forget this name")))));
}

function ladderRoom() {
  const names = { machine: t("The machine, same shakes"), published: t("People, as published"), chance: t("Chance: every number equally likely") };
  return h("section", { class: "panel", "data-key": "ladder" },
    h("h1", null, t("The ladder")),
    h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": t("The ladder") },
      h("table", { class: "ladder" },
        h("thead", null, h("tr", null, [t("Rung"), t("Who"), t("Off by"), t("Right"), t("Answers")].map((words) => h("th", { scope: "col" }, words)))),
        h("tbody", null, now.ladder.map((row, i) => h("tr", { class: row.who, "data-key": `${row.who}${row.person ?? ""}` },
          h("td", null, i + 1),
          h("th", { scope: "row" }, i === 0 && row.who === "person" && icon("crown"), row.name ?? names[row.who]),
          h("td", null, number(row.error, 2)),
          h("td", null, row.exact === null ? "–" : percent(Math.round(row.exact * 100) / 100)),
          h("td", null, row.answers ?? "–")))))),
    h("p", { class: "quiet" }, t("Off by: the mean error in beads. The order gives every number the same weight and starts each with two published answers from other people, so that nobody leads by luck.")));
}

// --- the whole

function tabs() {
  if (!mayAct()) return null;
  const link = (name, words) => h("a", { href: `#${name}`, class: "tab", "aria-current": room() === name ? "page" : null }, words);
  return [
    h("nav", { class: "tabs", "aria-label": t("Training") },
      link("drill", t("Drill")), link("duel", t("Duel")), link("progress", t("Progress")), link("ladder", t("Ladder")), link("along", t("On the way"))),
    now.people && room() !== "ladder" && h("section", { class: "who-trains", "aria-label": t("Who trains") },
      h("div", { class: "row" }, now.people.map((one) => h("button", {
        type: "button", class: "toggle", "data-do": "who", "data-person": one.person, "data-key": `w${one.person}`, "aria-pressed": now.who === one.person ? "true" : "false",
      }, one.name))),
      h("form", { class: "newcomer", "data-submit": "newcomer" },
        h("label", { class: "unseen", for: "newcomer" }, t("Another name")),
        nameField({ id: "newcomer", name: "name", placeholder: t("Another name"), required: true }),
        h("button", { type: "submit", class: "second" }, t("Add")))),
  ];
}

function stage() {
  if (!mayAct()) {
    return h("section", { class: "panel" }, h("h1", null, t("Training")),
      h("p", { class: "sentence" }, t("How many beads are in it? Learn to hear it.")),
      h("p", null, h("a", { class: "main", href: "/join" }, icon("people"), t("Join"))));
  }
  if (!now.people) return h("p", { class: "quiet" }, t("One moment …"));
  if (room() === "duel") return now.duel ? duelPlay() : duelSetup();
  if (room() === "progress") return progress();
  if (room() === "along") return offlineBundle(now.who ? nameOf(now.who) : null);
  return room() === "ladder" ? ladderRoom() : drill();
}

function refusalBox() {
  const refused = now.refused ?? store.refusal;
  return refused && h("div", { class: "refusal", role: "alert" }, h("p", null, said(refused)),
    h("button", { type: "button", class: "round-button", "data-do": "close-refusal", "aria-label": t("Close") }, icon("close")));
}

function draw() {
  const focused = document.activeElement;
  entitle(house);
  patch(slot("doors"), doors("/training", "/"));
  patch(slot("tabs"), [tabs()]);
  patch(slot("refusal"), [refusalBox()]);
  patch(slot("stage"), [stage()]);
  if (focused && focused !== document.body && !focused.isConnected) (document.querySelector(".next") ?? slot("stage")).focus({ preventScroll: true });
}

function sayTruth(round) {
  if (!round?.result) return;
  forgetHistory();
  slot("announcer").textContent = t("There were %(truth)s beads.", { truth: round.result.truth });
}

const roundPath = (round, what) => `/api/training/rounds/${encodeURIComponent(round.id)}/${what}`;
const duelPath = (what) => `/api/training/duels/${encodeURIComponent(now.duel.id)}/${what}`;

async function leaveIgloo() {
  const { round } = now;
  listening += 1;
  if (round?.source === "igloo" && !round.answered.length) await doing(() => tell(roundPath(round, "drop"), {}));
}

const DO = {
  who: async ({ person }) => {
    await leaveIgloo();
    forgetImport();
    localStorage.setItem(REMEMBERED, person);
    stop();
    alter({ who: Number(person), round: null, statistics: null, forgetting: null, answering: now.duel ? Number(person) : null });
    isMine(now.who);
    enter();
  },
  source: async ({ source }) => {
    if (source === now.source) return;
    await leaveIgloo();
    stop();
    alter({ source, round: null });
    deal(false);
  },
  deal: () => now.busy || deal(),
  play: ({ speed }) => play(room() === "duel" ? now.duel.round : now.round, speed),
  example: ({ count }) => playAt(`/api/training/examples/${count}/full.wav?${Date.now()}`, `example-${count}`),
  past: ({ round }) => playAt(soundOf({ id: round }, "full"), round),
  "past-open": () => moreHistory(now.who, doing, alter, true),
  "past-more": () => moreHistory(now.who, doing, alter),
  stop,
  guess: async ({ count }) => {
    const round = await doing(() => tell(roundPath(now.round, "guess"), { person: now.who, guess: Number(count) }));
    if (!round) return;
    alter({ round });
    sayTruth(round);
    document.querySelector(".next")?.focus();
  },
  truth: async ({ count }) => {
    const round = await doing(() => tell(roundPath(now.round, "truth"), { truth: Number(count) }));
    if (!round) return;
    alter({ round });
    sayTruth(round);
    document.querySelector(".next")?.focus();
  },
  "join-duel": async ({ duel }) => enterDuel(await doing(() => ask(`/api/training/duels/${encodeURIComponent(duel)}`))),
  answering: ({ person }) => alter({ answering: Number(person) }),
  "duel-guess": async ({ count }) => {
    const person = now.answering;
    const round = await doing(() => tell(roundPath(now.duel.round, "guess"), { person, guess: Number(count) }));
    if (!round) return;
    const duel = await doing(() => ask(`/api/training/duels/${encodeURIComponent(now.duel.id)}`));
    // Who answers next may have been chosen meanwhile.
    if (duel) alter({ duel, answering: now.answering === person ? null : now.answering });
    sayTruth(round);
  },
  "duel-next": async () => {
    const duel = await doing(() => tell(duelPath("next"), { after: now.duel.round.number }));
    if (!duel) return;
    alter({ duel, answering: duel.people.some((one) => one.person === now.who) ? now.who : null });
    play(duel.round, "full");
  },
  "close-duel": async () => {
    const duel = await doing(() => tell(duelPath("close"), {}));
    if (duel) alter({ duel });
  },
  "leave-duel": () => { stop(); alter({ duel: null }); enter(); },
  "ask-forget": () => alter({ forgetting: now.who }),
  "keep-name": () => alter({ forgetting: null }),
  forget: async () => {
    if (!(await doing(() => tell(`/api/training/people/${now.who}`, { name: null })))) return;
    localStorage.removeItem(REMEMBERED);
    alter({ who: null, statistics: null, forgetting: null, round: null });
    look();
  },
  "import-stored": async () => {
    await importResults(null, now.who, doing);
    alter({ statistics: null });
  },
  "close-refusal": () => { change((s) => { s.refusal = null; }); alter({ refused: null }); },
};

const SUBMIT = {
  newcomer: async (form) => {
    const added = await doing(() => tell("/api/training/people", { name: new FormData(form).get("name") }));
    if (!added) return;
    form.reset();
    await look();
    await DO.who({ person: String(added.person) });
  },
  "import-results": async (form) => {
    if (await importResults(form, now.who, doing)) now.statistics = null;
    draw();
  },
  duel: async (form) => {
    const fields = new FormData(form);
    const people = fields.getAll("people").map(Number);
    slot("duel-complaint").textContent = people.length < 2 ? t("Choose at least two.") : "";
    if (people.length >= 2) enterDuel(await doing(() => tell("/api/training/duels", { people, rounds: Number(fields.get("rounds")) })));
  },
};

function follow() {
  document.addEventListener("click", (event) => {
    const element = event.target.closest?.("[data-do]");
    if (element && !element.disabled) DO[element.dataset.do]?.({ ...element.dataset });
  });
  document.addEventListener("submit", (event) => {
    const known = SUBMIT[event.target.dataset.submit];
    if (!known) return;
    event.preventDefault();
    known(event.target);
  });
  document.addEventListener("change", (event) => {
    if (event.target.dataset?.change === "results-file") event.target.form.requestSubmit();
  });
  addEventListener("hashchange", () => {
    stop();
    forgetImport();
    alter({ refused: null });
    slot("stage").focus({ preventScroll: true });
    enter();
    if (inDuel()) watchDuel();
    if (room() === "drill" && now.round?.state === "listening") listen();
  });
  audio.addEventListener("ended", () => alter({ playing: null }));
}

await learn(page.language, page.words, () => draw());
useSprite(document.querySelector("link[rel=icon]").href.replace(/[^/]*$/, "icons.svg"));
store.me = page.me;
follow();
onChange(draw);
draw();
if (mayAct()) {
  hear({ ...page, beside: true }, () => {});
  look();
}
