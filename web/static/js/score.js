// The score at the end without a record: a few taps, and the sheet fills; kept, it is a game of the night.

import { h, s } from "./dom.js";
import { COLOURS, colourName, icon, playerName, token } from "./art.js";
import { fetched, showRefusal, tell } from "./net.js";
import { hasReading, onReading, photoPart, PHOTO_CHANGE, PHOTO_DO } from "./photo-board.js";
import { example, toNotation } from "./notation.js";
import { still } from "./picture.js";
import { BOARDS } from "./seats.js";
import { openGame, savePanel, saveInto, saveSheet, watching } from "./score-save.js";
import { GAMES } from "./setup.js";
import { clauses } from "./rulings.js";
import { verdict } from "./verdict.js";
import { change, mayAct, memory } from "./store.js";
import { code, said, t } from "./words.js";

const COLUMNS = "abcdefgh";
const CORNERS = ["a1", "h1", "a8", "h8"];
export const ANIMALS = ["fox", "moose", "walrus", "orca", "puffin", "bear"];
const BEARS = 4;
const LANDS = [0, 1, 3, 6, 10, 15];
const seatsOf = (game) => (game === "igloo-pop" ? COLOURS : BOARDS[game].colours);
export const animal = (name) => ({ fox: t("fox"), moose: t("moose"), walrus: t("walrus"), orca: t("orca"), puffin: t("puffin"), bear: t("bear") }[name]);

let now = null;

function fresh(game) {
  // A game that is open is counted with those who play it.
  const here = openGame()?.game === game ? openGame().players.map((player) => player.colour) : null;
  const seats = here ? seatsOf(game).filter((seat) => here.includes(seat)) : seatsOf(game).slice(0, game === "igloo-pop" ? 3 : 2);
  return {
    game, seats, sheet: null, tool: "floe", squares: {}, unsure: [], typed: [],
    values: Object.fromEntries(seatsOf(game).map((seat) => [seat, {}])),
    piles: Object.fromEntries(seatsOf(game).map((seat) => [seat, []])),
    won: {}, totems: {}, blocked: null, tokens: Object.fromEntries(ANIMALS.map((name) => [name, 3])),
  };
}

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

/** A pile that was read from a photo goes into the sheet of Arctic. */
export function takePile(seat, kinds) {
  if (now?.game !== "arctic") now = fresh("arctic");
  const seats = seatsOf("arctic").filter((one) => one === seat || now.seats.includes(one));
  now = { ...now, seats, sheet: null, piles: { ...now.piles, [seat]: kinds } };
}

/** The cards of Igloo Pop that somebody has won were read from a photo. */
export function takeCards(seat, cards) {
  if (now?.game !== "igloo-pop") now = fresh("igloo-pop");
  const seats = COLOURS.filter((one) => one === seat || now.seats.includes(one));
  const of = (numbers) => cards.filter((card) => card.split("/").length === numbers).length;
  const values = { ...now.values[seat], three: of(1), two: of(2), one: of(3) };
  now = { ...now, seats, sheet: null, won: { ...now.won, [seat]: cards }, values: { ...now.values, [seat]: values } };
}

/** What was entered is altered: the sheet that was made of it is old. */
const enter = (changes) => alter({ ...changes, sheet: null });

// --- Iglu Iglu: the board, by a tool and taps

const TOOLS = () => [
  ["floe", t("floe")], ["pack", t("pack")], ["water", t("water")], ["clear", t("clear")],
  ...now.seats.flatMap((seat) => [[`inuit ${seat}`, t("inuit: %(colour)s", { colour: colourName(seat) })], [`igloo ${seat}`, t("igloo: %(colour)s", { colour: colourName(seat) })]]),
  ...[1, 2, 3].map((n) => [`fish ${n}`, t("fish %(n)s", { n })]), ...[1, 2, 3].map((n) => [`fox ${n}`, `${t("fox")} ${n}`]), ["bear 4", t("bear")],
];

function onSquare(name) {
  const here = now.squares[name] ?? { ground: CORNERS.includes(name) ? "land" : "water", things: {} };
  const [kind, which] = now.tool.split(" ");
  let { ground } = here;
  let things = { ...here.things };
  if (kind === "clear") [ground, things] = [CORNERS.includes(name) ? "land" : "water", {}];
  else if (which === undefined) ground = CORNERS.includes(name) ? "land" : kind;
  else if (kind === "igloo") things[now.tool] = things[now.tool] ? 0 : 1;
  else things[now.tool] = ((things[now.tool] ?? 0) + 1) % 6;
  enter({ squares: { ...now.squares, [name]: { ground, things } }, unsure: now.unsure.filter((one) => one !== name) });
}

// --- what a photo of the board tells

/** A place as the sheet holds it (things by `kind which`, with their count), and in the one form of a board. */
const held = (place) => ({ ground: place.ground, things: Object.fromEntries(place.things.map((one) => [`${one.kind} ${one.colour ?? one.value ?? 4}`, one.count ?? 1])) });
const onBoard = ({ ground, things }) => ({ ground, things: Object.entries(things).filter(([, count]) => count > 0).map(([what, count]) => {
  const [kind, which] = what.split(" ");
  return Number(which) ? { kind, value: Number(which), count } : { kind, colour: which, count };
}) });
const boards = (squares) => Object.fromEntries(Object.entries(squares).map(([name, square]) => [name, onBoard(square)]));

/** How many bears of a team stand in the Village, in a photo that was read. */
const atHome = (squares) => Object.fromEntries(now.seats.map((seat) => [seat, { ...now.values[seat], home: squares.village.things[`bear ${seat}`] ?? 0 }]));

function changeSquares(squares, changes) {
  enter({ squares, ...changes, ...(now.game === "ice-team" ? { values: { ...now.values, ...atHome(squares) } } : {}) });
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

/** Whether no photo of the board shows a number, and nobody has typed it in yet. */
const toCount = (seat, name) => hasReading(now.game) && name !== "home" && !now.typed.includes(`${seat} ${name}`);
const uncounted = () => FIELDS().filter(([name]) => now.seats.some((seat) => toCount(seat, name))).map(([, words]) => words);

/** Teams of Ice Team that have not four bears on the board, as it was read and put right. */
function oddTeams() {
  if (now.game !== "ice-team" || !hasReading("ice-team")) return [];
  return now.seats.map((seat) => [seat, iceTeam().places]).map(([seat, places]) => [seat, Object.values(places).reduce((sum, place) =>
    sum + place.things.filter((one) => one.colour === seat).reduce((n, one) => n + one.count, 0), 0)]).filter(([, count]) => count !== BEARS);
}

function fromPhoto() {
  if (!mayAct()) return null;
  return [
    photoPart(now.game, boards(now.squares), now.unsure, uncounted()),
    oddTeams().map(([seat, count]) => h("p", { class: "note", role: "status", "data-key": `bears-${seat}` },
      t("%(colour)s has %(n)s bears here, not four: look again.", { colour: colourName(seat), n: count }))),
  ];
}

/** What is written on a piece: tribes by their letter, so that colour never stands alone; igloos are square. */
function mark(kind, which, count) {
  if (kind === "fish" || kind === "fox") return (kind === "fox" ? t("fox") : t("fish")).charAt(0) + which;
  if (kind === "bear") return "4";
  const letter = colourName(which).charAt(0).toLocaleUpperCase();
  return kind === "inuit" && count > 1 ? `${letter}${count}` : letter;
}

function square(name, x, y) {
  const here = now.squares[name] ?? { ground: CORNERS.includes(name) ? "land" : "water", things: {} };
  const things = Object.entries(here.things).filter(([, count]) => count > 0);
  const words = things.map(([what, count]) => {
    const [kind, which] = what.split(" ");
    return `${kind in { inuit: 1, igloo: 1 } ? `${kind === "inuit" ? t("inuit") : t("igloo")} ${colourName(which)}` : kind === "fish" ? t("fish %(n)s", { n: which }) : `${animal(kind) ?? kind} ${which}`}${count > 1 ? ` ×${count}` : ""}`;
  });
  const ground = { land: t("land"), floe: t("floe"), pack: t("pack"), water: t("water") }[here.ground];
  // What is written on the pieces belongs to the name, for who calls a square by what is seen there.
  const written = things.map(([what, count]) => mark(...what.split(" "), count)).join("");
  return s("g", { class: ["square", here.ground, now.unsure.includes(name) && "unsure"], role: "button", tabindex: 0, "data-do": "square", "data-square": name, "data-key": name,
      "aria-label": [`${name}: ${ground}`, ...words].join(", ") + (written && `, ${written}`), transform: `translate(${x} ${y})` },
    s("rect", { width: 60, height: 60 }),
    things.map(([what, count], i) => {
      const [kind, which] = what.split(" ");
      const [cx, cy] = [16 + 28 * (i % 2), 22 + 24 * Math.floor(i / 2)];
      return s("g", { class: ["thing", kind, which], transform: `translate(${cx} ${cy})`, "aria-hidden": "true" },
        kind === "igloo" ? s("path", { d: "M-13 11V1a13 13 0 0 1 26 0v10z" }) : s("circle", { r: 12 }),
        s("text", { y: 5, "text-anchor": "middle" }, mark(kind, which, count)));
    }));
}

function boardEditor() {
  return [
    fromPhoto(),
    h("div", { class: "steps tools-of-board", role: "group", "aria-label": t("What is put on a square") }, TOOLS().map(([id, words]) =>
      h("button", { type: "button", class: "toggle", "data-do": "board-tool", "data-tool": id, "data-key": id, "aria-pressed": String(now.tool === id) }, words))),
    h("div", { class: "sheet-of-board", "data-key": "editor" },
      s("svg", { class: "board editor", viewBox: "-22 0 506 504", role: "group", "aria-label": "Iglu Iglu" },
        Array.from({ length: 64 }, (_, i) => square(`${COLUMNS[i % 8]}${8 - Math.floor(i / 8)}`, 60 * (i % 8), 60 * Math.floor(i / 8))),
        Array.from({ length: 8 }, (_, i) => [s("text", { class: "name", x: 60 * i + 30, y: 500, "text-anchor": "middle" }, COLUMNS[i]),
          s("text", { class: "name", x: -12, y: 60 * i + 36, "text-anchor": "middle" }, 8 - i)]))),
  ];
}

/** The box's tokens; foxes come last, for only with them the rules ask where their packs are. */
const TOKENS = [["fish", 3, 8], ["bear", 4, 4], ["fish", 2, 12], ["fish", 1, 8], ["fox", 3, 3], ["fox", 2, 4], ["fox", 1, 3]];

/** Trophies that make up each sum, out of one box, by seat; `missing` is what no token was left for. */
function trophies() {
  const left = TOKENS.map(([kind, value, count]) => ({ kind, value, count }));
  let missing = 0;
  const by = Object.fromEntries(now.seats.map((seat) => {
    let sum = now.values[seat].trophies ?? 0;
    const taken = [];
    for (const one of left) {
      const count = Math.min(one.count, Math.floor(sum / one.value));
      if (!count) continue;
      one.count -= count;
      sum -= count * one.value;
      taken.push({ kind: one.kind, value: one.value, count });
    }
    missing += sum;
    return [seat, taken];
  }));
  return { by, missing };
}

function iglu() {
  const places = {};
  for (const row of "12345678") for (const column of COLUMNS) {
    const name = column + row;
    const { ground, things } = now.squares[name] ?? { ground: CORNERS.includes(name) ? "land" : "water", things: {} };
    places[name] = onBoard({ ground, things });
  }
  return { places, players: now.seats.map((seat) => ({ name: named(seat), colour: seat })), trophies: trophies().by };
}

// --- Arctic: piles and tokens

function arcticEditor() {
  return [
    h("fieldset", { class: "counts-of-box" }, h("legend", null, t("Where each animal's token stands")),
      ANIMALS.map((name) => h("label", { class: "count-field" }, h("span", null, animal(name)),
        h("select", { "data-change": "token", "data-animal": name }, LANDS.map((n) => h("option", { value: n, selected: now.tokens[name] === n }, n)))))),
    now.seats.map((seat) => h("fieldset", { class: "pile-of", "data-key": `pile-${seat}` },
      h("legend", null, t("Pile of %(who)s, from the bottom up", { who: named(seat) })),
      h("p", { class: "pile" }, now.piles[seat].length ? now.piles[seat].map((name) => h("span", { class: "mini-card" }, name === "?" ? "?" : animal(name))) : t("no card")),
      h("div", { class: "steps many" },
        [...ANIMALS, "?"].map((name) => h("button", { type: "button", class: "second", "data-do": "pile", "data-seat": seat, "data-animal": name },
          name === "?" ? t("face down") : animal(name))),
        h("button", { type: "button", class: "second", "data-do": "unpile", "data-seat": seat, disabled: !now.piles[seat].length, "aria-label": t("Take the top card away") }, icon("undo"))),
      h("label", { class: "count-field" }, h("span", null, t("Totem")),
        h("select", { "data-change": "totem", "data-seat": seat }, h("option", { value: "" }, "?"),
          ANIMALS.map((name) => h("option", { value: name, selected: now.totems[seat] === name }, animal(name))))))),
  ];
}

function arctic() {
  const places = {};
  for (const land of LANDS) {
    places[`land${land}`] = { ground: "landscape", things: ANIMALS.filter((name) => now.tokens[name] === land).map((kind) => ({ kind, count: 1 })) };
  }
  const players = now.seats.map((seat) => ({
    name: named(seat), pile: now.piles[seat].map((name) => (name === "?" ? "down:?" : name)), hand: 0,
    penalty: now.values[seat].penalty ?? 0, ...(now.totems[seat] ? { totem: now.totems[seat] } : {}),
  }));
  return { places, players, phase: Object.keys(now.totems).length >= now.seats.length ? "over" : "totems", stage: "last" };
}

// --- Ice Team and Igloo Pop: numbers

const FIELDS = () => ({
  "igloo-pop": [["three", t("cards with one number (3 points)"), 12], ["two", t("cards with two numbers (2 points)"), 11],
    ["one", t("cards with three numbers (1 point)"), 10], ["own", t("own thalers left"), 10], ["captured", t("thalers won from others"), 50]],
  "iglu-iglu": [["trophies", t("sum of the trophies"), 85]],
  arctic: [["penalty", t("Penalty cards"), 60]],
  "ice-team": [["fresh", t("fresh fish"), 99], ["frozen", t("frozen fish"), 99], ["home", t("bears in the Village"), 4]],
})[now.game];

function iceTeam() {
  const bears = (place, count) => ({ ground: place, things: now.seats.map((colour) => ({ kind: "bear", colour, count: count(colour) })).filter((one) => one.count > 0) });
  const home = (colour) => now.values[colour].home ?? 0;
  const read = hasReading("ice-team") ? boards(now.squares) : { start: bears("start", (colour) => BEARS - home(colour)) };
  return {
    places: { ...read, village: bears("village", home) },
    players: now.seats.map((colour) => ({ name: named(colour), colour, fresh: now.values[colour].fresh ?? 0, frozen: now.values[colour].frozen ?? 0 })),
    phase: "over", ...(now.blocked ? { loser: now.blocked } : {}),
  };
}

/** Ice Team ends when a team is home, or when one cannot move any more: that one has lost. */
function blocked() {
  if (now.game !== "ice-team" || now.seats.some((seat) => now.values[seat].home === BEARS)) return null;
  return h("label", { class: "count-field" }, h("span", null, t("A team that could not move any more, and so has lost")),
    h("select", { "data-change": "blocked" }, h("option", { value: "" }, t("none")),
      now.seats.map((seat) => h("option", { value: seat, selected: now.blocked === seat }, colourName(seat)))));
}

const numbered = (length, count) => Array.from({ length: count }, (_, i) => Array.from({ length }, (__, j) => i + 2 + j).join("/"));

function iglooPop() {
  // Cards that nobody named are made up, of the worth that was counted.
  const known = new Set(Object.values(now.won).flat());
  const stack = Object.fromEntries(Object.entries({ three: [1, 12], two: [2, 11], one: [3, 10] })
    .map(([kind, size]) => [kind, numbered(...size).filter((card) => !known.has(card))]));
  const players = now.seats.map((colour) => {
    const value = now.values[colour];
    const cards = now.won[colour] ?? CARDS_OF_ALL.flatMap((kind) => stack[kind].splice(0, value[kind] ?? 0));
    return { name: named(colour), colour, own: value.own ?? 0, captured: value.captured ?? 0, cards };
  });
  return { places: {}, players, phase: "over" };
}

const POSITIONS = { "igloo-pop": iglooPop, "iglu-iglu": iglu, arctic, "ice-team": iceTeam };
const positionNow = () => ({ game: now.game, ...POSITIONS[now.game]() });
const named = (seat) => playerName({ colour: seat });

function numbers() {
  return h("div", { class: "numbers-of" }, now.seats.map((seat) => h("fieldset", { "data-key": `numbers-${now.game}-${seat}` },
    h("legend", null, token(seat, "", now.game), " ", named(seat)),
    FIELDS().map(([name, words, most]) => h("label", { class: ["count-field", (toCount(seat, name) || (name === "home" && now.unsure.includes("village"))) && "unsure"] },
      h("span", null, words, toCount(seat, name) ? ` (${t("not in the photo")})` : name === "home" && now.unsure.includes("village") ? ` (${t("check this")})` : null),
      h("input", { type: "number", min: 0, max: most, step: 1, value: now.values[seat][name] ?? 0, inputmode: "numeric",
        "data-input": "score-number", "data-seat": seat, "data-name": name }))),
    now.won[seat]?.length > 0 && h("p", { class: "pile" }, now.won[seat].map((card) => h("span", { class: "mini-card" }, card))))));
}

function whoPlays() {
  const all = seatsOf(now.game);
  if (all.length === 2) return null;
  return h("div", { class: "steps", role: "group", "aria-label": t("Who played?") }, all.map((seat) =>
    h("button", { type: "button", class: "toggle", "data-do": "score-seat", "data-seat": seat, "data-key": seat, "aria-pressed": String(now.seats.includes(seat)) },
      token(seat, "", now.game), colourName(seat))));
}

const CARDS_OF_ALL = ["three", "two", "one"];

/** What no box holds, in a sentence; null where the numbers can be. */
function tooMany() {
  for (const [name, what, n] of FIELDS()) {
    const values = now.seats.map((seat) => now.values[seat][name] ?? 0);
    if (values.some((value) => value > n)) return t("%(what)s: %(n)s at most.", { what, n });
    if (CARDS_OF_ALL.includes(name) && values.reduce((a, b) => a + b, 0) > n) return t("%(what)s: the box has only %(n)s, for all together.", { what, n });
  }
  return now.game === "iglu-iglu" && trophies().missing > 0 ? t("The trophies of one box do not make up these sums.") : null;
}

async function reckon(move = "") {
  const wrong = tooMany();
  if (wrong) return showRefusal({ en: wrong });
  const sheet = await fetched(() => tell(`/api/position?lang=${code()}`, { position: positionNow(), move }));
  if (!sheet) return;
  alter({ sheet });
  memory.set("scored", now.game);
}

function result() {
  const { sheet } = now;
  if (!sheet) return null;
  const players = sheet.ranking.flat().map((seat) => sheet.players[seat]);
  return h("section", { class: "panel", "data-key": "score-sheet", role: "status" },
    h("h2", null, t("The score")),
    sheet.ruling && verdict({ ...sheet.ruling, svg: null }, null),
    h("ol", { class: "ranking" }, players.map((player) => h("li", { class: ["rank", player.place === 1 && "first"] },
      h("details", { class: "sheet", open: true },
        h("summary", null, h("span", { class: "place" }, player.place), token(player.colour, "large", now.game), h("span", { class: "who" }, h("span", { class: "name" }, player.name)),
          h("strong", { class: "total" }, player.total)),
        h("ul", { class: "lines" }, player.lines.map((line) => h("li", null, h("span", null, said(line), " ", clauses(line.clauses)), h("b", null, line.points)))))))),
    sheet.decided && h("p", { class: "sentence" }, said(sheet.decided)),
    (now.unsure.length > 0 || uncounted().length > 0) && h("p", { class: "note" }, t("Not everything was checked yet: what the photo does not tell for sure is marked above.")),
    sheet.problems.length ? h("div", { class: "note" }, h("p", null, t("This cannot be quite right:")),
      h("ul", null, sheet.problems.map((one) => h("li", null, said(one), " ", clauses(one.clauses))))) : null,
    still(sheet.svg, t("The position")));
}

/** Draw the room. */
export function room() {
  now ??= fresh(memory.get("scored", memory.get("game", "igloo-pop")));
  const { game } = now;
  return h("div", { class: "referee", "data-key": "score-room" },
    h("p", null, h("a", { class: "second", href: "#" }, icon("undo"), t("Back to the game"))),
    h("h1", null, t("The score at the end")),
    watching(),
    mayAct() && h("p", null, h("a", { class: "second", href: "#photo" }, icon("camera"), t("Score by photo"))),
    h("section", { class: "panel", "data-key": `score-${game}` },
      h("ul", { class: "games", "aria-label": t("Which game?") }, GAMES.map(([id, name]) => h("li", null,
        h("button", { type: "button", class: "toggle", "data-do": "score-game", "data-game": id, "aria-pressed": String(id === game) }, name)))),
      whoPlays(),
      game === "iglu-iglu" ? boardEditor() : null,
      game === "ice-team" ? fromPhoto() : null,
      game === "arctic" ? arcticEditor() : null,
      numbers(),
      blocked(),
      h("button", { type: "button", class: "main", "data-do": "reckon" }, icon("check"), t("Count the score")),
      game === "iglu-iglu" && h("form", { class: "row", "data-submit": "judge-position", "data-key": "judge-position" },
        h("input", { type: "text", name: "move", maxlength: 80, autocomplete: "off", autocapitalize: "off", placeholder: example("iglu-iglu"), "aria-label": t("A move in dispute in this position") }),
        h("button", { type: "submit", class: "second" }, t("Rule on it")))),
    result(),
    savePanel(now, !now.unsure.length && !uncounted().length));
}

/** What was kept is on the table now; the next sheet begins empty. */
function saved(done) {
  if (!done) return;
  now = null;
  location.hash = "#";
}

export const ROOM_DO = {
  "score-game": ({ game }) => { now = fresh(game); change(() => {}); },
  "score-seat": ({ seat }) => {
    const on = now.seats.includes(seat) ? now.seats.filter((one) => one !== seat) : seatsOf(now.game).filter((one) => one === seat || now.seats.includes(one));
    if (on.length >= 2) enter({ seats: on });
  },
  "board-tool": ({ tool }) => alter({ tool }),
  square: ({ square: name }) => onSquare(name),
  pile: ({ seat, animal: name }) => enter({ piles: { ...now.piles, [seat]: [...now.piles[seat], name] } }),
  unpile: ({ seat }) => enter({ piles: { ...now.piles, [seat]: now.piles[seat].slice(0, -1) } }),
  reckon: () => reckon(),
  "keep-into": async () => saved(await saveInto({ ...positionNow(), phase: "over" })),
  ...PHOTO_DO,
};

export const ROOM_SUBMIT = {
  "keep-sheet": async (form) => saved(await saveSheet(form, now, { ...positionNow(), phase: "over" })),
  "judge-position": (form) => reckon(toNotation(new FormData(form).get("move").trim())),
};

export const ROOM_INPUT = {
  "score-number": ({ dataset, value }) => {
    const { seat, name } = dataset;
    now.values = { ...now.values, [seat]: { ...now.values[seat], [name]: Math.max(0, Math.trunc(Number(value) || 0)) } };
    now.typed = [...now.typed, `${seat} ${name}`];
    if (CARDS_OF_ALL.includes(name)) now.won = Object.fromEntries(Object.entries(now.won).filter(([one]) => one !== seat));
    if (now.sheet || hasReading(now.game)) enter({});
  },
};

export const ROOM_CHANGE = {
  ...PHOTO_CHANGE,
  blocked: ({ value }) => enter({ blocked: value || null }),
  token: ({ dataset, value }) => enter({ tokens: { ...now.tokens, [dataset.animal]: Number(value) } }),
  totem: ({ dataset, value }) => {
    const { [dataset.seat]: gone, ...others } = now.totems;
    enter({ totems: value ? { ...others, [dataset.seat]: value } : others });
  },
};
