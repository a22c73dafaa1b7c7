// The referee's room: "You can't do that!" from the live game, and the rulebooks of all four games, clause by clause.

import { h, style } from "./dom.js";
import { COLOURS, colourName, icon } from "./art.js";
import { ask, fetched, tell } from "./net.js";
import { example, toNotation } from "./notation.js";
import { picture } from "./picture.js";
import { clauses } from "./rulings.js";
import { ground, verdict } from "./verdict.js";
import { GAMES } from "./setup.js";
import { change, isHost, match as openMatch, mayAct, store } from "./store.js";
import { code, said, t, tn, withWords } from "./words.js";

const MOST_SHOWN = 60;
/** A rulebook that could not be fetched is asked for again after this while. */
const AGAIN_MS = 3000;
const fresh = () => ({ game: null, book: null, query: "", found: null, open: null, path: [], rulings: null, where: "live", shown: 0, options: null, pick: 0, state: null });
let now = fresh();

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

const lang = () => `lang=${code()}`;
const byHand = () => location.hash === "#referee/hand";
const chosen = () => now.game ?? (byHand() ? parts.hand?.game() : null) ?? openMatch()?.game ?? "igloo-pop";

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
  alter({ book, options: options?.options ?? [], open: null, decided: store.ballot.last?.at });
}

/** The table has voted: the options are asked for anew. */
async function readOptions() {
  const { last } = store.ballot;
  if (!now.book || now.decided === last?.at) return;
  now.decided = last?.at;
  if (last && last.value !== null) parts.hand?.voted(last.option, last.value);
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
  if (answer && mine === request) alter({ found: new Set(answer.found.map((one) => one.id)) });
}

function clauseEntry(one) {
  return h("li", { class: "entry", "data-key": one.id, id: `entry-${one.id}` },
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

function rulebook() {
  const { book, found } = now;
  // What was found stands in the order of the search, best first.
  const rank = new Map([...found ?? []].map((id, i) => [id, i]));
  const entries = (book ? [...book.disputes.map((one) => [one.id, disputeEntry, one]), ...book.clauses.map((one) => [one.id, clauseEntry, one])] : [])
    .filter(([id]) => !found || rank.has(id)).sort(([a], [b]) => (found ? rank.get(a) - rank.get(b) : 0)).map(([, entry, one]) => entry(one));
  const shown = found ? entries : entries.slice(0, MOST_SHOWN * (now.shown + 1));
  return h("section", { class: "panel rulebook", "data-key": "rulebook" },
    h("h2", null, t("The rulebook")),
    h("ul", { class: "games" }, GAMES.map(([id, name]) =>
      h("li", null, h("button", { type: "button", class: "toggle", "data-do": "rules-of", "data-game": id, "aria-pressed": String(id === chosen()) }, name)))),
    h("label", { for: "rule-search" }, t("Search by words, or by the number of a clause")),
    h("input", { id: "rule-search", type: "text", value: now.query, maxlength: 100, autocomplete: "off", enterkeyhint: "search", "data-input": "rule-search" }),
    h("p", { class: "quiet", role: "status" }, book ? (entries.length ? tn("%(n)s entry", "%(n)s entries", entries.length) : t("Nothing of the kind is in this rulebook.")) : t("Opening the rulebook …")),
    h("ol", { class: "entries" }, shown),
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
  const rulings = await (byHand() ? parts.hand.rule(query) : liveRulings(query));
  if (!rulings || mine !== judged) return;
  alter({ rulings, pick: 0, state });
  // Who tapped one place may go on to a second one: the picture stays.
  if (query.move || query.path.length > 1) setTimeout(() => document.querySelector(".verdict .answer")?.scrollIntoView({ block: "center" }));
}

/** A place is tapped in a dispute: from where to where; a third one begins anew. */
export function judgeTap(place) {
  if (byHand() && !parts.hand.asking()) return parts.hand.tapped(place);
  judged += 1;
  const card = document.querySelector("[data-key=judge-pop] select[name=card]");
  if (card) {
    // On the circle a tap says which card is meant.
    card.value = place;
    return alter({ path: [place], rulings: null });
  }
  const path = now.path.at(-1) === place ? [] : now.path.length > 1 ? [place] : [...now.path, place];
  alter({ path, rulings: null });
  return path.length ? judge({ path }) : null;
}

function popChoice(match) {
  const verbs = { take: t("takes an igloo"), return: t("returns the igloo"), place: t("places an igloo on"), pass: t("passes"), reveal: t("turns over an igloo on") };
  return h("form", { class: "row", "data-submit": "judge-pop", "data-key": "judge-pop" },
    h("select", { name: "colour", "aria-label": t("Who?") }, COLOURS.filter((one) => match.players.some((p) => p.colour === one)).map((one) => h("option", { value: one }, colourName(one)))),
    h("select", { name: "verb", "aria-label": t("What happened?") }, Object.entries(verbs).map(([id, words]) => h("option", { value: id }, words))),
    h("select", { name: "card", "aria-label": t("Which card?") }, match.cards.map((one, i) => h("option", { value: one.place }, t("Place %(n)s", { n: i + 1 })))),
    h("label", { class: "of-reveal" }, h("span", null, t("Number")),
      h("select", { name: "number" }, Array.from({ length: 12 }, (_, i) => h("option", { value: i + 2 }, i + 2)))),
    h("button", { type: "submit", class: "second" }, t("Rule on it")));
}

/** A step of Arctic with a card: what is done with it, and which card it is. */
function cardChoice() {
  const animals = { fox: t("fox"), moose: t("moose"), walrus: t("walrus"), orca: t("orca"), puffin: t("puffin"), bear: t("bear") };
  const verbs = { place: t("place"), "place bottom": t("place under the pile"), "place under": t("place face down under the top card"),
    draw: t("take from the River"), "draw-penalty": t("take from Penalty"), discard: t("put away") };
  const choice = (name, label, values) => h("select", { name, "aria-label": label },
    Object.entries(values).map(([id, words]) => h("option", { value: id }, words)));
  return h("form", { class: "row", "data-submit": "judge-card", "data-key": "judge-card" },
    choice("verb", t("What is done with a card?"), verbs),
    choice("main", t("Main animal"), animals),
    choice("value", t("Placement value"), { 1: "1", 2: "2", 3: "3", 4: "4", 5: "5" }),
    choice("companion", t("Companion"), animals),
    h("button", { type: "submit", class: "second" }, t("Rule on it")));
}

/** What a move in dispute is picked from, legal or not, and the ruling on it. */
function picker(table) {
  const rulings = now.rulings;
  const one = rulings?.[now.pick ?? 0];
  const pop = table.game === "igloo-pop";
  return [
    table.prompt && h("p", { class: "sentence" }, said(table.prompt)),
    h("p", null, pop ? t("Say which move is in dispute.") : t("Tap the place, or from where to where; or write the move.")),
    table.drawn && h("div", { class: "editor-circle", "data-key": "circle" }, table.drawn(now.path[0] ?? null)),
    pop ? popChoice(table) : null,
    table.svg && picture(table.svg, { lit: new Map(), chosen: now.path, about: [], can: true, every: true, costs: false, name: table.name, names: table.names }),
    h("form", { class: "row", "data-submit": "judge", "data-key": "judge" },
      h("input", { type: "text", name: "move", maxlength: 80, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
        placeholder: example(table.game), "aria-label": t("The move in its notation") }),
      h("button", { type: "submit", class: "second" }, t("Rule on it"))),
    table.gestures.length ? h("details", { class: "extras", "data-key": `gestures-${Boolean(table.unfolded)}`, open: Boolean(table.unfolded) },
      h("summary", null, t("Moves without a place")),
      h("div", { class: "steps many" }, table.gestures.map((gesture) =>
        h("button", { type: "button", class: "second", "data-do": "judge-text", "data-move": gesture.text, "data-key": gesture.text }, said(gesture))))) : null,
    table.game === "arctic" ? cardChoice() : null,
    rulings && rulings.length === 0 && h("p", { class: "quiet" }, t("Nothing of this game is done there.")),
    rulings && rulings.length > 1 && h("ul", { class: "steps", "aria-label": t("Which move is meant?") }, rulings.map((ruling, i) =>
      h("li", null, h("button", { type: "button", class: "toggle", "data-do": "which-ruling", "data-n": i, "aria-pressed": String(i === (now.pick ?? 0)) },
        icon(ruling.legal ? "check" : "close"), said(ruling.name))))),
    one && verdict(one, [one.option && vote(one.option), table.more?.(one)]),
  ];
}

const parts = {};

/** A part of the room that is fetched when it is first needed, with its words; null until it has come. */
function part(name, load, joins) {
  if (!(name in parts)) {
    parts[name] = null;
    withWords(load(), name).then((found) => {
      parts[name] = found;
      joins(found);
      change(() => {});
    }).catch(() => setTimeout(() => { delete parts[name]; change(() => {}); }, AGAIN_MS));
  }
  return parts[name];
}

const forget = (changes) => { judged += 1; alter({ path: [], rulings: null, ...changes }); };

/** Positions that are set up by hand. */
const positionByHand = () => part("position", () => import("./referee-position.js"), ({ positionDo, POSITION_FIELDS }) => {
  Object.assign(ROOM_DO, positionDo(forget, () => now.rulings?.[now.pick ?? 0]));
  Object.assign(ROOM_INPUT, POSITION_FIELDS);
  Object.assign(ROOM_CHANGE, POSITION_FIELDS);
});

/** The referee by photo. */
const photos = () => part("photos", () => import("./camera-photos.js"), ({ PHOTO_DO, PHOTO_CHANGE }) => {
  Object.assign(ROOM_DO, PHOTO_DO);
  Object.assign(ROOM_CHANGE, PHOTO_CHANGE);
})?.byPhoto(round);

/** A round of Igloo Pop in two photos. */
const round = () => part("photo", () => import("./photo-round.js"), ({ ROUND_DO, ROUND_CHANGE }) => {
  style("photo");
  Object.assign(ROOM_DO, ROUND_DO);
  Object.assign(ROOM_CHANGE, ROUND_CHANGE);
})?.roundPart() ?? null;

const toHand = () => mayAct() && h("p", null, h("a", { class: "second", href: "#referee/hand" }, icon("cards"), t("From a position set up by hand")));

function dispute() {
  if (byHand()) {
    const hand = positionByHand();
    hand?.begin();
    return hand ? hand.panel(picker) : h("section", { class: "panel", "data-key": "by-hand" }, h("p", { class: "quiet" }, t("One moment …")));
  }
  const match = openMatch();
  if (!match) {
    return h("section", { class: "panel", "data-key": "dispute" }, h("h2", null, t("You can't do that!")),
      h("p", null, t("No game is open: look the case up in the rulebook below.")), toHand());
  }
  const board = match.board && store.board?.match === match.id ? store.board : null;
  return h("section", { class: "panel on-board dispute-panel", "data-key": "dispute" },
    h("h2", null, t("You can't do that!")),
    picker({ ...match, name: said(match.title), svg: board?.svg, gestures: board?.gestures ?? [], names: (place) => board?.names[place] }),
    toHand());
}

/** Draw the room. */
export function room() {
  readBook();
  readOptions();
  // A ruling is of the position it was given on.
  const where = byHand() ? "by hand" : "live";
  if (where !== now.where) now = { ...now, where, rulings: null, path: [], game: null };
  if (now.rulings && !byHand() && now.state !== store.view?.state) now = { ...now, rulings: null, path: [] };
  return h("div", { class: "referee", "data-key": "referee" },
    h("p", null, byHand()
      ? h("a", { class: "second", href: "#referee" }, icon("undo"), t("Back to the referee"))
      : h("a", { class: "second", href: "#" }, icon("undo"), t("Back to the game"))),
    h("h1", null, t("The referee")), dispute(), mayAct() && !byHand() ? photos() : null, byHand() ? null : rulebook());
}

const ruleOn = (text) => {
  alter({ path: [], rulings: null });
  judge({ move: text });
};

export const ROOM_CHANGE = {};

export const ROOM_DO = {
  "ballot-call": ({ option }) => fetched(() => tell("/api/ballot", { option })),
  "judge-text": ({ move }) => ruleOn(move),
  "rules-of": ({ game }) => { request += 1; alter({ game, book: null, found: null, query: "", shown: 0 }); },
  "more-rules": () => alter({ shown: now.shown + 1 }),
  "which-ruling": ({ n }) => alter({ pick: Number(n) }),
  vote: async ({ option, value }) => {
    const answer = await fetched(() => tell(`/api/rules/${gameOf(option)}/votes`, { option, value: JSON.parse(value) }));
    if (!answer) return;
    alter({ options: answer.options });
    parts.hand?.voted(option, JSON.parse(value));
    if (byHand() && now.rulings && last) judge(last);
  },
};

const gameOf = (option) => ({ pop: "igloo-pop", iglu: "iglu-iglu", variant: "iglu-iglu", arc: "arctic", ice: "ice-team" })[option.split(".")[0]];

export const ROOM_SUBMIT = {
  judge: (form) => {
    const text = new FormData(form).get("move").trim();
    if (text) ruleOn(toNotation(text));
  },
  "judge-card": (form) => {
    const data = new FormData(form);
    const [verb, where] = data.get("verb").split(" ");
    ruleOn([verb, `${data.get("main")}-${data.get("value")}-${data.get("companion")}`, where].filter(Boolean).join(" "));
  },
  "judge-pop": (form) => {
    const data = new FormData(form);
    const [verb, colour, card, number] = ["verb", "colour", "card", "number"].map((name) => data.get(name));
    const who = verb === "reveal" ? `${card} ${number}` : verb === "place" ? `${colour} ${card}` : colour;
    judge({ move: `${verb} ${who}` });
  },
};

export const ROOM_INPUT = { "rule-search": (field) => search(field.value) };
