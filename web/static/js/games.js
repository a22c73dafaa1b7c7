// The games that the page offers, as their own modules tell of them; main.js brings them from the registry.

import { h } from "./dom.js";
import { change } from "./store.js";
import { said, withWords } from "./words.js";

/** A part of a game that could not be fetched is asked for again after this while. */
const AGAIN_MS = 3000;

let offered = [];
const fetched = {};

/** Say which games there are, in their order. */
export function offer(games) {
  offered = games;
}

/** The games in the order of the page; with the name of a part those that have it. */
export const games = (part = null) => offered.filter((one) => !part || part in (one.parts ?? {}));

/** What the page knows of a game; of one without a module only how it is called in the records. */
export const gameOf = (id) => offered.find((one) => one.id === id) ?? { id, name: { en: id } };

/** A game that is wanted where it is one of these, else the first of them. */
export const orFirst = (wanted, among = offered) => (among.some((one) => one.id === wanted) ? wanted : among[0]?.id);

/** The name of a game in the reader's language. */
export const gameName = (id) => said(gameOf(id).name);

/** Whether a game has a part. */
export const has = (id, name) => name in (gameOf(id).parts ?? {});

/** Fetch a part of a game, with its words. */
export const fetchPart = async (id, name) => (await withWords(gameOf(id).parts[name](), `game-${name}`)).default;

/** A part of a game, which is fetched when it is first asked for; null until it has come, and where the game has none. */
export function part(id, name) {
  if (!has(id, name)) return null;
  const key = `${id}/${name}`;
  if (!(key in fetched)) {
    fetched[key] = null;
    fetchPart(id, name).then((found) => {
      fetched[key] = found;
      change(() => {});
    }).catch(() => setTimeout(() => { delete fetched[key]; change(() => {}); }, AGAIN_MS));
  }
  return fetched[key];
}

/** A button for each of some games; a tap does `does`. */
export const gameButtons = (does, chosen, among = offered) => among.map(({ id, name }) => h("li", null,
  h("button", { type: "button", class: "toggle", "data-do": does, "data-game": id, "aria-pressed": String(id === chosen) }, said(name))));
