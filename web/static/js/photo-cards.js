// Score by photo: Igloo Pop's round in two photos; the cards somebody holds at the end, of Igloo Pop and Arctic, in one each.

import { h, style } from "./dom.js";
import { COLOURS, icon, playerName, token } from "./art.js";
import { chosenFile, fetched, upload } from "./net.js";
import { fileButton, overlay, READING_MS } from "./photo-picture.js";
import { ROUND_CHANGE, ROUND_DO, roundPart } from "./photo-round.js";
import { TEACH_CHANGE, TEACH_DO, TEACH_INPUT, taughtOf, teachPanel } from "./photo-teach.js";
import { ANIMALS, animal, takeCards, takePile } from "./score.js";
import { openGame } from "./score-save.js";
import { change, match, mayAct, memory } from "./store.js";
import { t, tn } from "./words.js";

const GAMES = () => [["igloo-pop", "Igloo Pop"], ["arctic", "Arctic"]];
const SURE = 0.9;
const fresh = (seat) => ({ url: null, cards: [], width: 0, height: 0, pick: null, busy: false, seat });
const piles = { arctic: fresh("p1"), "igloo-pop": fresh("red") };
let game = null;

const pile = () => piles[game];
const alter = (changes, id = game) => { piles[id] = { ...piles[id], ...changes }; change(() => {}); };

/** A card's name as people say it: `4/5`, or `fox 5, moose`. */
function named(card) {
  const [main, value, companion] = card.split("-");
  return value ? `${animal(main)} ${value}, ${animal(companion)}` : card;
}

/**
 * What is asked of a card that somebody holds: of Arctic its animal, which is all that scores, in the order of the pile; of
 * Igloo Pop which card it is.
 */
const KINDS = {
  arctic: {
    title: () => t("A pile in one photo"),
    how: () => t("Fan the pile out so that a third of each card shows, in one row or several from the top of the photo down, the lowest card first."),
    send: () => t("Send a photo of the pile"),
    seats: () => ["p1", "p2", "p3", "p4"],
    whose: () => t("Whose pile is it?"),
    edit: (n) => t("Card %(n)s from the bottom: which animal?", { n }),
    is: (card) => card.kind, words: (name) => animal(name), names: () => ANIMALS,
    doubt: (card) => card.gap_before || card.kind_p < SURE,
    put: (name) => ({ kind: name, kind_p: 1 }), take: takePile,
  },
  "igloo-pop": {
    title: () => t("The cards that a player has won"),
    how: () => t("At the end of a game: lay the cards of one player side by side, none on another."),
    send: () => t("Send a photo of the cards"),
    seats: () => (openGame()?.game === "igloo-pop" ? openGame().players.map((player) => player.colour) : COLOURS),
    whose: () => t("Whose cards are they?"),
    edit: (n) => t("Card %(n)s: which one is it?", { n }),
    is: (card) => card.card, words: (name) => name, names: () => taughtOf("igloo-pop")?.names ?? [],
    doubt: (card) => card.gap_before || card.unsure,
    put: (name) => ({ card: name, unsure: false }), take: takeCards,
  },
};
const kind = () => KINDS[game];
const seat = () => (kind().seats().includes(pile().seat) ? pile().seat : kind().seats()[0]);

async function sendPile(input) {
  const file = chosenFile(input);
  const id = game;
  if (!file) return;
  alter({ busy: true });
  const read = await fetched(() => upload(`/api/cards/${id}/pile`, file, READING_MS));
  if (read && piles[id].url) URL.revokeObjectURL(piles[id].url);
  alter(read ? { ...read, url: URL.createObjectURL(file), pick: null, busy: false } : { busy: false }, id);
}

function pileEditor() {
  const { pick, cards } = pile();
  if (pick === null) return null;
  return h("fieldset", { class: "choice", "data-key": "edit-pile" },
    h("legend", null, kind().edit(pick + 1)),
    h("div", { class: "steps" }, kind().names().map((name) => h("button", { type: "button", class: "toggle", "data-do": "pile-kind", "data-name": name, "data-key": name, "aria-pressed": String(name === kind().is(cards[pick])) }, kind().words(name)))),
    h("div", { class: "steps" },
      h("button", { type: "button", class: "second", "data-do": "pile-before" }, icon("cards"), game === "arctic" ? t("A card is missing below it") : t("A card is missing")),
      h("button", { type: "button", class: "second", "data-do": "pile-remove" }, icon("close"), t("There is no such card"))));
}

function pilePart() {
  const { is, words, doubt } = kind();
  const { url, cards, busy, pick } = pile();
  const ready = (taughtOf(game)?.taught.length ?? 0) > 0;
  const left = cards.flatMap((card, i) => (doubt(card) ? [i] : []));
  const says = (i) => words(is(cards[i]));
  return h("section", { class: "panel", "data-key": "pile-photo" }, h("h2", null, kind().title()),
    h("p", null, kind().how()),
    ready && fileButton(kind().send(), "pile-photo"),
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

/** Draw the room. */
export function room() {
  style("photo");
  game ??= { "igloo-pop": "igloo-pop", arctic: "arctic" }[match()?.game ?? memory.get("photo-game", "igloo-pop")] ?? "igloo-pop";
  return h("div", { class: "referee photo-room", "data-key": "photo-room" },
    h("p", null, h("a", { class: "second", href: "#" }, icon("undo"), t("Back to the game"))),
    h("h1", null, t("Score by photo")),
    h("ul", { class: "games", "aria-label": t("Which game?") }, GAMES().map(([id, name]) => h("li", null,
      h("button", { type: "button", class: "toggle", "data-do": "photo-game", "data-game": id, "aria-pressed": String(id === game) }, name)))),
    !mayAct() ? h("p", { class: "note" }, t("Photos are for those who take part."), " ", h("a", { href: "/join" }, t("Join with the table's PIN")))
      : [game === "igloo-pop" && roundPart(), pilePart(), teachPanel(game, named),
        h("p", { class: "quiet" }, t("Photos are read at the table and then forgotten; they never leave this house."))]);
}

const cardsNow = (changed) => alter({ cards: changed(pile().cards, pile().pick) });

export const ROOM_DO = {
  ...ROUND_DO, ...TEACH_DO,
  "photo-game": ({ game: id }) => { game = id; memory.set("photo-game", id); change(() => {}); },
  "pile-card": ({ n }) => alter({ pick: Number(n) }),
  "pile-kind": ({ name }) => cardsNow((cards, pick) => cards.map((card, i) => (i === pick ? { ...card, ...kind().put(name) } : card))),
  "pile-yes": ({ n }) => cardsNow((cards) => cards.map((card, i) => (i === Number(n) ? { ...card, ...kind().put(kind().is(card)), gap_before: false } : card))),
  "pile-before": () => cardsNow((cards, pick) => [...cards.slice(0, pick), { ...cards[pick], ...kind().put(kind().is(cards[pick])), gap_before: false }, ...cards.slice(pick)]),
  "pile-remove": () => alter({ cards: pile().cards.filter((_, i) => i !== pile().pick), pick: null }),
  "pile-seat": ({ seat: one }) => alter({ seat: one }),
  "pile-use": () => { kind().take(seat(), pile().cards.map(kind().is)); location.hash = "#score"; },
};
export const ROOM_CHANGE = { ...ROUND_CHANGE, ...TEACH_CHANGE, "pile-photo": sendPile };
export const ROOM_INPUT = TEACH_INPUT;
