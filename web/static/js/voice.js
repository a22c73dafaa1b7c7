// The voice of one chosen device: what the table's log says, the igloo's count, whose turn it is. Off at first.

import { playerName } from "./art.js";
import { match, memory, onChange, store } from "./store.js";
import { code, said, t, tn } from "./words.js";

const key = () => (store.open ? "voice-tv" : "voice");
/** More entries at once come after a break: only the newest is said. */
const MOST = 3;

/** A voice of this device in the reader's language; those that send what they say to somebody's servers are none. */
const voice = () => window.speechSynthesis?.getVoices()
  .find((one) => one.localService && one.lang.toLowerCase().split(/[-_]/)[0] === code().split("_")[0]);

/** Whether this device can speak the reader's language without a network. */
export const canSpeak = () => Boolean(voice());

/** Whether this device speaks. */
export const voiceOn = () => memory.get(key(), false);

/** Say something; what waits to be said is older, and falls away. */
export function speak(text) {
  const chosen = voice();
  if (!text || !chosen) return;
  if (speechSynthesis.pending) speechSynthesis.cancel();
  const utterance = new SpeechSynthesisUtterance(text);
  utterance.voice = chosen;
  utterance.lang = chosen.lang;
  speechSynthesis.speak(utterance);
}

/** Have this device speak, or not. */
export function wishVoice(on) {
  memory.set(key(), on);
  if (on) speak(t("This device says what happens."));
  else window.speechSynthesis?.cancel();
}

/** What the igloo counted; nothing before the check lets anybody know. */
function counted() {
  const { count } = store;
  if (count.hidden || match()?.phase === "shaking" || count.state !== "counted") return "";
  return `${count.count} ${tn("bead, most likely", "beads, most likely", count.count)}`;
}

const mover = () => (match()?.over === false && match().players.find((one) => one.turn)) || null;

/** Whose turn it is, where what is said already does not name them. */
function turn(words) {
  const player = mover();
  if (player && player.colour === store.me.colour) return t("It is your turn.");
  return player && !words.includes(playerName(player)) ? t("%(who)s plays", { who: playerName(player) }) : "";
}

const now = () => ({ night: store.view.night.id, seq: store.view.seq, count: counted(), turn: mover()?.colour, refusal: store.refusal });
let before = null;

function follow() {
  if (!store.view) return;
  const last = before;
  before = now();
  if (!last || last.night !== before.night || !voiceOn()) return;
  const fresh = store.view.log.filter((entry) => entry.seq > last.seq && !entry.undone);
  const words = (fresh.length > MOST ? fresh.slice(-1) : fresh).map(said);
  if (before.refusal && before.refusal !== last.refusal) words.push(said(before.refusal));
  if (before.count !== last.count) words.push(before.count);
  if (before.turn !== last.turn) words.push(turn(words.join(" ")));
  speak(words.filter(Boolean).join(" "));
}

onChange(follow);
follow();
// Some browsers let a page speak once somebody has tapped on it.
addEventListener("pointerdown", () => { if (voiceOn() && voice()) speechSynthesis.speak(new SpeechSynthesisUtterance("")); }, { once: true, passive: true });
