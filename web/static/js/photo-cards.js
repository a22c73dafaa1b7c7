// Score by photo: Igloo Pop's round in two photos, Arctic's fanned-out piles in one each.

import { h, style } from "./dom.js";
import { icon, playerName, token } from "./art.js";
import { chosenFile, fetched, upload } from "./net.js";
import { fileButton, overlay, READING_MS } from "./photo-picture.js";
import { ROUND_CHANGE, ROUND_DO, roundPart } from "./photo-round.js";
import { TEACH_CHANGE, TEACH_DO, TEACH_INPUT, taughtOf, teachPanel } from "./photo-teach.js";
import { ANIMALS, animal, takePile } from "./score.js";
import { change, match, mayAct, memory } from "./store.js";
import { t, tn } from "./words.js";

const GAMES = () => [["igloo-pop", "Igloo Pop"], ["arctic", "Arctic"]];
const SEATS = ["p1", "p2", "p3", "p4"];
let game = null;
let pile = { url: null, cards: [], width: 0, height: 0, pick: null, busy: false };
let seat = "p1";

const alter = (changes) => { pile = { ...pile, ...changes }; change(() => {}); };

/** A card's name as people say it: `4/5`, or `fox 5, moose`. */
function named(card) {
  const [main, value, companion] = card.split("-");
  return value ? `${animal(main)} ${value}, ${animal(companion)}` : card;
}

async function sendPile(input) {
  const file = chosenFile(input);
  if (!file) return;
  alter({ busy: true });
  const read = await fetched(() => upload("/api/cards/arctic/pile", file, READING_MS));
  if (read && pile.url) URL.revokeObjectURL(pile.url);
  alter(read ? { ...read, url: URL.createObjectURL(file), pick: null, busy: false } : { busy: false });
}

const kindDoubt = (card) => card.gap_before || card.kind_p < 0.9;

function pileEditor() {
  if (pile.pick === null) return null;
  const card = pile.cards[pile.pick];
  return h("fieldset", { class: "choice", "data-key": "edit-pile" },
    h("legend", null, t("Card %(n)s from the bottom: which animal?", { n: pile.pick + 1 })),
    h("div", { class: "steps" }, ANIMALS.map((name) => h("button", { type: "button", class: "toggle", "data-do": "pile-kind", "data-name": name, "data-key": name, "aria-pressed": String(name === card.kind) }, animal(name)))),
    h("div", { class: "steps" },
      h("button", { type: "button", class: "second", "data-do": "pile-before" }, icon("cards"), t("A card is missing below it")),
      h("button", { type: "button", class: "second", "data-do": "pile-remove" }, icon("close"), t("There is no such card"))));
}

function pilePart() {
  const ready = (taughtOf("arctic")?.taught.length ?? 0) > 0;
  const left = pile.cards.flatMap((card, i) => (kindDoubt(card) ? [i] : []));
  return h("section", { class: "panel", "data-key": "pile-photo" }, h("h2", null, t("A pile in one photo")),
    h("p", null, t("Fan the pile out so that a third of each card shows, in one row or several from the top of the photo down, the lowest card first.")),
    ready && fileButton(t("Send a photo of the pile"), "pile-photo"),
    pile.busy && h("p", { role: "status" }, t("Reading the photo …")),
    pile.url && overlay(pile.url, { ...pile, cards: pile.cards.map((card, i) => ({ ...card, fanned: true, short: `${i + 1}`,
      words: t("Card %(n)s: %(animal)s", { n: i + 1, animal: animal(card.kind) }), doubt: kindDoubt(card), picked: pile.pick === i })).filter((card) => card.corners) }, "pile"),
    left.length > 0 && h("div", { class: "note" }, h("p", null, tn("%(n)s card to look at:", "%(n)s cards to look at:", left.length)),
      h("ul", null, left.map((i) => h("li", null, h("button", { type: "button", class: "second", "data-do": "photo-card", "data-n": i, "data-key": `doubt${i}` },
        pile.cards[i].gap_before ? t("Is a card hidden below card %(n)s, %(animal)s?", { n: i + 1, animal: animal(pile.cards[i].kind) })
          : t("Is card %(n)s %(animal)s?", { n: i + 1, animal: animal(pile.cards[i].kind) })),
        h("button", { type: "button", class: "second", "data-do": "pile-yes", "data-n": i, "data-key": `yes${i}` }, icon("check"), t("As read")))))),
    pileEditor(),
    pile.cards.length > 0 && [
      h("p", { class: "note" }, tn("%(n)s card was read: count yours, one at the edge may be missing.", "%(n)s cards were read: count yours, one at the edge may be missing.", pile.cards.length)),
      h("p", { class: "pile" }, pile.cards.map((card, i) => h("button", { type: "button", class: "mini-card", "data-do": "photo-card", "data-n": i, "data-key": `chip${i}` }, animal(card.kind)))),
      h("div", { class: "steps", role: "group", "aria-label": t("Whose pile is it?") }, SEATS.map((one) =>
        h("button", { type: "button", class: "toggle", "data-do": "pile-seat", "data-seat": one, "data-key": one, "aria-pressed": String(one === seat) }, token(one), playerName({ colour: one })))),
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
      : [game === "arctic" ? pilePart() : roundPart(), teachPanel(game, named),
        h("p", { class: "quiet" }, t("Photos are read at the table and then forgotten; they never leave this house."))]);
}

const inPile = (round, own) => (told) => (game === "arctic" ? own(told) : round(told));

export const ROOM_DO = {
  ...ROUND_DO, ...TEACH_DO,
  "photo-card": inPile(ROUND_DO["photo-card"], ({ n }) => alter({ pick: Number(n) })),
  "photo-game": ({ game: id }) => { game = id; memory.set("photo-game", id); change(() => {}); },
  "pile-kind": ({ name }) => alter({ cards: pile.cards.map((card, i) => (i === pile.pick ? { ...card, kind: name, kind_p: 1 } : card)) }),
  "pile-yes": ({ n }) => alter({ cards: pile.cards.map((card, i) => (i === Number(n) ? { ...card, kind_p: 1, gap_before: false } : card)) }),
  "pile-before": () => alter({ cards: [...pile.cards.slice(0, pile.pick), { ...pile.cards[pile.pick], kind_p: 1, gap_before: false }, ...pile.cards.slice(pile.pick)] }),
  "pile-remove": () => alter({ cards: pile.cards.filter((_, i) => i !== pile.pick), pick: null }),
  "pile-seat": ({ seat: one }) => { seat = one; change(() => {}); },
  "pile-use": () => { takePile(seat, pile.cards.map((card) => card.kind)); location.hash = "#score"; },
};
export const ROOM_CHANGE = { ...ROUND_CHANGE, ...TEACH_CHANGE, "pile-photo": sendPile };
export const ROOM_INPUT = TEACH_INPUT;
