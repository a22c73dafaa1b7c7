// Score by photo: a round in two photos, of a game that is judged so; and the cards that somebody holds at the end, in one.

import { h, style } from "./dom.js";
import { icon, playerName, token } from "./art.js";
import { gameButtons, games, has, orFirst, part } from "./games.js";
import { chosenFile, fetched, upload } from "./net.js";
import { fileButton, overlay, READING_MS } from "./photo-picture.js";
import { TEACH_CHANGE, TEACH_DO, TEACH_INPUT, taughtOf, teachPanel } from "./photo-teach.js";
import { change, match, mayAct, memory } from "./store.js";
import { t, tn } from "./words.js";

const fresh = () => ({ url: null, cards: [], width: 0, height: 0, pick: null, busy: false, seat: null });
const piles = {};
let game = null;

const pileOf = (id) => piles[id] ?? fresh();
const pile = () => pileOf(game);
const alter = (changes, id = game) => { piles[id] = { ...pileOf(id), ...changes }; change(() => {}); };

/** What is asked of a card that somebody holds, as the game that is chosen says it. */
const kind = () => part(game, "pile");
const seat = () => (kind().seats().includes(pile().seat) ? pile().seat : kind().seats()[0]);

async function sendPile(input) {
  const file = chosenFile(input);
  const id = game;
  if (!file) return;
  alter({ busy: true });
  const read = await fetched(() => upload(`/api/cards/${id}/pile`, file, READING_MS));
  if (read && pileOf(id).url) URL.revokeObjectURL(pileOf(id).url);
  alter(read ? { ...read, url: URL.createObjectURL(file), pick: null, busy: false } : { busy: false }, id);
}

function pileEditor() {
  const { pick, cards } = pile();
  if (pick === null) return null;
  return h("fieldset", { class: "choice", "data-key": "edit-pile" },
    h("legend", null, kind().edit(pick + 1)),
    h("div", { class: "steps" }, kind().names().map((name) => h("button", { type: "button", class: "toggle", "data-do": "pile-kind", "data-name": name, "data-key": name, "aria-pressed": String(name === kind().is(cards[pick])) }, kind().words(name)))),
    h("div", { class: "steps" },
      h("button", { type: "button", class: "second", "data-do": "pile-before" }, icon("cards"), kind().missing()),
      h("button", { type: "button", class: "second", "data-do": "pile-remove" }, icon("close"), t("There is no such card"))));
}

function pilePart() {
  const { is, words, doubt } = kind();
  const { url, cards, busy, pick } = pile();
  const left = cards.flatMap((card, i) => (doubt(card) ? [i] : []));
  const says = (i) => words(is(cards[i]));
  return h("section", { class: "panel", "data-key": "pile-photo" }, h("h2", null, kind().title()),
    h("p", null, kind().how()),
    fileButton(kind().send(), "pile-photo"),
    busy && h("p", { role: "status" }, t("Reading the photo …")),
    url && overlay(url, { ...pile(), cards: cards.map((card, i) => ({ ...card, fanned: true, short: `${i + 1}`,
      words: t("Card %(n)s: %(animal)s", { n: i + 1, animal: says(i) }), doubt: doubt(card), picked: pick === i })).filter((card) => card.corners) }, "pile", "pile-card"),
    left.length > 0 && h("div", { class: "note" }, h("p", null, tn("%(n)s card to look at:", "%(n)s cards to look at:", left.length)),
      h("ul", null, left.map((i) => h("li", null, h("button", { type: "button", class: "second", "data-do": "pile-card", "data-n": i, "data-key": `doubt${i}` },
        cards[i].gap_before ? t("Is a card hidden below card %(n)s, %(animal)s?", { n: i + 1, animal: says(i) })
          : t("Is card %(n)s %(animal)s?", { n: i + 1, animal: says(i) })),
        h("button", { type: "button", class: "second", "data-do": "pile-yes", "data-n": i, "data-key": `yes${i}` }, icon("check"), t("As read")))))),
    pileEditor(),
    cards.length > 0 && [
      h("p", { class: "note" }, tn("%(n)s card was read: count yours, one at the edge may be missing.", "%(n)s cards were read: count yours, one at the edge may be missing.", cards.length)),
      h("p", { class: "pile" }, cards.map((card, i) => h("button", { type: "button", class: "mini-card", "data-do": "pile-card", "data-n": i, "data-key": `chip${i}` }, says(i)))),
      h("div", { class: "steps", role: "group", "aria-label": kind().whose() }, kind().seats().map((one) =>
        h("button", { type: "button", class: "toggle", "data-do": "pile-seat", "data-seat": one, "data-key": one, "aria-pressed": String(one === seat()) }, token(one, "", game), playerName({ colour: one })))),
      h("button", { type: "button", class: "main", "data-do": "pile-use" }, icon("check"), t("Put it into the score sheet")),
    ]);
}

/** Whether all that the game has in this room has come. */
const ready = () => kind() && (!has(game, "round") || part(game, "round"));

/** A round in two photos, of a game that is judged so. */
function round() {
  const own = part(game, "round");
  if (!own) return null;
  Object.assign(ROOM_DO, own.does);
  Object.assign(ROOM_CHANGE, own.changes);
  return own.draw();
}

/** What photos are read for; before any card was taught, the teaching. */
function reading() {
  const cards = taughtOf(game);
  const teaching = teachPanel(game, kind().named);
  if (!cards) return teaching;
  if (!cards.taught.length) {
    return [h("p", { class: "note", "data-key": "untaught" }, t("The companion does not know these cards yet. Show them to it once; from then on it reads them in your photos.")), teaching];
  }
  return [round(), pilePart(), teaching];
}

/** Draw the room. */
export function room() {
  style("photo");
  game ??= orFirst(match()?.game ?? memory.get("photo-game", null), games("pile"));
  return h("div", { class: "referee photo-room", "data-key": "photo-room" },
    h("p", null, h("a", { class: "second", href: "#" }, icon("undo"), t("Back to the game"))),
    h("h1", null, t("Score by photo")),
    h("ul", { class: "games", "aria-label": t("Which game?") }, gameButtons("photo-game", game, games("pile"))),
    !mayAct() ? h("p", { class: "note" }, t("Photos are for those who take part."), " ", h("a", { href: "/join" }, t("Join with the table’s PIN")))
      : !ready() ? h("p", { class: "quiet" }, t("One moment …")) : [reading(),
        h("p", { class: "quiet" }, t("Photos are read at the table and then forgotten; they never leave this house."))]);
}

const cardsNow = (changed) => alter({ cards: changed(pile().cards, pile().pick) });

export const ROOM_DO = {
  ...TEACH_DO,
  "photo-game": ({ game: id }) => { game = id; memory.set("photo-game", id); change(() => {}); },
  "pile-card": ({ n }) => alter({ pick: Number(n) }),
  "pile-kind": ({ name }) => cardsNow((cards, pick) => cards.map((card, i) => (i === pick ? { ...card, ...kind().put(name) } : card))),
  "pile-yes": ({ n }) => cardsNow((cards) => cards.map((card, i) => (i === Number(n) ? { ...card, ...kind().put(kind().is(card)), gap_before: false } : card))),
  "pile-before": () => cardsNow((cards, pick) => [...cards.slice(0, pick), { ...cards[pick], ...kind().put(kind().is(cards[pick])), gap_before: false }, ...cards.slice(pick)]),
  "pile-remove": () => alter({ cards: pile().cards.filter((_, i) => i !== pile().pick), pick: null }),
  "pile-seat": ({ seat: one }) => alter({ seat: one }),
  "pile-use": async () => {
    const { takeCards } = await import("./score.js");
    await takeCards(game, seat(), pile().cards.map(kind().is));
    location.hash = "#score";
  },
};
export const ROOM_CHANGE = { ...TEACH_CHANGE, "pile-photo": sendPile };
export const ROOM_INPUT = TEACH_INPUT;
