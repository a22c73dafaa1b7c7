// The score at the end without a record: a few taps, and the sheet fills; kept, it is a game of the night.

import { h } from "./dom.js";
import { colourName, icon, playerName, token } from "./art.js";
import { fetchPart, gameButtons, gameOf, games, orFirst, part } from "./games.js";
import { fetched, showRefusal, tell } from "./net.js";
import { hasReading, onReading, photoPart, PHOTO_CHANGE, PHOTO_DO } from "./photo-board.js";
import { example, toNotation } from "./notation.js";
import { still } from "./picture.js";
import { openGame, savePanel, saveInto, saveSheet, watching } from "./score-save.js";
import { clauses } from "./rulings.js";
import { boards, held, onBoard } from "./sheet-places.js";
import { verdict } from "./verdict.js";
import { change, mayAct, memory } from "./store.js";
import { code, said, t } from "./words.js";

const seatsOf = (game) => gameOf(game).seats.colours;

/** The game whose sheet is filled, and the sheet; null until its part has come. */
let chosen = null;
let now = null;

const own = () => part(now.game, "sheet");

function fresh(game, sheet) {
  listenTo(sheet);
  // A game that is open is counted with those who play it.
  const here = openGame()?.game === game ? openGame().players.map((player) => player.colour) : null;
  const all = seatsOf(game);
  const { least, usual } = gameOf(game).seats;
  return {
    game, seats: here ? all.filter((seat) => here.includes(seat)) : all.slice(0, usual ?? least), sheet: null, squares: {}, unsure: [], typed: [],
    values: Object.fromEntries(all.map((seat) => [seat, {}])), ...sheet.start?.(all),
  };
}

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

/** What was entered is altered: the sheet that was made of it is old. */
const enter = (changes) => alter({ sheet: null, ...changes });

/** What somebody has, as it was read from a photo of cards, goes into the sheet of a game. */
export async function takeCards(game, seat, cards) {
  const sheet = await fetchPart(game, "sheet");
  chosen = game;
  if (now?.game !== game) now = fresh(game, sheet);
  const seats = seatsOf(game).filter((one) => one === seat || now.seats.includes(one));
  now = { ...now, seats, sheet: null, ...sheet.take(now, seat, cards) };
}

// --- what a photo of the board tells

function changeSquares(squares, changes) {
  enter({ squares, ...changes, ...own().read?.(now, squares) });
}

onReading({
  read: (places, unsure) => {
    const squares = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, held(place)]));
    const seen = new Set(Object.values(places).flatMap((place) => place.things.map((one) => one.colour)));
    const seats = seatsOf(now.game).filter((seat) => seen.has(seat));
    changeSquares(squares, { unsure, typed: [], seats: seats.length > 1 ? seats : now.seats });
  },
  place: (name) => onBoard(now.squares[name]),
  put: (name, place) => changeSquares(place ? { ...now.squares, [name]: held(place) } : now.squares, { unsure: now.unsure.filter((one) => one !== name) }),
});

/** Whether no photo of the board shows a number (one is shown by its `place`), and nobody has typed it in yet. */
const toCount = (seat, name, place) => hasReading(now.game) && !place && !now.typed.includes(`${seat} ${name}`);
const uncounted = () => own().fields().filter(([name, , , place]) => now.seats.some((seat) => toCount(seat, name, place))).map(([, words]) => words);

function fromPhoto() {
  if (!mayAct()) return null;
  return [
    photoPart(now.game, boards(now.squares), now.unsure, uncounted()),
    hasReading(now.game) && own().doubts?.(counted()),
  ];
}

/** The sheet as its game is told of it: with whether a photo filled it. */
const counted = () => ({ ...now, photo: hasReading(now.game) });
const positionNow = () => ({ game: now.game, ...own().position(counted()) });

const named = (seat) => playerName({ colour: seat });

function numbers() {
  const note = (seat, name, place) => (toCount(seat, name, place) ? t("not in the photo") : place && now.unsure.includes(place) ? t("check this") : null);
  return h("div", { class: "numbers-of" }, now.seats.map((seat) => h("fieldset", { "data-key": `numbers-${now.game}-${seat}` },
    h("legend", null, token(seat, "", now.game), " ", named(seat)),
    own().fields().map(([name, words, most, place]) => h("label", { class: ["count-field", note(seat, name, place) && "unsure"] },
      h("span", null, words, note(seat, name, place) ? ` (${note(seat, name, place)})` : null),
      h("input", { type: "number", min: 0, max: most, step: 1, value: now.values[seat][name] ?? 0, inputmode: "numeric",
        "data-input": "score-number", "data-seat": seat, "data-name": name }))),
    own().beside?.(now, seat))));
}

function whoPlays() {
  const all = seatsOf(now.game);
  if (all.length === 2) return null;
  return h("div", { class: "steps", role: "group", "aria-label": t("Who played?") }, all.map((seat) =>
    h("button", { type: "button", class: "toggle", "data-do": "score-seat", "data-seat": seat, "data-key": seat, "aria-pressed": String(now.seats.includes(seat)) },
      token(seat, "", now.game), colourName(seat))));
}

/** What no box holds, in a sentence; null where the numbers can be. */
function tooMany() {
  for (const [name, what, n] of own().fields()) {
    const values = now.seats.map((seat) => now.values[seat][name] ?? 0);
    if (values.some((value) => value > n)) return t("%(what)s: %(n)s at most.", { what, n });
    if (own().shared?.includes(name) && values.reduce((a, b) => a + b, 0) > n) return t("%(what)s: the box has only %(n)s in all.", { what, n });
  }
  return own().wrong?.(now) ?? null;
}

async function reckon(move = "") {
  const wrong = tooMany();
  if (wrong) return showRefusal({ en: wrong });
  const sheet = await fetched(() => tell(`/api/position?lang=${code()}`, { position: positionNow(), move }));
  if (!sheet) return;
  // What was wrong before is no more, and what it comes to stands below all that was entered.
  change((s) => { s.refusal = null; });
  alter({ sheet });
  memory.set("scored", now.game);
  queueMicrotask(() => document.querySelector("[data-key=score-sheet]")?.scrollIntoView());
}

function result() {
  const { sheet } = now;
  if (!sheet) return null;
  const players = sheet.ranking.flat().map((seat) => sheet.players[seat]);
  return h("section", { class: "panel", "data-key": "score-sheet", role: "status" },
    h("h2", null, t("The score")),
    sheet.ruling && verdict(now.game, { ...sheet.ruling, svg: null }),
    h("ol", { class: "ranking" }, players.map((player) => h("li", { class: ["rank", player.place === 1 && "first"] },
      h("details", { class: "sheet", open: true },
        h("summary", null, h("span", { class: "place" }, player.place), token(player.colour, "large", now.game), h("span", { class: "who" }, h("span", { class: "name" }, player.name)),
          h("strong", { class: "total" }, player.total)),
        h("ul", { class: "lines" }, player.lines.map((line) => h("li", null, h("span", null, said(line), " ", clauses(line.clauses)), h("b", null, line.points)))))))),
    sheet.decided && h("p", { class: "sentence" }, said(sheet.decided)),
    (now.unsure.length > 0 || uncounted().length > 0) && h("p", { class: "note" }, t("Not everything has been checked yet: what the photo does not show for sure is marked above.")),
    sheet.problems.length ? h("div", { class: "note" }, h("p", null, t("This cannot be quite right:")),
      h("ul", null, sheet.problems.map((one) => h("li", null, said(one), " ", clauses(one.clauses))))) : null,
    still(sheet.svg, t("The position"), now.game));
}

/** What is entered of the game that is chosen; until its part has come, that it comes. */
function entering() {
  chosen = orFirst(chosen ?? memory.get("scored", memory.get("game", null)), games("sheet"));
  const sheet = part(chosen, "sheet");
  if (!sheet) return h("p", { class: "quiet" }, t("One moment …"));
  if (now?.game !== chosen) now = fresh(chosen, sheet);
  return [
    whoPlays(),
    sheet.photo && fromPhoto(),
    sheet.editor?.(now),
    numbers(),
    sheet.below?.(now),
    h("button", { type: "button", class: "main", "data-do": "reckon" }, icon("check"), t("Count the score")),
    gameOf(chosen).laidOnSheet && h("form", { class: "row", "data-submit": "judge-position", "data-key": "judge-position" },
      h("input", { type: "text", name: "move", maxlength: 80, autocomplete: "off", autocapitalize: "off", placeholder: example(chosen), "aria-label": t("A move in dispute in this position") }),
      h("button", { type: "submit", class: "second" }, t("Ask the referee"))),
  ];
}

/** Draw the room. */
export function room() {
  const entries = entering();
  const ready = now?.game === chosen && own();
  return h("div", { class: "referee", "data-key": "score-room" },
    h("p", null, h("a", { class: "second", href: "#" }, icon("undo"), t("Back to the game"))),
    h("h1", null, t("The score at the end")),
    watching(),
    mayAct() && h("p", null, h("a", { class: "second", href: "#photo" }, icon("camera"), t("Score by photo"))),
    h("section", { class: "panel", "data-key": `score-${chosen}` },
      h("ul", { class: "games", "aria-label": t("Which game?") }, gameButtons("score-game", chosen, games("sheet"))),
      entries),
    ready && result(),
    ready && savePanel(now, own(), !now.unsure.length && !uncounted().length));
}

/** What was kept is on the table now; the next sheet begins empty. */
function saved(done) {
  if (!done) return;
  [chosen, now] = [null, null];
  location.hash = "#";
}

export const ROOM_DO = {
  "score-game": ({ game }) => { [chosen, now] = [game, null]; change(() => {}); },
  "score-seat": ({ seat }) => {
    const on = now.seats.includes(seat) ? now.seats.filter((one) => one !== seat) : seatsOf(now.game).filter((one) => one === seat || now.seats.includes(one));
    if (on.length >= 2) enter({ seats: on });
  },
  reckon: () => reckon(),
  "keep-into": async () => saved(await saveInto({ ...positionNow(), phase: "over" })),
  ...PHOTO_DO,
};

export const ROOM_SUBMIT = {
  "keep-sheet": async (form) => saved(await saveSheet(form, now, { ...positionNow(), phase: "over" })),
  "judge-position": (form) => reckon(toNotation(now.game, new FormData(form).get("move").trim())),
};

export const ROOM_INPUT = {
  "score-number": ({ dataset, value }) => {
    const { seat, name } = dataset;
    const values = { ...now.values, [seat]: { ...now.values[seat], [name]: Math.max(0, Math.trunc(Number(value) || 0)) } };
    now = { ...now, values, typed: [...now.typed, `${seat} ${name}`], ...own().typed?.(now, seat, name) };
    if (now.sheet || hasReading(now.game)) enter({});
  },
};

export const ROOM_CHANGE = { ...PHOTO_CHANGE };

/** A game's sheet has taps and fields of its own; what they say is entered. */
function listenTo({ does = {}, changes = {} }) {
  for (const name of Object.keys(does)) ROOM_DO[name] = (data) => enter(own().does[name](now, data));
  for (const name of Object.keys(changes)) ROOM_CHANGE[name] = (field) => enter(own().changes[name](now, field));
}
