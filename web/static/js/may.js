// "What may I do now?": what is legal at this moment, in words, with the clauses.

import { h, patch } from "./dom.js";
import { openDialog } from "./dialogs.js";
import { part } from "./games.js";
import { ask } from "./net.js";
import { clauses } from "./rulings.js";
import { store } from "./store.js";
import { code, said, t, tn } from "./words.js";

/** So many moves of a kind are named; more are counted. */
const MOST = 8;

/** The clauses that a move rests on, as the referee has them; they come when the window is there. */
function cited({ text }) {
  const slot = h("span");
  ask(`/api/board/dispute?lang=${code()}&move=${encodeURIComponent(text)}`)
    .then(({ rulings: [ruling] }) => { if (ruling?.legal) patch(slot, [clauses(ruling.clauses)]); }, () => {});
  return slot;
}

/** Moves of a kind are named together; the clauses are those of the first. */
function kinds(moves) {
  const found = new Map();
  for (const move of moves) {
    const name = said(move.group);
    found.set(name, [...(found.get(name) ?? []), move]);
  }
  return [...found].map(([name, list]) => h("section", { class: "may-kind" },
    h("h3", null, name, " ", h("small", null, tn("%(n)s possibility", "%(n)s possibilities", list.length))),
    cited(list[0]),
    h("ul", null, list.slice(0, MOST).map((move) => h("li", null, said(move), move.cost !== null && [" ", h("small", { class: "quiet" }, tn("%(n)s point", "%(n)s points", move.cost))])),
      list.length > MOST && h("li", { class: "quiet" }, tn("and %(n)s more: what can be tapped is lit on the board", "and %(n)s more: what can be tapped is lit on the board", list.length - MOST)))));
}

/** Say in a window what may be done now. */
export function mayWindow(match) {
  const own = part(match.game, "play");
  const board = !own && store.board?.match === match.id ? store.board : null;
  const steps = own?.may?.(match) ?? [];
  return openDialog(t("What can be done now?"),
    store.view.night.paused && h("p", { class: "sentence" }, t("The night is paused.")),
    board && h("p", { class: "sentence" }, said(match.prompt)),
    steps.length > 0 && h("ul", { class: "may" }, steps.map(([sentence, ids]) => h("li", null, sentence, " ", clauses(ids)))),
    board && (board.moves.length ? kinds(board.moves) : h("p", null, t("Nothing this phone may enter: it is for others to act, or a hand is hidden."))),
    h("p", { class: "row" }, h("a", { class: "second", href: "#referee" }, t("Ask the referee")), h("a", { class: "second", href: `#learn/${match.game}` }, t("Learn the game"))));
}
