// The referee's room: first a question, as people ask; then "You can’t do that!" from the live game; at last the rulebooks.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { gameButtons, games, orFirst, part } from "./games.js";
import { lazy } from "./lazy.js";
import { ask, fetched, tell } from "./net.js";
import { example, toNotation } from "./notation.js";
import { picture } from "./picture.js";
import { clauses } from "./rulings.js";
import { ground, verdict } from "./verdict.js";
import { change, isHost, match as openMatch, mayAct, store } from "./store.js";
import { code, said, t, tn } from "./words.js";

const MOST_SHOWN = 60;
/** So many answers at first: the best one is to be read, and the board stays in reach. */
const MOST_ANSWERS = 3;
/** A rulebook, or an answer, that could not be fetched is asked for again after this while. */
const AGAIN_MS = 3000;
/** `options` are those `of` a game. */
const fresh = () => ({ game: null, book: null, query: "", found: null, answers: MOST_ANSWERS, open: null, path: [], rulings: null, where: "live", shown: 0, options: null, of: null, pick: 0, state: null });
let now = fresh();

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

const lang = () => `lang=${code()}`;
const byHand = () => location.hash === "#referee/hand";
const chosen = () => now.game ?? (byHand() ? positionByHand.here()?.game() : null) ?? openMatch()?.game ?? orFirst(null);

// --- the rulebook

async function readBook() {
  const game = chosen();
  // Before the night is known, nobody can tell which game is on the table.
  if (!store.view || now.book?.game === game || now.open === game) return;
  now.open = game;
  const book = await fetched(() => ask(`/api/rules/${game}?${lang()}`));
  const options = await fetched(() => ask(`/api/rules/${game}/options`));
  if (now.open !== game) return;
  if (!book) {
    setTimeout(() => { if (now.open === game) alter({ open: null }); }, AGAIN_MS);
    return;
  }
  alter({ book, options: options?.options ?? [], of: game, open: null, decided: store.ballot.last?.at });
}

/** The table has voted: the options are asked for anew. */
async function readOptions() {
  const { last } = store.ballot;
  if (!store.view || ("decided" in now && now.decided === last?.at)) return;
  // What was decided before somebody came is in all that is asked for.
  const news = "decided" in now;
  now.decided = last?.at;
  if (!news) return;
  if (last && last.value !== null) positionByHand.here()?.voted(last.option, last.value);
  if (!now.book) return;
  const options = await fetched(() => ask(`/api/rules/${now.book.game}/options`));
  if (options) alter({ options: options.options });
}

let request = 0;

async function search(query) {
  request += 1;
  const mine = request;
  now.query = query;
  if (!query.trim()) return alter({ found: null });
  const answer = await fetched(() => ask(`/api/rules/${chosen()}/search?${lang()}&q=${encodeURIComponent(query)}`));
  if (mine !== request) return;
  if (!answer) return setTimeout(() => { if (mine === request) search(query); }, AGAIN_MS);
  alter({ found: answer.found.map((one) => one.id), answers: MOST_ANSWERS });
}

function clauseEntry(one) {
  return h("li", { class: "entry", "data-key": one.id },
    h("h3", null, h("b", { class: "id" }, one.id), " ", one.heading),
    h("p", { class: "clause-text" }, one.text),
    one.note && h("p", { class: "quiet" }, one.note),
    h("p", { class: "quiet" }, one.book, ". ", ground(one.status)),
    one.option && vote(one.option));
}

function disputeEntry(one) {
  return h("li", { class: "entry dispute", "data-key": one.id },
    h("h3", null, h("b", { class: "id" }, one.id), " ", one.question),
    h("p", { class: "clause-text" }, one.text),
    h("p", { class: "under" }, ground(one.status), clauses(one.clauses)),
    one.option && vote(one.option));
}

/** For a silent rulebook: the options between which the table votes, kept for this house. */
function vote(name) {
  const option = now.options?.find((one) => one.name === name);
  if (!option) return null;
  if (store.ballot.option === name) return h("p", { class: "quiet" }, t("The table votes on this now."));
  const valid = option.house ?? option.values[0].value;
  return h("fieldset", { class: "choice vote", "data-key": `vote-${name}` },
    h("legend", null, t("The rulebook is silent: the table decides."), " ", said(option.question)),
    option.values.map((one, i) =>
      h("button", { type: "button", class: "toggle", "data-do": "vote", "data-option": name, "data-value": JSON.stringify(one.value),
        "data-key": `vote-${name}-${i}`, "aria-pressed": String(one.value === valid), disabled: !isHost() },
        said(one), i === 0 ? h("em", null, ` (${t("usual")})`) : null)),
    h("small", { class: "quiet" }, isHost() ? t("Kept for this house, from the next game on.") : t("The host enters what the table decides.")),
    mayAct() && !store.ballot.option && h("button", { type: "button", class: "second", "data-do": "ballot-call", "data-option": name }, t("Let the table vote")));
}

/** Everything of the rulebook in its order, disputes first: each is an id and what draws it. */
const everything = (book) => [...book.disputes.map((one) => [one.id, () => disputeEntry(one)]), ...book.clauses.map((one) => [one.id, () => clauseEntry(one)])];

/** What was found, best first; before anything is asked, what most tables want to know. */
function answers() {
  const { book, found, query } = now;
  if (!book) return h("p", { class: "quiet", role: "status" }, t("Opening the rulebook …"));
  if (!found) {
    return query ? null : h("div", { class: "row", "data-key": "usual" }, book.usual.map((one) =>
      h("button", { type: "button", class: "toggle", "data-do": "ask-usual", "data-question": one, "data-key": one }, one)));
  }
  const draws = new Map(everything(book));
  const known = found.filter((id) => draws.has(id));
  return [
    h("p", { class: "quiet", role: "status" }, known.length ? tn("%(n)s answer", "%(n)s answers, the best first", known.length) : t("There is nothing of the kind in this rulebook.")),
    h("ol", { class: "entries answers" }, known.slice(0, now.answers).map((id) => draws.get(id)())),
    known.length > now.answers && h("button", { type: "button", class: "second", "data-do": "more-answers" }, t("More answers")),
  ];
}

const questionBox = () => h("section", { class: "panel ask", "data-key": "ask" },
  h("form", { "data-submit": "ask", "data-key": "ask-form", role: "search" },
    h("h2", null, h("label", { for: "rule-search" }, t("What do you want to know?"))),
    h("div", { class: "row" },
      h("input", { id: "rule-search", type: "text", value: now.query, maxlength: 100, autocomplete: "off", enterkeyhint: "search", placeholder: t("Ask as you would at the table"), "data-input": "rule-search" }),
      h("button", { type: "submit", class: "main" }, icon("question"), t("Ask")))),
  h("ul", { class: "games" }, gameButtons("rules-of", chosen())),
  answers());

/** The rulebook from its first line to its last, for who wants to leaf through it. */
function rulebook() {
  const { book } = now;
  const entries = book ? everything(book) : [];
  const shown = entries.slice(0, MOST_SHOWN * (now.shown + 1));
  return h("details", { class: "panel rulebook", "data-key": "rulebook" },
    h("summary", null, t("The whole rulebook")),
    h("ol", { class: "entries" }, shown.map(([, draw]) => draw())),
    shown.length < entries.length
      ? h("button", { type: "button", class: "second", "data-do": "more-rules" }, t("Show more")) : null);
}

// --- the dispute

let judged = 0;
let last = null;

const asQuery = ({ move, path }) => (move ? `move=${encodeURIComponent(move)}` : `path=${path.map(encodeURIComponent).join(",")}`);
const liveRulings = async (query) => (await fetched(() => ask(`/api/board/dispute?${lang()}&${asQuery(query)}`)))?.rulings ?? null;

/** Ask for the ruling; an answer that comes after a later question was put is of no use any more. */
async function judge(query) {
  judged += 1;
  const mine = judged;
  last = query;
  const state = store.view?.state;
  const rulings = await (byHand() ? positionByHand.here().rule(query) : liveRulings(query));
  if (!rulings || mine !== judged) return;
  alter({ rulings, pick: 0, state });
  // Who tapped one place may go on to a second one: the picture stays.
  if (query.move || query.path.length > 1) setTimeout(() => document.querySelector(".verdict .answer")?.scrollIntoView({ block: "center" }));
}

/** A place is tapped in a dispute: from where to where; a third one begins anew. */
export function judgeTap(place) {
  if (byHand() && !positionByHand.here().asking()) return positionByHand.here().tapped(place);
  judged += 1;
  // A game may have a field of its own for the place that is meant.
  if (part(disputed(), "dispute")?.tapped?.(place)) return alter({ path: [place], rulings: null });
  const path = now.path.at(-1) === place ? [] : now.path.length > 1 ? [place] : [...now.path, place];
  alter({ path, rulings: null });
  return path.length ? judge({ path }) : null;
}

/** The game in dispute: that of the position laid by hand, or the open one. */
const disputed = () => (byHand() ? positionByHand.here()?.game() : openMatch()?.game);

/** What a move in dispute is picked from, legal or not, and the ruling on it. */
function picker(table) {
  const rulings = now.rulings;
  const one = rulings?.[now.pick ?? 0];
  const own = part(table.game, "dispute");
  return [
    table.prompt && h("p", { class: "sentence" }, said(table.prompt)),
    h("p", null, own?.sentence?.() ?? t("Tap the place, or from where to where; or write the move.")),
    table.drawn && h("div", { class: "editor-circle", "data-key": "circle" }, table.drawn(now.path[0] ?? null)),
    table.svg && picture(table.svg, { game: table.game, lit: new Map(), chosen: now.path, about: [], can: true, every: true, costs: false, name: table.name, names: table.names }),
    own?.below?.(table),
    h("form", { class: "row", "data-submit": "judge", "data-key": "judge" },
      h("input", { type: "text", name: "move", maxlength: 80, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
        placeholder: example(table.game), "aria-label": t("The move in its notation") }),
      h("button", { type: "submit", class: "second" }, t("Ask the referee"))),
    table.gestures.length ? h("details", { class: "extras", "data-key": `gestures-${Boolean(table.unfolded)}`, open: Boolean(table.unfolded) },
      h("summary", null, t("Moves without a place")),
      h("div", { class: "steps many" }, table.gestures.map((gesture) =>
        h("button", { type: "button", class: "second", "data-do": "judge-text", "data-move": gesture.text, "data-key": gesture.text }, said(gesture))))) : null,
    rulings && rulings.length === 0 && h("p", { class: "quiet" }, t("Nothing in this game is done there.")),
    rulings && rulings.length > 1 && h("ul", { class: "steps", "aria-label": t("Which move is meant?") }, rulings.map((ruling, i) =>
      h("li", null, h("button", { type: "button", class: "toggle", "data-do": "which-ruling", "data-n": i, "aria-pressed": String(i === (now.pick ?? 0)) },
        icon(ruling.legal ? "check" : "close"), said(ruling.name))))),
    one && verdict(table.game, one, [one.option && vote(one.option), table.more?.(one)]),
  ];
}

const forget = (changes) => { judged += 1; alter({ path: [], rulings: null, ...changes }); };

/** Positions that are set up by hand. */
const positionByHand = lazy(() => import("./referee-position.js"), "position", ({ positionDo, POSITION_FIELDS }) => {
  Object.assign(ROOM_DO, positionDo(forget, () => now.rulings?.[now.pick ?? 0]));
  Object.assign(ROOM_INPUT, POSITION_FIELDS);
  Object.assign(ROOM_CHANGE, POSITION_FIELDS);
});

/** The referee by photo. */
const photos = lazy(() => import("./camera-photos.js"), "photos", ({ PHOTO_DO, PHOTO_CHANGE }) => {
  Object.assign(ROOM_DO, PHOTO_DO);
  Object.assign(ROOM_CHANGE, PHOTO_CHANGE);
});

/** The balance: what an igloo holds, where a calibrated one is plugged in. */
const weighing = lazy(() => import("./balance.js"), "balance", (found) => { Object.assign(ROOM_DO, found.PART_DO); found.opened(); });
const balance = () => (store.balance.now?.balance?.there && store.balance.now.calibration ? weighing()?.refereesBalance() : null);

/** A round in two photos, of a game that is judged so. */
function round(game) {
  const own = part(game, "round");
  if (!own) return null;
  style("photo");
  Object.assign(ROOM_DO, own.does);
  Object.assign(ROOM_CHANGE, own.changes);
  return own.draw();
}

const toHand = () => mayAct() && games("position").length > 0 && h("p", null, h("a", { class: "second", href: "#referee/hand" }, icon("cards"), t("From a position set up by hand")));

function dispute() {
  if (byHand()) {
    const hand = positionByHand();
    hand?.begin();
    return hand ? hand.panel(picker) : h("section", { class: "panel", "data-key": "by-hand" }, h("p", { class: "quiet" }, t("One moment …")));
  }
  const match = openMatch();
  if (!match) {
    return h("section", { class: "panel", "data-key": "dispute" }, h("h2", null, t("You can’t do that!")),
      h("p", null, t("No game is open: ask above, or lay out the case.")), toHand());
  }
  const board = match.board && store.board?.match === match.id ? store.board : null;
  const drawing = part(match.game, "dispute")?.drawing;
  return h("section", { class: "panel on-board dispute-panel", "data-key": "dispute" },
    h("h2", null, t("You can’t do that!")),
    picker({ ...match, drawn: drawing && ((place) => drawing(match, place)), name: said(match.title), svg: board?.svg, gestures: board?.gestures ?? [], names: (place) => board?.names[place] }),
    toHand());
}

/** Draw the room. */
export function room() {
  // A position is laid without the book: only what is asked of it may be the table's to decide.
  if (!byHand() || now.rulings) readBook();
  readOptions();
  // A ruling is of the position it was given on.
  const where = byHand() ? "by hand" : "live";
  if (where !== now.where) now = { ...now, where, rulings: null, path: [], game: null };
  if (now.rulings && !byHand() && now.state !== store.view?.state) now = { ...now, rulings: null, path: [] };
  return h("div", { class: "referee", "data-key": "referee" },
    h("p", null, byHand()
      ? h("a", { class: "second", href: "#referee" }, icon("undo"), t("Back to the referee"))
      : h("a", { class: "second", href: "#" }, icon("undo"), t("Back to the game"))),
    h("h1", null, t("The referee")), byHand() ? dispute() : [questionBox(), dispute(), mayAct() && [balance(), photos()?.byPhoto(round)], rulebook()]);
}

const ruleOn = (text) => {
  alter({ path: [], rulings: null });
  judge({ move: text });
};

export const ROOM_CHANGE = {};

export const ROOM_DO = {
  "ballot-call": ({ option }) => fetched(() => tell("/api/ballot", { option })),
  "judge-text": ({ move }) => ruleOn(move),
  "rules-of": ({ game }) => { request += 1; alter({ game, book: null, found: null, shown: 0 }); search(now.query); },
  "ask-usual": ({ question }) => {
    document.getElementById("rule-search").value = question;
    search(question);
  },
  "more-answers": () => alter({ answers: Infinity }),
  "more-rules": () => alter({ shown: now.shown + 1 }),
  "which-ruling": ({ n }) => alter({ pick: Number(n) }),
  vote: async ({ option, value }) => {
    const answer = await fetched(() => tell(`/api/rules/${now.of}/votes`, { option, value: JSON.parse(value) }));
    if (!answer) return;
    alter({ options: answer.options });
    positionByHand.here()?.voted(option, JSON.parse(value));
    if (byHand() && now.rulings && last) judge(last);
  },
};

export const ROOM_SUBMIT = {
  // What was found while typing stands there already: the keyboard of a phone goes, the answer is seen.
  ask: (form) => form.querySelector("input").blur(),
  judge: (form) => {
    const text = new FormData(form).get("move").trim();
    if (text) ruleOn(toNotation(disputed(), text));
  },
  "judge-choice": (form) => {
    const own = part(disputed(), "dispute");
    const move = own.read(new FormData(form));
    // Where a tap chose the place, it stays chosen.
    if (own.tapped) judge({ move });
    else ruleOn(move);
  },
};

export const ROOM_INPUT = { "rule-search": (field) => search(field.value) };
