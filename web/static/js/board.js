// A game on a board: whose turn it is, the picture with what is legal now, and the steps that have no place on it.

import { h, keep } from "./dom.js";
import { icon, playerName, token } from "./art.js";
import { act, arrived, ask, pause, showRefusal, tell } from "./net.js";
import { gameOf } from "./games.js";
import { head } from "./head.js";
import { onPhone } from "./narrow.js";
import { bringIntoSight, livePicture } from "./picture.js";
import { carried, complete, followed, isKey, onwards, tapped } from "./taps.js";
import { faults } from "./rulings.js";
import { change, match as openMatch, mayAct, memory, store } from "./store.js";
import { code, said, t, tn, wordsKnown } from "./words.js";

const MANY = 6;
/** The stream brings the board behind the state; after so long it is asked for. */
const PATIENCE_MS = 400;
let fetching = false;

/** Whether the board that is here belongs to what the table shows now. */
const current = () => Boolean(store.board) && store.board.state === store.view?.state;

/** Show a board: one that came with the stream, or that was asked for. */
function show(board) {
  change((s) => {
    s.board = board;
    s.path = board ? followed(board.moves, s.follow) : [];
    s.guessed = s.path.length > 0;
    s.choices = null;
    s.follow = null;
  });
}

/** Take the board that came behind a state; one drawn for another seat than this phone's is not for us. */
export function takeBoard(board) {
  const { colour } = store.me;
  const mine = openMatch()?.players.some((player) => player.colour === colour) ? colour : null;
  if (board.seat === mine && (!store.board || store.board.match !== board.match || board.state >= store.board.state)) show(board);
}

/** After a drawing: have what is to be tapped in sight; where the stream brings no board, ask for it. */
export async function syncBoard() {
  if (current()) bringIntoSight(`${store.board.state} ${store.path.join()}`);
  if (!openMatch()?.board || current() || fetching) return;
  fetching = true;
  try {
    if (store.link === "live") await pause(PATIENCE_MS);
    if (current()) return;
    const { board } = await ask(`/api/board?lang=${code()}${store.open ? "&open=1" : ""}`);
    // The stream may have brought a newer one meanwhile.
    if (!current()) show(board);
  } catch {
    await pause(1000);
  } finally {
    fetching = false;
    if (!current()) change(() => {});
  }
}

const own = (match) => match.players[match.to_move] ?? null;

function seats(match) {
  return h("ul", { class: "turns", "aria-label": t("Players") }, match.players.map((player) =>
    h("li", { class: ["turn", player.turn && "on"], "data-key": player.colour, "aria-current": player.turn ? "true" : null },
      token(player.colour), h("span", { class: "name" }, playerName(player)),
      h("b", null, h("span", { class: "unseen" }, t("Points"), " "), player.score))));
}

/** Whether this phone goes round the table, as it was said on it. */
export const goesRound = () => mayAct() && memory.get("round", false);

/** Those of a match who play on phones of their own, as it was said on the one that goes round. */
const elsewhere = ({ id }) => {
  const { match, seats } = memory.get("round-others", {});
  return match === id ? seats : [];
};

/** To whom this phone is to be passed now, where it goes round; null while the right hands have it. */
export function passedTo(match) {
  const next = match?.board && !match.over && goesRound() ? match.players.find((one) => one.turn) : null;
  return next && next.colour !== store.me.colour && !elsewhere(match).includes(next.colour) ? next : null;
}

function hands(match) {
  if (!mayAct()) return null;
  const mine = store.board?.seat ?? null;
  const round = goesRound();
  return h("fieldset", { class: "hands", "data-key": "hands" },
    h("legend", null, match.draw && match.hands && !round ? t("Whose hand is shown on this phone?") : t("This phone")),
    match.draw && match.hands && !round && [[null, t("nobody’s")], ...match.players.map((player) => [player.colour, playerName(player)])].map(([colour, words]) =>
      h("button", { type: "button", class: "toggle", "data-do": "seat", "data-colour": colour ?? "", "data-key": `hand-${colour}`,
        "aria-pressed": String(mine === colour) }, words)),
    h("button", { type: "button", class: "toggle", "data-do": "pass-round", "data-key": "pass-round", "aria-pressed": String(round) },
      t("One phone for all, passed round")));
}

function button(move, many) {
  const last = !many && store.board.moves.length === 1;
  return h("button", { type: "button", class: last ? "main" : "second", "data-do": "say", "data-move": move.text, "data-key": `say-${move.text}` },
    many && move.short ? [h("span", { "aria-hidden": "true" }, said(move.short)), h("span", { class: "unseen" }, said(move))] : said(move),
    move.cost !== null && h("small", null, tn("%(n)s point", "%(n)s points", move.cost)));
}

function groups(moves) {
  const found = new Map();
  for (const move of moves) {
    // A few buttons need no headings.
    const name = moves.length > MANY ? said(move.group) : "";
    found.set(name, [...(found.get(name) ?? []), move]);
  }
  return [...found].map(([name, list]) =>
    h("div", { class: "group", role: "group", "aria-label": name || null, "data-key": `group-${name}` },
      name && h("h2", null, name),
      h("div", { class: ["steps", moves.length > MANY && "many"] }, list.map((move) => button(move, moves.length > MANY)))));
}

function keys(next) {
  return [...next].filter(([step]) => isKey(step)).map(([step, moves]) =>
    h("button", { type: "button", class: "second", "data-do": "tap", "data-place": step, "data-key": `key-${step}`,
      "aria-pressed": "false" }, said(moves[0].keys[step])));
}

function dock(match, next) {
  if (!mayAct()) return h("p", { class: "hint" }, t("You are watching."), " ", h("a", { href: "/join" }, t("Join with the table’s PIN")));
  const { board, path, choices } = store;
  const whole = path.length === 1 && !isKey(path[0]) ? [...complete(board.moves, path), ...complete(board.moves, [])] : complete(board.moves, path);
  const direct = choices ?? whole;
  const more = keys(next);
  const parts = [groups(direct), more.length ? h("div", { class: "steps" }, more) : null];
  if (path.length || choices) {
    parts.push(h("button", { type: "button", class: "small-button back", "data-do": "back" }, icon("undo"), t("Choose again")));
  } else if (match.arrange && match.moves === 0) {
    parts.push(h("button", { type: "button", class: "second", "data-do": "deal" }, icon("cards"), t("The companion draws the set-up")));
  } else if (!board.moves.length && match.draw && match.hands) {
    parts.push(h("p", { class: "hint" }, t("Only the owner of the hand can go on: choose whose hand this phone shows.")));
  }
  return parts;
}

function title(match) {
  const player = own(match);
  if (player) return t("%(who)s plays", { who: playerName(player) });
  const turn = match.players.find((one) => one.turn);
  return turn ? t("%(who)s plays", { who: playerName(turn) }) : t("The set-up");
}

/** What the picture was drawn from; another list each time that picture and dock are made anew. */
let shown = [];
const drawn = livePicture();

/** How the board of a match stands: `ready` where it belongs to what the table shows now. */
function standing(match) {
  const ready = current() && store.board.match === match.id;
  const board = store.board?.match === match.id ? store.board : null;
  const can = ready && mayAct() && !store.view.night.paused;
  const next = board && ready ? onwards(board.moves, store.path) : new Map();
  // Until the board has come that belongs to the state, or to what was sent, the one before it stays as it is.
  if ((ready && (board !== shown[0] || arrived())) || shown[0]?.match !== match.id) shown = [board, can, ready, store.path.join(), said(match.title), wordsKnown(), onPhone()];
  return { ready, board, can, next };
}

function pictured(match, { ready, board, can, next }) {
  const places = new Map([...next].filter(([step]) => !isKey(step)));
  return drawn(shown, () =>
    [board.svg, { lit: can ? places : new Map(), draggable: can ? carried(board.moves) : new Set(), chosen: store.path, about: ready ? board.about : [], state: ready ? board.state : "", can, costs: store.path.length > 0, game: match.game, name: said(match.title), names: (place) => board.names[place] }]);
}

/** Draw the picture alone, where it is on the page already; returns whether it was. What stands round it is drawn behind it. */
export function boardAhead(match) {
  const stands = standing(match);
  return Boolean(stands.board) && pictured(match, stands).nodeName === "TEMPLATE";
}

/** Draw a game on a board as it is being played. */
export function boardPlay(match) {
  const { paused } = store.view.night;
  const stands = standing(match);
  const { ready, board, next } = stands;
  const sentence = paused ? t("The night is paused.") : said(match.prompt);
  const count = board && ready ? (store.choices ?? complete(board.moves, store.path)).length : 0;
  return h("section", { class: ["play", "on-board", paused && "paused"], "data-key": "board-play", "data-phase": match.phase,
      "data-state": ready ? board.state : null },
    head(match, title(match), sentence),
    seats(match),
    match.points !== null && h("p", { class: "points", "data-key": "points" }, h("b", null, match.points), " ",
      gameOf(match.game).left?.(match.points) ?? tn("point left", "points left", match.points)),
    board ? pictured(match, stands)
      : h("p", { class: "quiet" }, t("Drawing the board …")),
    board?.private.length ? h("ul", { class: "private", "data-key": "private" }, board.private.map((one) => h("li", null, said(one)))) : null,
    keep("dock", [shown], () => h("div", { class: ["dock", count > MANY && "tall"], "data-key": "dock" },
      paused && mayAct()
        ? h("button", { type: "button", class: "main", "data-do": "resume" }, icon("play"), t("Go on"))
        : ready ? dock(match, next) : null)),
    h("p", { class: "row", "data-key": "objection" },
      h("a", { class: "second", href: "#referee" }, icon("scales"), t("You can’t do that!"))),
    hands(match),
    match.stand_in && h("p", { class: "note", "data-key": "stand-in" },
      t("Played with stand-in pieces: nobody has entered yet what is in the box.")),
    faults(match));
}

function play(move) {
  const places = move.path.filter((step) => !isKey(step));
  // Nothing is drawn for it: the board stays as it is until the next one has come.
  store.path = [];
  store.choices = null;
  store.follow = places.length > 1 && places.length === move.path.length ? places.at(-1) : null;
  act("moves", { moves: [move.text] });
}

/** A place where nothing of the kind is legal: say why not, with the clause, unless the table has moved on meanwhile. */
async function why(path) {
  const { board } = store;
  try {
    const { rulings } = await ask(`/api/board/dispute?lang=${code()}&path=${path.map(encodeURIComponent).join(",")}`);
    const no = rulings.find((one) => !one.legal);
    if (no && store.board === board) showRefusal(no, "why");
  } catch (refused) {
    showRefusal(refused.error);
  }
}

function tap({ place }) {
  if (!current() || !mayAct()) return;
  const { board, path } = store;
  const meant = tapped(board.moves, store.choices ? [] : path, place, store.guessed);
  if (!meant) {
    why([...path.filter((step) => !isKey(step)), place]);
  } else if (meant.play) {
    play(meant.play);
  } else {
    change((s) => { s.path = meant.path ?? []; s.choices = meant.choices ?? null; s.guessed = false; s.refusal = null; });
  }
}

/** What is carried on a board: a piece that is lifted is chosen, and where it is let go of is tapped. */
export const DRAG = {
  lift: ({ place }) => {
    if (!current() || !mayAct()) return false;
    change((s) => { s.path = [place]; s.choices = null; s.guessed = false; s.refusal = null; });
    return true;
  },
  drop: (data) => {
    const place = data?.do === "tap" && data.place;
    if (place && place !== store.path[0]) tap({ place });
    else change((s) => { s.path = []; });
  },
};

/** What can be tapped in a game on a board. */
export const BOARD_DO = {
  tap,
  say: ({ move }) => {
    if (!current()) return;
    const found = store.board.moves.find((one) => one.text === move);
    if (found) play(found);
  },
  back: () => change((s) => { s.path = []; s.choices = null; }),
  "pass-round": () => {
    memory.set("round", !goesRound());
    change(() => {});
  },
  "pass-not": ({ colour }) => {
    const match = openMatch();
    memory.set("round-others", { match: match.id, seats: [...elsewhere(match), colour] });
    change(() => {});
  },
  seat: async ({ colour }) => {
    try {
      const { me } = await tell("/api/seat", { colour: colour || null });
      change((s) => { s.me = me; s.board = null; s.path = []; s.choices = null; });
      show((await ask(`/api/board?lang=${code()}`)).board);
    } catch (refused) {
      showRefusal(refused.error);
    }
  },
};
