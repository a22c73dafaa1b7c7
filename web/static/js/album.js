// The album: the games of an evening that have come to an end, each with its last picture, its result and its photos.

import { h, style } from "./dom.js";
import { icon, playerName, token } from "./art.js";
import { openDialog } from "./dialogs.js";
import { ask } from "./net.js";
import { change, match, mayAct, store } from "./store.js";
import { code, date, list, said, t } from "./words.js";

const AGAIN_MS = 3000;
/** An earlier evening is read from the journal, move by move; a small computer takes its time for that. */
const PATIENCE_MS = 60000;
/** The evenings that were leafed to, by their names in the address: what was asked for, when, and what came. */
const evenings = {};

const named = () => location.hash.split("/")[1] ?? "";

/** What of the night is in the album may be another when one of these is. */
function standing(tonight) {
  const game = tonight ? match() : null;
  const names = (store.people ?? []).map((one) => one.name);
  return JSON.stringify([game?.id, game?.over && store.view.state, names]);
}

/** The evening in the address, else tonight; null until it has come. */
function evening() {
  const name = named();
  const known = (evenings[name] ??= { key: null, turn: 0, told: null });
  const key = standing(!name || known.told?.later === null);
  if (known.key !== key) {
    known.key = key;
    ask(`/api/share/album${name && `?night=${encodeURIComponent(name)}`}`, { signal: AbortSignal.timeout(PATIENCE_MS) }).then((told) => {
      if (known.key === key) Object.assign(known, { told, turn: known.turn + 1 });
    }, ({ status }) => {
      // What is not there will not come; what did not come on the way is asked for again.
      if (status === 404 || status === 400) known.told = { missing: true };
      else setTimeout(() => { known.key = null; change(() => {}); }, AGAIN_MS);
    }).then(() => change(() => {}));
  }
  return known.told && { ...known.told, turn: known.turn };
}

function result({ ended, players }) {
  const first = players.filter((one) => one.place === 1).map(playerName);
  const facts = { who: list(first) };
  const shared = first.length > 1;
  if (ended === "early") return shared ? t("Ended early: %(who)s were level", facts) : t("Ended early: %(who)s was ahead", facts);
  return [icon("crown"), " ", shared ? t("%(who)s share the victory", facts) : t("%(who)s wins", facts)];
}

const scoresOf = ({ players }) => list(players.map((one) => t("%(who)s: %(n)s", { who: playerName(one), n: one.score })));

/** A picture that is seen large when it is tapped; fetched when it comes into sight. */
const tapped = (src, alt, title, kind) => h("button", { type: "button", class: kind, "data-do": "album-large", "data-src": src, "data-title": title, title: t("Show it bigger") },
  h("img", { src, alt, loading: "lazy", decoding: "async" }));

function page(game, { night, turn }) {
  const title = said(game.title);
  const drawing = `/api/share/album/${night}/${encodeURIComponent(game.match)}.svg?lang=${code()}&n=${turn}`;
  return h("article", { class: "panel album-game", "data-key": game.match, "data-game": game.game },
    h("header", null,
      h("h2", null, title),
      h("p", { class: "quiet" }, date(game.opened, { dateStyle: "full", timeStyle: "short" }))),
    game.drawn ? tapped(drawing, t("%(game)s, how the table lay at the end. %(scores)s", { game: title, scores: scoresOf(game) }), title, "album-picture")
      : h("p", { class: "quiet" }, t("This game was only counted at the end: there is no picture of the table.")),
    h("p", { class: "sentence" }, result(game)),
    h("ol", { class: "album-ranking" }, game.players.map((one) => h("li", { "data-key": one.colour },
      h("span", { class: "place" }, one.place), token(one.colour, "", game.game), h("span", { class: "name" }, playerName(one)), h("b", null, one.score)))),
    game.photos.length > 0 && h("ul", { class: "album-photos", "aria-label": t("Photos of this game") }, game.photos.map((one, i) => h("li", { "data-key": one },
      tapped(`/api/evidence/${one}`, t("Photo %(n)s of %(all)s", { n: i + 1, all: game.photos.length }), title, "album-photo")))));
}

function ways({ earlier, later, games }) {
  const way = (to, words, name) => to && h("a", { class: "second", href: `#album/${to}`, "data-key": name }, words);
  return h("div", { class: "row album-ways", "data-key": "ways" },
    way(earlier, t("The evening before"), "earlier"),
    way(later, t("The evening after"), "later"),
    games.length > 0 && h("button", { type: "button", class: "second", "data-do": "album-print", "data-key": "print" }, icon("cards"), t("Print the album")));
}

/** Draw the room. */
export function room() {
  style("album");
  if (!mayAct()) return h("p", { class: "panel" }, t("You are watching."), " ", h("a", { href: "/join" }, t("Join with the table’s PIN")));
  const told = store.view && evening();
  return h("section", { class: "album", "data-key": `album-${named()}` },
    h("header", { class: "album-head" }, h("h1", null, t("Album")), told?.opened && h("p", { class: "sentence" }, date(told.opened, { dateStyle: "full" }))),
    !told ? h("p", { class: "quiet" }, t("One moment …"))
      : told.missing ? h("p", { class: "panel" }, t("No such evening is known here."))
        : [ways(told), told.games.length ? h("div", { class: "album-games" }, told.games.map((one) => page(one, told)))
          : h("p", { class: "panel", "data-key": "none" }, t("No game was finished on this evening."))]);
}

function large({ src, title }) {
  const small = [...document.querySelectorAll(".album img")].find((one) => one.getAttribute("src") === src);
  openDialog(title, h("div", { class: "scroll album-large", tabindex: 0, role: "region", "aria-label": title }, h("img", { src, alt: small?.alt ?? "" })));
}

let printing = null;

/** Print when every picture has come: one after the other, for a small computer draws them. */
async function printAll() {
  for (const one of document.querySelectorAll(".album img")) {
    one.loading = "eager";
    await one.decode().catch(() => {});
  }
  print();
}

export const ROOM_DO = {
  "album-large": large,
  "album-print": () => { printing ??= printAll().finally(() => { printing = null; }); },
};
export const ROOM_SUBMIT = {};
