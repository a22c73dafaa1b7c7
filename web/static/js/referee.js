// The referee's room: "You can't do that!" from the live game, and the rulebooks of all four games, clause by clause.

import { h } from "./dom.js";
import { COLOURS, colourName, icon } from "./art.js";
import { byPhoto, PHOTO_CHANGE, PHOTO_DO } from "./camera-photos.js";
import { ask, fetched, tell } from "./net.js";
import { picture } from "./picture.js";
import { clauses } from "./told.js";
import { ground, verdict } from "./verdict.js";
import { GAMES } from "./setup.js";
import { change, isHost, match as openMatch, mayAct, store } from "./store.js";
import { code, said, t, tn } from "./words.js";

const MOST_SHOWN = 60;
/** A rulebook that could not be fetched is asked for again after this while. */
const AGAIN_MS = 3000;
const fresh = () => ({ game: null, book: null, query: "", found: null, open: null, path: [], rulings: null, shown: 0, options: null, pick: 0, state: null });
let now = fresh();

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

const lang = () => `lang=${code()}`;
const chosen = () => now.game ?? openMatch()?.game ?? "igloo-pop";

// --- the rulebook

async function readBook() {
  const game = chosen();
  if (now.book?.game === game || now.open === game) return;
  now.open = game;
  const book = await fetched(() => ask(`/api/rules/${game}?${lang()}`));
  const options = await fetched(() => ask(`/api/rules/${game}/options`));
  if (now.open !== game) return;
  if (!book) {
    setTimeout(() => { if (now.open === game) alter({ open: null }); }, AGAIN_MS);
    return;
  }
  alter({ book, options: options?.options ?? [], open: null });
}

let asked = 0;

async function search(query) {
  asked += 1;
  const mine = asked;
  now.query = query;
  if (!query.trim()) return alter({ found: null });
  const answer = await fetched(() => ask(`/api/rules/${chosen()}/search?${lang()}&q=${encodeURIComponent(query)}`));
  if (answer && mine === asked) alter({ found: new Set(answer.found.map((one) => one.id)) });
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
  const valid = option.house ?? option.values[0].value;
  return h("fieldset", { class: "choice vote", "data-key": `vote-${name}` },
    h("legend", null, t("The rulebook is silent: the table decides."), " ", said(option.question)),
    option.values.map((one, i) =>
      h("button", { type: "button", class: "toggle", "data-do": "vote", "data-option": name, "data-value": JSON.stringify(one.value),
        "data-key": `vote-${name}-${i}`, "aria-pressed": String(one.value === valid), disabled: !isHost() },
        said(one), i === 0 ? h("em", null, ` (${t("usual")})`) : null)),
    h("small", { class: "quiet" }, isHost() ? t("Kept for this house, from the next game on.") : t("The host enters what the table decides.")));
}

function rulebook() {
  const { book, found } = now;
  const shows = (one) => !found || found.has(one.id);
  const entries = book ? [...book.disputes.filter(shows).map(disputeEntry), ...book.clauses.filter(shows).map(clauseEntry)] : [];
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

/** Ask for the ruling; an answer that comes after a later question was put is of no use any more. */
async function judge(query) {
  judged += 1;
  const mine = judged;
  const state = store.view?.state;
  const answer = await fetched(() => ask(`/api/board/dispute?${lang()}&${query}`));
  if (answer && mine === judged) alter({ rulings: answer.rulings, pick: 0, state });
}

/** A place is tapped in a dispute: from where to where; a third one begins anew. */
export function judgeTap(place) {
  const path = now.path.at(-1) === place ? [] : now.path.length > 1 ? [place] : [...now.path, place];
  judged += 1;
  alter({ path, rulings: null });
  if (path.length) judge(`path=${path.map(encodeURIComponent).join(",")}`);
}

function popChoice(match) {
  const verbs = { take: t("takes an igloo"), return: t("returns the igloo"), place: t("places an igloo on"), pass: t("passes") };
  return h("form", { class: "row", "data-submit": "judge-pop", "data-key": "judge-pop" },
    h("select", { name: "colour", "aria-label": t("Who?") }, COLOURS.filter((one) => match.players.some((p) => p.colour === one)).map((one) => h("option", { value: one }, colourName(one)))),
    h("select", { name: "verb", "aria-label": t("What happened?") }, Object.entries(verbs).map(([id, words]) => h("option", { value: id }, words))),
    h("select", { name: "card", "aria-label": t("Which card?") }, match.cards.map((one, i) => h("option", { value: one.place }, t("Place %(n)s", { n: i + 1 })))),
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

function dispute() {
  const match = openMatch();
  if (!match) {
    return h("section", { class: "panel", "data-key": "dispute" }, h("h2", null, t("You can't do that!")),
      h("p", null, t("No game is open: look the case up in the rulebook below.")),
      h("p", null, h("a", { href: "#score" }, t("Or set the position up by hand"))));
  }
  const board = match.board && store.board?.match === match.id ? store.board : null;
  const rulings = now.rulings;
  const one = rulings?.[now.pick ?? 0];
  return h("section", { class: "panel on-board dispute-panel", "data-key": "dispute" },
    h("h2", null, t("You can't do that!")),
    h("p", null, match.board ? t("Tap the place, or from where to where; or write the move.") : t("Say which move is in dispute.")),
    match.board ? null : popChoice(match),
    board && picture(board.svg, { lit: new Map(), chosen: now.path, about: [], can: true, every: true, costs: false, name: said(match.title) }),
    h("form", { class: "row", "data-submit": "judge", "data-key": "judge" },
      h("input", { type: "text", name: "move", maxlength: 80, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
        placeholder: { "iglu-iglu": "walk b2 b3", arctic: "draw fox-5-moose", "ice-team": "leap a1 a3" }[match.game] ?? "place red card4", "aria-label": t("The move in its notation") }),
      h("button", { type: "submit", class: "second" }, t("Rule on it"))),
    board?.gestures.length ? h("details", { class: "toys", "data-key": "gestures" },
      h("summary", null, t("Moves without a place")),
      h("div", { class: "steps many" }, board.gestures.map((one) =>
        h("button", { type: "button", class: "second", "data-do": "judge-text", "data-move": one.text, "data-key": one.text }, said(one))))) : null,
    match.game === "arctic" ? cardChoice() : null,
    rulings && rulings.length === 0 && h("p", { class: "quiet" }, t("Nothing of this game is done there.")),
    rulings && rulings.length > 1 && h("ul", { class: "steps", "aria-label": t("Which move is meant?") }, rulings.map((ruling, i) =>
      h("li", null, h("button", { type: "button", class: "toggle", "data-do": "which-ruling", "data-n": i, "aria-pressed": String(i === (now.pick ?? 0)) },
        icon(ruling.legal ? "check" : "close"), said(ruling.name))))),
    one && verdict(one, one.option && vote(one.option)));
}

/** Draw the room. */
export function room() {
  readBook();
  // A ruling is of the position it was given on.
  if (now.rulings && now.state !== store.view?.state) now = { ...now, rulings: null, path: [] };
  return h("div", { class: "referee", "data-key": "referee" },
    h("p", null, h("a", { class: "second", href: "#" }, icon("undo"), t("Back to the game"))),
    h("h1", null, t("The referee")), dispute(), mayAct() && openMatch()?.board !== false ? byPhoto() : null, rulebook());
}

const ruleOn = (text) => {
  alter({ path: [], rulings: null });
  judge(`move=${encodeURIComponent(text)}`);
};

export const ROOM_CHANGE = PHOTO_CHANGE;

export const ROOM_DO = {
  ...PHOTO_DO,
  "judge-text": ({ move }) => ruleOn(move),
  "rules-of": ({ game }) => { asked += 1; alter({ game, book: null, found: null, query: "", shown: 0 }); },
  "more-rules": () => alter({ shown: now.shown + 1 }),
  "which-ruling": ({ n }) => alter({ pick: Number(n) }),
  vote: async ({ option, value }) => {
    const answer = await fetched(() => tell(`/api/rules/${gameOf(option)}/votes`, { option, value: JSON.parse(value) }));
    if (answer) alter({ options: answer.options });
  },
};

const gameOf = (option) => ({ pop: "igloo-pop", iglu: "iglu-iglu", variant: "iglu-iglu", arc: "arctic", ice: "ice-team" })[option.split(".")[0]];

export const ROOM_SUBMIT = {
  judge: (form) => {
    const text = new FormData(form).get("move").trim();
    if (text) ruleOn(text);
  },
  "judge-card": (form) => {
    const data = new FormData(form);
    const [verb, where] = data.get("verb").split(" ");
    ruleOn([verb, `${data.get("main")}-${data.get("value")}-${data.get("companion")}`, where].filter(Boolean).join(" "));
  },
  "judge-pop": (form) => {
    const data = new FormData(form);
    const card = data.get("verb") === "place" ? ` ${data.get("card")}` : "";
    judge(`move=${encodeURIComponent(`${data.get("verb")} ${data.get("colour")}${card}`)}`);
  },
};

export const ROOM_INPUT = { "rule-search": (field) => search(field.value) };
