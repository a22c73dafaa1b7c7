// In a drill with the igloo on the table: where a balance stands there, the igloo is weighed, and nobody has to look under it.

import { ask, pause } from "./net.js";
import { store, takeBalance } from "./store.js";
import { withWords } from "./words.js";

const ASK_MS = 500;

let balance = null;
/** Of which shake it is asked, and how much had been weighed before. */
let at = { id: null, before: null };

/** Ask what the balance is at, as long as it is wanted; a count that it is sure of is the truth of the shake. */
async function watch(id, { DO, wanted }) {
  at = { id, before: null };
  balance ??= await withWords(import("./balance.js"));
  balance.opened();
  Object.assign(DO, balance.PART_DO);
  for (; at.id === id && wanted(); await pause(ASK_MS)) {
    const told = await ask("/api/balance").catch(() => null);
    if (!told || !wanted()) continue;
    const { weighed = 0, answer } = told.now ?? {};
    const more = at.before !== null && weighed > at.before;
    // Forgotten weighings are counted from nothing again.
    if (!more) at.before = weighed;
    takeBalance(told);
    if (more && answer.state === "counted") {
      at.before = weighed;
      await DO.truth({ count: answer.count });
    }
  }
  if (at.id === id) at.id = null;
}

/** What the balance shows while somebody is asked for the truth of a shake; nothing where there is none. */
export function onTheBalance(id, drill) {
  if (at.id !== id) watch(id, drill);
  return balance && at.before !== null ? balance.refereesBalance(at.before) : null;
}
