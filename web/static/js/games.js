// The games that the page offers, as their own modules tell of them; main.js brings them from the registry.

import { h } from "./dom.js";
import { lazy } from "./lazy.js";
import { said } from "./words.js";

let offered = [];
const parts = {};

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

/** A part of a game, which is fetched with its words. */
const partOf = (id, name) => parts[`${id}/${name}`] ??= lazy(gameOf(id).parts[name], `game-${name}`);

/** Fetch a part of a game, with its words. */
export const fetchPart = async (id, name) => (await partOf(id, name).come()).default;

/** A part of a game, which is fetched when it is first asked for; null until it has come, and where the game has none. */
export const part = (id, name) => (has(id, name) ? partOf(id, name)()?.default ?? null : null);

/** A button for each of some games; a tap does `does`. */
export const gameButtons = (does, chosen, among = offered) => among.map(({ id, name }) => h("li", null,
  h("button", { type: "button", class: "toggle", "data-do": does, "data-game": id, "aria-pressed": String(id === chosen) }, said(name))));
