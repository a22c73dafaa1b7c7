// A turn clock, for tables that want one: a quiet ring beside whose turn it is, one nudge when it runs out, no more.

import { h, s, style } from "./dom.js";
import { playerName } from "./art.js";
import { closeDialog, openDialog } from "./dialogs.js";
import { whereIs, words } from "./moment.js";
import { act } from "./net.js";
import { sound } from "./sounds.js";
import { match, store } from "./store.js";
import { speak, voiceOn } from "./voice.js";
import { t, tn } from "./words.js";

const CHOICES = [0, 1, 2, 3, 5, 10];
const MINUTE_MS = 60000;
/** A page that comes so long after the end of a turn's time nudges nobody any more. */
const LATE_MS = 20000;

let mine = () => {};
/** The table's clock minus this device's. */
let skew = null;
/** The turn that was nudged, by when it began. */
let nudged = null;

async function compareClocks() {
  skew = 0;
  const told = (await fetch("/api/health", { method: "HEAD", cache: "no-store" }).catch(() => null))?.headers.get("Date");
  if (told) skew = Date.parse(told) + 500 - Date.now();
}

/** Choose how long a turn may take, or take what was tapped of it. */
export async function clock({ minutes }) {
  if (minutes !== undefined) {
    closeDialog(null);
    return act("clock", { minutes: Number(minutes) });
  }
  const now = match().clock?.minutes ?? 0;
  return openDialog(t("Turn clock"),
    h("p", null, t("How long may a turn take? A ring shows it on every screen. When it runs out there is one nudge, and nothing else.")),
    h("div", { class: "row" }, CHOICES.map((n) => h("button", { type: "button", class: "second", "data-do": "clock", "data-minutes": n, "aria-pressed": String(n === now) },
      n ? tn("%(n)s minute", "%(n)s minutes", n) : t("no clock")))));
}

function nudge(player) {
  const text = t("Whenever you are ready, %(who)s", { who: playerName(player) });
  words(text, whereIs(player.colour), {});
  if (player.colour === store.me.colour) mine();
  else if (store.open) sound("mine");
  if (voiceOn()) speak(text);
}

function ring(left, whole) {
  const seconds = Math.ceil(left / 1000);
  const written = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return h("time", { class: ["pace", !left && "over"], "data-key": "pace", role: "timer", "aria-label": t("Time left in this turn: %(time)s", { time: written }) },
    s("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" },
      s("circle", { cx: 10, cy: 10, r: 8 }),
      s("circle", { class: "left", cx: 10, cy: 10, r: 8, pathLength: 100, "stroke-dasharray": `${(100 * left) / whole} 100`, transform: "rotate(-90 10 10)" })),
    written);
}

/** Draw the ring as it stands now; `tremble` is done on the phone of whoever is nudged. */
export function tick(tremble = mine) {
  mine = tremble;
  if (skew === null) compareClocks();
  const game = match();
  const player = game?.clock && !game.over && game.players.find((one) => one.turn);
  const place = player && document.querySelector(".play .now-words, .tv-now");
  const drawn = document.querySelector(".pace");
  // While the night is paused the ring stays as it was: how long that was is known when it goes on.
  if (place && store.view.night.paused) return drawn ? place.append(drawn) : undefined;
  drawn?.remove();
  if (!place) return undefined;
  style("pace");
  const whole = game.clock.minutes * MINUTE_MS;
  const over = Date.now() + skew - game.clock.since - whole;
  place.append(ring(Math.max(0, -over), whole));
  const turn = `${game.id} ${game.clock.since}`;
  if (over >= 0 && nudged !== turn) {
    nudged = turn;
    if (over < LATE_MS) nudge(player);
  }
  return undefined;
}

setInterval(() => { if (match()?.clock) tick(); }, 1000);
