// Modules that are fetched when they are first needed, with the words of their room.

import { change } from "./store.js";
import { withWords } from "./words.js";

/** A module that could not be fetched is asked for again after this while. */
const AGAIN_MS = 3000;

/**
 * A module as a function: it returns what the module exports, null until that has come, and asks for it when it is first
 * called. Where the table is out of reach, the page is drawn anew after a while, and it is asked for again. `joins`
 * takes the exports when they come; `here()` returns them without asking, `come()` waits for them.
 */
export function lazy(load, room, joins = () => {}) {
  let found = null;
  let asked = false;
  const come = () => withWords(load(), room);
  const take = (module) => {
    found = module;
    joins(module);
    change(() => {});
  };
  const failed = (problem) => {
    // A browser's word for what it could not fetch is a TypeError; anything else is wrong with the module.
    if (!(problem instanceof TypeError)) throw problem;
    console.warn(problem.message);
    setTimeout(() => { asked = false; change(() => {}); }, AGAIN_MS);
  };
  const get = () => {
    if (!asked) {
      asked = true;
      come().then(take, failed);
    }
    return found;
  };
  return Object.assign(get, { here: () => found, come });
}
