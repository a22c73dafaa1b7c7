// The cards that the table has laid in the circle, read from one picture: looked at, put right by taps, entered at once.

import { h } from "../../dom.js";
import { icon } from "../../art.js";
import { act, chosenFile, fetched, upload } from "../../net.js";
import { fileButton, overlay, READING_MS } from "../../photo-picture.js";
import { change, match, store } from "../../store.js";
import { list, t, tn } from "../../words.js";
import { cardPicker } from "./card-picker.js";
import { cardName } from "./cards.js";

const ID = "igloo-pop";
const fresh = () => ({ url: null, width: 0, height: 0, cards: [], missing: [], pick: null, busy: false, match: null });
let now = fresh();

/** Whether cards are to be laid that the companion does not draw. */
export const isDealing = () => match()?.game === ID && match().phase === "deal" && !match().draw;

const alter = (changes) => { now = { ...now, ...changes }; change(() => {}); };
const lying = () => new Set(match().cards.filter((one) => one.numbers).map((one) => cardName(one.numbers)));
const empty = () => match().cards.filter((one) => !one.numbers).map((one) => one.place);
const wanted = () => Math.min(empty().length, match().stack_left);

/** The new cards by their places, as the table's command takes them. */
function laid() {
  const there = lying();
  const anew = now.cards.filter((one) => !there.has(one.card));
  const open = empty();
  const free = open.filter((place) => !anew.some((one) => one.place === place));
  return anew.map((one) => [open.includes(one.place) ? one.place : free.shift(), one.card]);
}

async function read(file) {
  alter({ busy: true });
  const answer = await fetched(() => upload(`/api/cards/${ID}/deal`, file, READING_MS));
  if (!answer) return alter({ busy: false });
  if (now.url) URL.revokeObjectURL(now.url);
  alter({ ...fresh(), ...answer, url: URL.createObjectURL(file), match: match().id });
}

/** The camera's newest picture is sent as a photo is, so what is shown is what was read. */
async function look() {
  const picture = await fetched(async () => {
    const answer = await fetch("/api/camera/frame.jpg", { cache: "no-store" });
    if (!answer.ok) throw { error: (await answer.json().catch(() => ({}))).error ?? null };
    return answer.blob();
  });
  if (picture) await read(picture);
}

function editor() {
  const one = now.cards[now.pick];
  if (!one) return null;
  return h("fieldset", { class: "choice", "data-key": "edit-card" }, h("legend", { id: "question" }, t("Which card is it?")),
    cardPicker(match(), (card) => ({ "data-do": "deal-name", "data-card": card })),
    h("button", { type: "button", class: "second", "data-do": "deal-remove" }, icon("close"), t("There is no such card")));
}

function questions() {
  const doubts = now.cards.flatMap((one, i) => (one.unsure ? [[one, i]] : []));
  if (!doubts.length) return null;
  return h("div", { class: "note", "data-key": "doubts" }, h("p", null, tn("%(n)s thing to look at:", "%(n)s things to look at:", doubts.length)),
    h("ul", null, doubts.map(([one, i]) => h("li", null,
      h("button", { type: "button", class: "second", "data-do": "photo-card", "data-n": i, "data-key": `doubt${i}` }, t("Is this card %(card)s?", { card: one.card })),
      one.place && h("button", { type: "button", class: "second", "data-do": "deal-yes", "data-n": i, "data-key": `yes${i}` }, icon("check"), t("Yes"))))));
}

function entry() {
  const cards = laid();
  const many = wanted();
  const names = new Set(cards.map(([, card]) => card));
  const right = cards.length > 0 && cards.length <= many && names.size === cards.length && now.cards.every((one) => !one.unsure);
  return [
    cards.length !== many && h("p", { class: "note", "data-key": "not-all" }, t("New cards read: %(read)s. To be laid: %(all)s.", { read: cards.length, all: many })),
    now.missing.length > 0 && h("p", { class: "quiet", "data-key": "missing" }, t("Not seen in the picture: %(cards)s", { cards: list(now.missing) })),
    h("button", { type: "button", class: "main", "data-do": "deal-enter", disabled: !right }, icon("check"), t("That’s right: enter these cards")),
  ];
}

/** Draw the panel. */
export function dealPart() {
  const shown = now.url && now.match === match().id;
  return h("section", { class: "panel", "data-key": "deal-photo" }, h("h2", null, t("The cards as they lie")),
    h("p", null, t("The whole circle in one picture, from above, before igloos stand on it.")),
    h("div", { class: "row" },
      fileButton(t("Send a photo of the cards"), "deal-photo"),
      store.camera.camera && h("button", { type: "button", class: "second", "data-do": "deal-camera", disabled: now.busy }, icon("camera"), t("Let the camera look"))),
    now.busy && h("p", { role: "status" }, t("Reading the photo …")),
    shown && overlay(now.url, { ...now, cards: now.cards.map((one, i) => ({ ...one, words: one.card, doubt: one.unsure, picked: now.pick === i })) }, "deal"),
    shown && [questions(), editor(), entry()]);
}

const put = (n, changes) => alter({ cards: now.cards.map((one, i) => (i === n ? { ...one, ...changes, unsure: false } : one)), pick: null });

export const does = {
  "deal-camera": look,
  "deal-name": ({ card }) => put(now.pick, { card }),
  "deal-yes": ({ n }) => put(Number(n), {}),
  "deal-remove": () => alter({ cards: now.cards.filter((_, i) => i !== now.pick), pick: null }),
  "deal-enter": async () => {
    if (!(await act("deal", { cards: Object.fromEntries(laid()) }))?.ok) return;
    URL.revokeObjectURL(now.url);
    now = fresh();
    location.hash = "";
  },
};
/** What a tap on a card of the photo means here. */
export const pickCard = ({ n }) => alter({ pick: now.pick === Number(n) ? null : Number(n) });
export const changes = { "deal-photo": (input) => { const file = chosenFile(input); if (file) read(file); } };
