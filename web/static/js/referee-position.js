// A position set up by hand: laid on the picture with taps, taken back step by step, and then asked about.

import { h, style } from "./dom.js";
import { icon, playerName } from "./art.js";
import { fetchPart, gameButtons, gameOf, games, has, orFirst } from "./games.js";
import { ask, fetched, showRefusal, tell } from "./net.js";
import { picture } from "./picture.js";
import { whoPlays } from "./position-editor.js";
import { clauses } from "./rulings.js";
import { change, mayAct, match as openMatch, memory } from "./store.js";
import { code, said, t, withWords } from "./words.js";

const MOST_BACK = 200;

let now = { game: null, rules: null, things: [], words: {}, layouts: [], empty: null, table: null, begun: null, steps: [], at: null, sheet: null, place: null, open: null, asking: false };
let request = 0;

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

/** The game of the position. */
export const game = () => now.game;
/** Whether a tap asks about a move; otherwise it lays. */
export const asking = () => now.asking;

const rules = () => now.rules;
const top = () => now.steps.at(-1);
const context = () => ({ p: top().p, named: top().named, things: now.things, words: now.words, layouts: now.layouts, place: now.place, open: now.open });

/** Begin with the game that is played, or was looked at last. */
export function begin() {
  if (now.game || !mayAct() || !games("position").length) return;
  style("referee");
  choose(orFirst(openMatch()?.game ?? memory.get("laid", null), games("position")));
}

async function choose(id, layout = memory.get(`layout.${id}`, null)) {
  // A game whose pieces are laid on its score sheet has no editor here.
  if (gameOf(id).laidOnSheet) {
    const { ROOM_DO } = await withWords(import("./score.js"), "score");
    ROOM_DO["score-game"]({ game: id });
    location.hash = "#score";
    return;
  }
  request += 1;
  const mine = request;
  memory.set("laid", id);
  alter({ game: id, begun: null, table: null, steps: [], sheet: null, place: null, open: null, asking: false });
  const [editor, { layouts }] = await Promise.all([fetched(() => fetchPart(id, "position")), fetched(() => ask(`/api/rules/${id}/options`)).then((found) => found ?? { layouts: [] })]);
  // The boards lie as they lay the last time.
  const body = await fetched(() => ask(`/api/position/${id}${layouts.includes(layout) ? `?layout=${encodeURIComponent(layout)}` : ""}`));
  if (!body || !editor || mine !== request) return;
  now.rules = editor;
  const empty = first({ ...body.position, players: body.position.players.map((one) => ({ ...one, name: one.colour ? playerName({ colour: one.colour }) : one.name })) }, []);
  const table = body.table && !openMatch()?.over ? first(body.table) : null;
  alter({ layouts, things: body.things, words: Object.fromEntries(body.things.map((one) => [one.id, one])), empty, table, begun: table ?? empty });
  await take(now.begun, []);
}

/** A position as a step to go on from; in one that was played some places are named that way. */
function first(position, named = rules().named?.(position) ?? []) {
  const p = structuredClone(position);
  rules().taken?.(p);
  return { p, named };
}

const put = (p, more = {}) => tell(`/api/position?lang=${code()}`, { position: p, ...more });

/** Show a step; one that cannot be a position at all is refused in a sentence, and the one before stays. */
async function take(step, before = now.steps) {
  request += 1;
  const mine = request;
  const sheet = await fetched(() => put(step.p));
  if (mine !== request || !sheet) return false;
  alter({ steps: [...before, step].slice(-MOST_BACK), sheet });
  return true;
}

/** Steps follow one another: each alters what the one before led to. */
let queue = Promise.resolve();

function edit(op, ...facts) {
  const { place } = now;
  queue = queue.then(async () => {
    if (!now.begun) return;
    const p = structuredClone(top().p);
    const named = [...top().named];
    rules().ops[op](p, place, ...facts, { ...context(), p, named });
    rules().settle?.(p, { things: now.things, named });
    // What was chosen on the way to a card is done with it.
    if (await take({ p, named }) && now.place === place && rules().closes?.includes(op)) alter({ place: null, open: null });
  });
}

async function back() {
  if (now.steps.length < 2) return;
  const before = now.steps.slice(0, -2);
  await take(now.steps.at(-2), before);
}

const spotOf = (place) => document.querySelector(`.by-hand [data-do=tap][data-place="${place}"]`);

/** Go on where something was opened, and on a small screen keep the place that it is about in sight. */
function toDock() {
  const dock = document.querySelector(".editor-dock");
  const spot = now.place && spotOf(now.place);
  if (!dock || !spot) return;
  dock.focus({ preventScroll: true });
  const hidden = spot.getBoundingClientRect().bottom - dock.getBoundingClientRect().top;
  if (getComputedStyle(dock).position === "sticky" && hidden > 0) scrollBy(0, hidden + 8);
  else if (hidden <= 0) dock.scrollIntoView({ block: "nearest" });
}

function close() {
  const { place } = now;
  alter({ place: null, open: null });
  setTimeout(() => spotOf(place)?.focus({ preventScroll: true }));
}

/** A place is tapped: what may lie there is offered. */
export function tapped(place) {
  if (now.place === place) return close();
  alter({ place, open: null });
  return setTimeout(toDock);
}

/** Answer with the rulings on a move, by its text or by the places that were tapped. */
export async function rule(query) {
  const body = await fetched(() => put(top().p, query));
  return body?.rulings ?? null;
}

/** What the table decided where the rulebook is silent counts here too. */
export function voted(option, value) {
  if (!now.begun || !(option in now.begun.p.options)) return;
  const set = (step) => ({ ...step, p: { ...step.p, options: { ...step.p.options, [option]: value } } });
  const [empty, table] = [now.empty, now.table].map((step) => step && set(step));
  alter({ empty, table, begun: now.begun === now.table ? table : empty, steps: now.steps.map(set) });
}

/** A move that is allowed has happened: the next one is asked about, or the position is altered. */
async function goOn(position) {
  if (await take(first(position))) alter({ place: null, open: null });
}

/** What a move in dispute is picked from: the same picture. */
export function table() {
  const { p } = top();
  const drawing = rules().drawing;
  return {
    game: now.game, svg: drawing ? null : now.sheet.svg, gestures: now.sheet.gestures, prompt: now.sheet.prompt,
    // What must be said now, a die or a floe, has no place.
    unfolded: rules().unfolded?.(now.sheet.gestures) ?? true, players: p.players, name: t("The position"),
    cards: Object.keys(p.places).map((place) => ({ place })), names: placeName,
    drawn: drawing ? (picked) => drawing({ ...context(), place: picked }) : null,
    more: (one) => one.after && h("button", { type: "button", class: "second", "data-do": "go-on", "data-key": "go-on" }, icon("play"), t("It happened: go on from there")),
  };
}

const placeName = (place) => rules().name(place, context());

function chooser() {
  return h("ul", { class: "games", "aria-label": t("Which game?"), "data-key": "position-games" },
    gameButtons("position-game", now.game, games().filter(({ id, laidOnSheet }) => laidOnSheet || has(id, "position"))));
}

/** Where to begin: as it lies on the table, or with nothing laid. */
function beginnings() {
  if (!now.table) return null;
  const from = (name, words) => h("button", { type: "button", class: "toggle", "data-do": "position-from", "data-from": name, "data-key": `from-${name}`, "aria-pressed": String(now.begun === now[name]) }, words);
  return h("div", { class: "steps", role: "group", "aria-label": t("Where does it begin?"), "data-key": "beginnings" }, from("table", t("As it lies on the table")), from("empty", t("With nothing laid yet")));
}

function wrong() {
  const { problems } = now.sheet;
  if (!problems.length) return null;
  return h("div", { class: "note", role: "status", "data-key": "wrong" }, h("p", null, t("This cannot be quite right:")),
    h("ul", null, problems.map((one) => h("li", null, said(one), " ", clauses(one.clauses)))));
}

function editor() {
  const ctx = context();
  const drawing = rules().drawing;
  const [words, ...fields] = rules().more(ctx);
  return [
    beginnings(),
    h("p", null, rules().hint()),
    drawing ? h("div", { class: "editor-circle", "data-key": "circle" }, drawing(ctx))
      : picture(now.sheet.svg, { game: now.game, lit: new Map(), chosen: now.place ? [now.place] : [], about: [], can: true, every: true, costs: false, name: t("The position"), names: placeName }),
    now.place ? h("div", { class: "editor-dock", "data-key": "dock", role: "group", tabindex: -1, "aria-labelledby": "editor-head" },
      h("div", { class: "editor-head" }, h("h3", { id: "editor-head" }, placeName(now.place)),
        h("button", { type: "button", class: "round-button", "data-do": "editor-close", "aria-label": t("Close") }, icon("close"))),
      rules().dock(ctx)) : null,
    wrong(),
    rules().turn(ctx),
    whoPlays(ctx, rules().choose),
    h("details", { class: "extras", "data-key": `more-${now.game}` }, h("summary", null, words), h("div", { class: "numbers-of" }, fields)),
    h("div", { class: "row", "data-key": "editor-row" },
      h("button", { type: "button", class: "second", "data-do": "editor-undo", disabled: now.steps.length < 2 }, icon("undo"), t("Undo")),
      h("button", { type: "button", class: "second", "data-do": "editor-restart", disabled: now.steps.length < 2 }, t("Start again"))),
    h("button", { type: "button", class: "main", "data-do": "position-ask", "data-key": "position-ask" }, icon("scales"), t("Now the move in dispute")),
  ];
}

/** Draw the panel; `picker` draws what a move is picked from, and the ruling. */
export function panel(picker) {
  return h("section", { class: ["panel", "on-board", "dispute-panel", "by-hand", now.asking && "asks"], "data-key": "by-hand" },
    h("h2", null, t("A position set up by hand")),
    mayAct() ? chooser() : h("p", { class: "note" }, t("Only those who have joined the table may lay out a position.")),
    !mayAct() ? null
      : !now.sheet ? h("p", { class: "quiet", role: "status" }, t("One moment …"))
        : now.asking ? [
            h("p", null, h("button", { type: "button", class: "second", "data-do": "position-edit" }, icon("undo"), t("Back to the position"))),
            wrong(),
            picker(table())]
          : editor());
}

/** What the buttons of the panel do; `fresh` forgets the rulings that were given. */
export const positionDo = (fresh, ruled) => ({
  "position-game": ({ game: id }) => { fresh({ game: null, book: null, found: null, query: "", shown: 0 }); choose(id); },
  "position-from": ({ from }) => {
    if (from === "table") return choose(now.game);
    alter({ begun: now[from], place: null, open: null });
    queue = queue.then(() => take(now.begun, []));
    return queue;
  },
  "position-layout": ({ layout }) => { memory.set(`layout.${now.game}`, layout); choose(now.game, layout); },
  "position-ask": async () => {
    await queue;
    const [first] = now.sheet.problems;
    if (first) return showRefusal(first);
    fresh({});
    alter({ asking: true, place: null, open: null });
    scrollTo(0, 0);
  },
  "position-edit": () => { fresh({}); alter({ asking: false }); },
  "go-on": async () => {
    const position = ruled()?.after;
    if (!position) return;
    fresh({});
    await goOn(position);
  },
  edit: ({ op, a, b, closes }) => {
    if (op === "open") return alter({ open: now.open === a ? null : a });
    edit(op, a, b);
    return closes ? alter({ open: null }) : null;
  },
  "editor-place": ({ place }) => alter({ place, open: null }),
  "editor-close": close,
  "editor-undo": () => { queue = queue.then(back); },
  "editor-restart": () => { queue = queue.then(() => take(now.begun)); alter({ place: null, open: null }); },
});

/** What is typed or chosen alters the position as a tap does. */
export const POSITION_FIELDS = { edit: ({ dataset, value }) => edit(dataset.op, dataset.a, value) };
