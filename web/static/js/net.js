// Commands to the table: each is sent on the state it was made on, in order, and never twice.

import { change, later, newId, sends, store } from "./store.js";
import { t } from "./words.js";

const PATIENCE_MS = 6000;
/** After so long without an answer the page says that it waits for one. */
const SLOW_MS = 2000;
/** A board is seldom later than so long behind the answer to what led to it. */
const NEWS_MS = 100;
const WAITS_MS = [300, 700, 1500, 3000, 5000, 5000, 5000];

/** Fetch JSON; an answer that is a refusal is thrown as `{status, error}`. */
export async function ask(path, options = {}) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS), ...options });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw { status: answer.status, error: body.error ?? null, body };
  return body;
}

/** Post JSON. */
export function tell(path, body, options = {}) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    ...options,
  });
}

/** Send a file as it is, and wait for the answer for so long. */
export const upload = (path, file, ms) => ask(path, { method: "POST", body: file, signal: AbortSignal.timeout(ms) });

/** The file that somebody chose, null without one; the same file can be chosen again. */
export function chosenFile(input) {
  const file = input.files?.[0] ?? null;
  input.value = "";
  return file;
}

/** Do what asks the table; a refusal is shown, and null comes back. */
export async function fetched(work) {
  try {
    return await work();
  } catch (refused) {
    showRefusal(refused.error);
    return null;
  }
}

/** Wait for so long. */
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

let queue = Promise.resolve(null);
let queued = 0;
let answered = null;

/** The state that is acted on: the one on the screen or, until it has arrived there, the one we ourselves led to. */
function actedOn() {
  const shown = store.view?.state ?? null;
  return answered !== null && shown !== null && answered > shown ? answered : shown;
}

const answeredIsShown = () => actedOn() === (store.view?.state ?? null);

/** Whether what was sent from here is on the screen. */
export const arrived = () => !store.sending && answeredIsShown();

/** A new connection shows what is: what was answered before it no longer counts. */
export function startOver() {
  answered = null;
}

async function deliver(command, body, state) {
  const message = { command, body, state, action_id: newId() };
  for (const wait of [...WAITS_MS, null]) {
    try {
      return await tell("/api/do", message);
    } catch (refusal) {
      if (refusal.error) return { ok: false, ...refusal.body, error: refusal.error };
      // No answer: it may or may not have been done. The same action_id again is safe either way.
      if (wait === null) throw refusal;
      await pause(wait);
    }
  }
  return null;
}

export function showRefusal(error, problem = null) {
  const lost = { en: t("The table did not answer. Nothing is lost: try again.") };
  change((s) => {
    s.refusal = { ...(error ?? lost), problem, at: Date.now() };
  });
}

/**
 * Send a command, after those that were sent before it. It carries the state that is on the screen now or, behind
 * a command of our own, the state that that one led to; if anybody else acted in between it is refused as stale.
 */
export function act(command, body = {}) {
  const base = actedOn();
  const before = queued > 0 ? queue : null;
  const seen = store.view?.state;
  queued += 1;
  if (store.refusal) change((s) => { s.refusal = null; });
  queue = (async () => {
    const slow = setTimeout(() => change((s) => { s.slow = true; }), SLOW_MS);
    let soon;
    let shown = false;
    try {
      const previous = before ? await before : null;
      if (before && !previous?.ok) return previous;
      const answer = await deliver(command, body, previous ? previous.state : base);
      if (answer && !answer.ok) showRefusal(answer.error, answer.problem);
      if (answer?.ok) {
        answered = answer.state;
        // What it led to is here, or on its way.
        if (!answeredIsShown()) soon = later(NEWS_MS);
        else shown = seen !== store.view?.state;
        onDone();
      }
      return answer;
    } catch {
      showRefusal(null);
      return null;
    } finally {
      queued -= 1;
      clearTimeout(slow);
      sends(queued);
      if (!shown || store.slow) change((s) => { s.slow = s.slow && queued > 0; }, soon);
    }
  })();
  sends(queued);
  return queue;
}

/** Wait until the screen shows what our own commands led to: what is taken back is then what was done last. */
export async function caughtUp() {
  await queue;
  const end = Date.now() + PATIENCE_MS;
  while (!arrived() && Date.now() < end) await pause(40);
}

let onDone = () => {};

/** Have `done` called after each command that was done (a page without a stream asks for the state then). */
export function afterCommand(done) {
  onDone = done;
}
