// What makes the page lively: things move and sound as they happen. Fetched behind the first drawing.

import { playerName } from "./art.js";
import { has, part } from "./games.js";
import { lazy } from "./lazy.js";
import { boardMoved, look, moves, place, play, whereIs, words } from "./moment.js";
import { mine } from "./my-turn.js";
import { sound } from "./sounds.js";
import { match, memory, store } from "./store.js";

const pace = lazy(() => import("./pace.js"), undefined, (found) => found.tick(mine));
let was = { match: null, board: null };
let now = null;

/** So many moves at once are a catching up after a break. */
const MOST_MOVES = 12;

const stage = { moves, place, play, sound, whereIs, words };
const own = (game) => (has(game.game, "moment") ? part(game.game, "moment") : null);

/** Before the page is drawn anew: keep where things are, if they are about to change. */
export function before() {
  const game = match();
  const same = game && was.match?.id === game.id;
  const stepped = Boolean(same && game !== was.match);
  const redrawn = Boolean(same && store.board && was.board && store.board !== was.board && store.board.match === was.board.match && store.board.state !== was.board.state);
  now = { stepped, redrawn, from: was.match, to: game };
  if (game) now.own = own(game);
  if (!moves()) return;
  if (stepped) now.seen = now.own?.look(stage);
  if (redrawn) now.board = look();
}

const forward = (from, to) => to.moves > from.moves && to.moves - from.moves <= MOST_MOVES;

function gains(from, to, delay) {
  for (const player of to.players) {
    const more = player.score - (from.players.find((one) => one.colour === player.colour)?.score ?? player.score);
    if (more <= 0) continue;
    words(`${playerName(player)} +${more}`, whereIs(player.colour), { delay });
    if (!now.own) sound("gain", delay / 1000);
  }
}

function stepped(from, to) {
  if (!forward(from, to)) return;
  const delay = now.own?.show(stage, from, to, now.seen) ?? 0;
  gains(from, to, delay);
  if (to.over && !from.over) sound("end", delay / 1000);
}

/** After the board was drawn: have its pieces move. */
export function moved() {
  // What began to be drawn before this module had come is not followed.
  if (!now) return;
  if (now.redrawn) for (const what of boardMoved(now.board)) sound(what);
  was = { match: now.to, board: store.board };
}

/** After the page was drawn: show what came about. */
export function after() {
  fetchWished();
  if (!now) return;
  const game = now.to;
  if (now.stepped) stepped(now.from, game);
  // From now on nothing that happens goes by unseen.
  document.body.classList.toggle("lively", Boolean(game) && (!has(game.game, "moment") || Boolean(now.own)));
  now = null;
  (game?.clock ? pace() : pace.here())?.tick();
}

// What this device was asked for once it does again by itself; a place on the home screen is offered at once or never.
const wished = [
  memory.get(store.open ? "voice-tv" : "voice") && lazy(() => import("./voice.js")),
  !store.open && (location.protocol === "https:" || memory.get("awake")) && lazy(() => import("./comforts.js"), "own-phone"),
].filter(Boolean);
const fetchWished = () => wished.forEach((one) => one());
fetchWished();
