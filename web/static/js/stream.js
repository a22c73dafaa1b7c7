// What happens at the table, as it happens: a live stream, or asking again and again where there is no place for
// one. Sleep, a lost network and a restart of the service all end in the same way: connect again, show what is.

import { afterCommand, ask, startOver } from "./net.js";
import { addWave, clearWave } from "./waveform.js";
import { change, later, store, takeBalance } from "./store.js";

const RETRY_STREAM_MS = 15000;
const REOPEN_MS = 1000;
const OUT_OF_SIGHT_MS = 20000;
const TOPICS = ["igloo", "motion", "count", "camera", "bench", "ballot"];

let takeBoard = null;
let settings = { poll_ms: 1500, silence_ms: 6000, stamp: "" };
let source = null;
let heardAt = 0;
let poller = null;
let triedStream = 0;
/** Of which reading of the journal the newest answer was. */
let reading = "";
let onLog = () => {};

function mergeLog(view, known) {
  if (view.log_since === null || view.log_since === undefined || !known) return view.log;
  const undone = new Set(view.undone ?? []);
  const older = known.filter((entry) => entry.seq <= view.log_since);
  return [...older, ...view.log].slice(-60).map((entry) => ({ ...entry, undone: undone.has(entry.seq) }));
}

function takeView(view, fresh) {
  const known = store.view;
  const sameNight = known?.night?.id === view.night.id;
  // Only the first state after connecting may go back (a restored backup); otherwise the newest wins.
  if (!fresh && known && sameNight && view.seq < known.seq) return;
  const log = mergeLog(view, sameNight ? known?.log : null);
  const last = sameNight ? known.seq : view.seq;
  change((s) => {
    s.view = { ...view, log };
    // Nothing was played: somebody has another name. After a break nobody knows.
    if (known && (fresh || view.seq === known.seq)) s.renamed = true;
    // A refusal belongs to what was on the screen; the reason of a stale one is the very change that follows it.
    if (s.refusal && s.refusal.problem !== "stale" && known && view.state !== known.state && Date.now() - s.refusal.at > 4000) s.refusal = null;
  }, view.match?.board ? later(0) : undefined); // its board comes right behind it
  if (known) onLog(log.filter((entry) => entry.seq > last));
}

function takeHello(hello) {
  if (hello.stamp && settings.stamp && hello.stamp !== settings.stamp) {
    // The service was upgraded while we were away: this page's modules are of the old version.
    location.reload();
    return;
  }
  change((s) => {
    s.me = store.open ? { ...hello.me, colour: null } : hello.me;
  });
}

function takeDevices(data) {
  if (settings.beside) return;
  change((s) => {
    for (const topic of TOPICS) if (data[topic]) s[topic === "bench" ? "calibrationRun" : topic] = data[topic];
    if (s.count.hidden || s.calibrationRun.hidden) clearWave();
  });
  if (data.balance) takeBalance(data.balance);
}

/** The service may have been started anew since: then it counts anew. */
function forgetRevisions() {
  change((s) => { s.balance.revision = -1; });
}

function setLink(link) {
  if (store.link !== link) change((s) => { s.link = link; });
}

async function poll() {
  clearTimeout(poller);
  try {
    const known = store.view?.seq;
    const answer = await ask(known === undefined ? "/api/state" : `/api/state?after=${known}${reading}`);
    reading = `&reading=${answer.reading}`;
    takeHello(answer);
    if (!source) forgetRevisions();
    takeDevices(answer);
    if (answer.view) {
      takeView({ ...answer.view, log_since: null }, !source);
      // Nothing was played, but somebody has another name, on the board too.
      if (!source && answer.seq === known) change((s) => { s.board = null; });
    }
    if (!source) setLink("polling");
  } catch {
    if (!source) setLink("lost");
  }
  if (!source) {
    if (Date.now() - triedStream > RETRY_STREAM_MS) open();
    else poller = setTimeout(poll, settings.poll_ms);
  }
}

function fallBack() {
  source?.close();
  source = null;
  clearTimeout(poller);
  poller = setTimeout(poll, 100);
}

function open() {
  source?.close();
  clearTimeout(poller);
  triedStream = Date.now();
  heardAt = Date.now();
  const after = store.view ? `&after=${store.view.seq}` : "";
  const stream = new EventSource(`/api/events?board=${takeBoard ? settings.language : ""}${after}${store.open ? "&open=1" : ""}`);
  source = stream;
  let fresh = true;
  const on = (name, take) =>
    stream.addEventListener(name, (event) => {
      if (source !== stream) return;
      heardAt = Date.now();
      take(JSON.parse(event.data));
      setLink("live");
    });
  on("hello", (hello) => { fresh = true; forgetRevisions(); startOver(); takeHello(hello); });
  on("me", (me) => change((s) => { s.me = me; }));
  on("state", (view) => { takeView(view, fresh); fresh = false; });
  on("board", (board) => takeBoard?.(board));
  on("wave", (piece) => { if (!settings.beside) { addWave(piece); change(() => {}); } });
  for (const topic of [...TOPICS, "balance"]) on(topic, (data) => takeDevices({ [topic]: data }));
  on("notice", (notice) => {
    if (notice.en) onLog([notice]);
    // The next set-up asks with the table's answer.
    if (notice.ballot) change((s) => { s.options = null; });
    // The button on the table calls everybody to the referee; who is in a room or a dialog already is left there.
    if (notice.panel === "dispute" && !settings.beside && !location.hash && !document.querySelector("dialog[open]")) location.hash = "#referee";
  });
  on("beat", () => {});
  stream.addEventListener("error", () => {
    if (source !== stream) return;
    // A refused stream (503: all places taken) is closed for good; a broken one tries again by itself.
    if (stream.readyState === EventSource.CLOSED) fallBack();
    else setLink("connecting");
  });
}

/** Hear nothing until woken. */
function hush() {
  source?.close();
  source = null;
  clearTimeout(poller);
}

/** Look whether the stream is still alive: a phone that slept finds a dead connection that says nothing. */
function watch() {
  if (source && Date.now() - heardAt > settings.silence_ms) {
    setLink("connecting");
    open();
  }
}

/**
 * Begin to listen; `log` is called with the log entries that were not known before, `board` with each drawn board.
 * Where `page` is `beside` the table it hears what is played, and nothing of igloo, camera and what the table calls to.
 */
export function listen(page, log, board = null) {
  settings = { ...settings, ...page };
  takeBoard = board;
  onLog = log;
  open();
  setInterval(watch, REOPEN_MS);
  let asleep = null;
  const wake = () => {
    clearTimeout(asleep);
    if (document.visibilityState === "hidden") {
      // A page that nobody looks at gives its place to others; it catches up when it is looked at again.
      asleep = setTimeout(hush, OUT_OF_SIGHT_MS);
      return;
    }
    if (!source || Date.now() - heardAt > settings.silence_ms / 2) {
      triedStream = 0;
      open();
    }
    poll();
  };
  document.addEventListener("visibilitychange", wake);
  addEventListener("online", wake);
  addEventListener("pageshow", (event) => { if (event.persisted) wake(); });
  addEventListener("pagehide", hush);
  afterCommand(() => { if (!source) poll(); });
}
