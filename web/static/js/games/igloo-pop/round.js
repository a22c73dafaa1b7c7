// A round of Igloo Pop from two photos: what was read, corrected by taps, what it comes to, and then its entry.

import { h } from "../../dom.js";
import { COLOURS, coin, colourName, icon } from "../../art.js";
import { act, chosenFile, fetched, showRefusal, tell, upload } from "../../net.js";
import { fileButton, overlay, READING_MS } from "../../photo-picture.js";
import { taughtOf } from "../../photo-teach.js";
import { change, match } from "../../store.js";
import { clauses } from "../../rulings.js";
import { list, said, t, tn } from "../../words.js";
import { changes as dealChanges, dealPart, does as dealDoes, isDealing, pickCard } from "./deal.js";

const ID = "igloo-pop";
const fresh = () => ({ id: null, url: null, width: 0, height: 0, cards: [], igloos: [], turned: false, pick: null, ruling: null, busy: false, done: false });
let now = fresh();
let request = 0;

const open = () => (match()?.game === ID && ["shaking", "checking"].includes(match().phase) ? match() : null);
const played = () => open()?.players.map((player) => player.colour) ?? COLOURS;
const alter = (changes) => { now = { ...now, ...changes }; change(() => {}); };

/** Where a card lies: in the open game where the record has it, else as it lies in the photo, clockwise. */
function placeOf(card, i) {
  const here = open()?.cards.find((one) => one.numbers?.join("/") === card.card);
  return here?.place ?? (open() ? null : `card${i + 1}`);
}

function seen() {
  return now.cards.map((card, i) => ({
    place: placeOf(card, i), card: card.card,
    igloos: now.igloos.filter((one) => one.on_card === i).map(({ colour, number }) => ({ colour, number })),
  })).filter((one) => one.place || one.igloos.length).map((one) => ({ ...one, place: one.place ?? "card1" }));
}

/** Have the rules say what it comes to; an answer that comes after a later question is of no use. */
async function judge() {
  request += 1;
  const mine = request;
  try {
    const ruling = await tell(`/api/cards/${ID}/judge`, { cards: seen(), match: Boolean(open()) });
    if (mine === request) alter({ ruling });
  } catch (refused) {
    if (mine === request) { alter({ ruling: null }); showRefusal(refused.error); }
  }
}

async function send(input) {
  const file = chosenFile(input);
  const second = input.dataset.change === "round-turned";
  if (!file) return;
  alter({ busy: true });
  const query = second ? `?first=${encodeURIComponent(now.id)}` : "";
  const read = await fetched(() => upload(`/api/cards/${ID}/round${query}`, file, READING_MS));
  if (!read) return alter({ busy: false });
  const url = second ? now.url : URL.createObjectURL(file);
  if (!second && now.url) URL.revokeObjectURL(now.url);
  alter({ ...fresh(), ...read, url, turned: second });
  judge();
}

function words(igloo) {
  const card = now.cards[igloo.on_card]?.card ?? "?";
  const number = igloo.number === null ? t("number unknown") : String(igloo.number);
  return t("%(number)s, igloo of %(colour)s on %(card)s", { number, colour: colourName(igloo.colour), card });
}

const doubtful = () => [
  ...now.cards.flatMap((card, i) => (card.unsure ? [["card", i, t("Is this card %(card)s?", { card: card.card })]] : [])),
  ...now.igloos.flatMap((one, i) => (one.unsure ? [["igloo", i, t("Is this right: %(what)s?", { what: words(one) })]]
    : now.turned && one.number === null ? [["igloo", i, t("Which number is under the igloo of %(colour)s on %(card)s?", { colour: colourName(one.colour), card: now.cards[one.on_card].card })]] : [])),
];

function questions() {
  const left = doubtful();
  if (!left.length) return null;
  return h("div", { class: "note", "data-key": "doubts" }, h("p", null, tn("%(n)s thing to look at:", "%(n)s things to look at:", left.length)),
    h("ul", null, left.map(([kind, n, question]) => h("li", null,
      h("button", { type: "button", class: "second", "data-do": `photo-${kind}`, "data-n": n, "data-key": `doubt-${kind}${n}` }, question),
      (kind === "card" || now.igloos[n].unsure) && h("button", { type: "button", class: "second", "data-do": "photo-yes", "data-kind": kind, "data-n": n, "data-key": `yes-${kind}${n}` }, icon("check"), t("Yes"))))));
}

function editor() {
  if (!now.pick) return null;
  const { kind, n } = now.pick;
  if (kind === "card") {
    const card = now.cards[n];
    const names = open() ? open().cards.filter((one) => one.numbers).map((one) => one.numbers.join("/")) : taughtOf(ID)?.names ?? [];
    return h("fieldset", { class: "choice", "data-key": "edit-card" }, h("legend", null, t("Which card is it?")),
      h("div", { class: "steps" }, names.map((name) => h("button", { type: "button", class: "toggle", "data-do": "photo-name", "data-name": name, "data-key": name, "aria-pressed": String(name === card.card) }, name))),
      h("button", { type: "button", class: "second", "data-do": "photo-add" }, icon("igloo"), t("Another igloo stands on it")));
  }
  const igloo = now.igloos[n];
  return h("fieldset", { class: "choice", "data-key": "edit-igloo" }, h("legend", null, t("This igloo")),
    h("div", { class: "steps", role: "group", "aria-label": t("Whose thaler?") }, played().map((colour) =>
      h("button", { type: "button", class: "toggle", "data-do": "photo-colour", "data-colour": colour, "data-key": colour, "aria-pressed": String(colour === igloo.colour) }, coin(colour), colourName(colour)))),
    h("div", { class: "keypad small", role: "group", "aria-label": t("Which number is under it?") }, Array.from({ length: 12 }, (_, i) => i + 2).map((number) =>
      h("button", { type: "button", class: ["key", number === igloo.number && "printed"], "data-do": "photo-number", "data-number": number, "data-key": `n${number}`, "aria-pressed": String(number === igloo.number) }, number))),
    h("label", { class: "count-field" }, h("span", null, t("It stands on")),
      h("select", { "data-change": "photo-on" }, now.cards.map((card, i) => h("option", { value: i, selected: i === igloo.on_card }, card.card)))),
    h("button", { type: "button", class: "second", "data-do": "photo-remove" }, icon("close"), t("There is no igloo")));
}

function outcome() {
  const { ruling } = now;
  if (!ruling) return null;
  return h("section", { class: "panel", "data-key": "round-result", role: "status" }, h("h2", null, t("What the round comes to")),
    ruling.refused && h("div", { class: "note" }, h("p", null, said(ruling.refused), " ", clauses(ruling.refused.clauses))),
    ruling.open > 0 && h("p", { class: "quiet" }, tn("%(n)s number is still open.", "%(n)s numbers are still open.", ruling.open)),
    h("ul", { class: "lines" }, ruling.results.map((one) => h("li", null, h("span", null, h("b", null, one.card.join("/")), ": ", said(one), " ", clauses(one.clauses))))),
    h("ul", { class: "lines" }, ruling.players.map((player) => h("li", null,
      h("span", null, coin(player.colour), " ", t("%(who)s: %(own)s own thalers, %(captured)s captured, cards: %(cards)s", {
        who: player.name === player.colour || !player.name ? colourName(player.colour) : player.name, own: player.own, captured: player.captured,
        cards: player.cards.length ? list(player.cards.map((card) => card.numbers.join("/"))) : t("none") }))))),
    open() && !now.done && h("button", { type: "button", class: "main", "data-do": "photo-enter", disabled: Boolean(ruling.refused) || ruling.open > 0 || !ruling.moves.length }, icon("check"), t("That’s right: enter this round")),
    now.done && h("p", null, t("The round is entered."), " ", h("a", { href: "#" }, t("Back to the game"))));
}

/** Draw the part of the room. */
function draw() {
  const ready = (taughtOf(ID)?.taught.length ?? 0) > 0;
  if (isDealing()) return [now.done && outcome(), dealPart()];
  return [
    h("section", { class: "panel", "data-key": "round-photos" }, h("h2", null, t("A round in two photos")),
      h("p", null, open() ? t("The first photo before the igloos are turned over, the second when all lie upturned where they stood.")
        : t("No round is open: the photos are scored as a round of their own.")),
      h("div", { class: "row" },
        ready && fileButton(t("1. Igloos as they stand"), "round-placed"),
        now.id && fileButton(t("2. Igloos upturned"), "round-turned")),
      now.busy && h("p", { role: "status" }, t("Reading the photo …")),
      now.url && overlay(now.url, {
        ...now,
        cards: now.cards.map((card, i) => ({ ...card, words: card.card, doubt: card.unsure, picked: now.pick?.kind === "card" && now.pick.n === i })),
        igloos: now.igloos.map((one, i) => ({ ...one, words: words(one), doubt: one.unsure || (now.turned && one.number === null), picked: now.pick?.kind === "igloo" && now.pick.n === i })),
      }, "round"),
      questions(), editor()),
    outcome(),
  ];
}

const replaced = (items, n, changes) => items.map((one, i) => (i === n ? { ...one, ...changes, unsure: false } : one));
function correct(changes) {
  const { kind, n } = now.pick;
  alter(kind === "card" ? { cards: replaced(now.cards, n, changes) } : { igloos: replaced(now.igloos, n, changes) });
  judge();
}

const does = {
  ...dealDoes,
  "photo-card": ({ n }) => (isDealing() ? pickCard({ n }) : alter({ pick: { kind: "card", n: Number(n) } })),
  "photo-igloo": ({ n }) => alter({ pick: { kind: "igloo", n: Number(n) } }),
  "photo-yes": ({ kind, n }) => { alter({ pick: { kind, n: Number(n) } }); correct({}); alter({ pick: null }); },
  "photo-name": ({ name }) => correct({ card: name }),
  "photo-colour": ({ colour }) => correct({ colour }),
  "photo-number": ({ number }) => correct({ number: Number(number) }),
  "photo-add": () => {
    const card = now.cards[now.pick.n];
    const at = [0, 1].map((axis) => card.corners.reduce((sum, point) => sum + point[axis], 0) / 4);
    alter({ igloos: [...now.igloos, { on_card: now.pick.n, at, colour: played()[0], number: null, unsure: true }], pick: { kind: "igloo", n: now.igloos.length } });
    judge();
  },
  "photo-remove": () => { alter({ igloos: now.igloos.filter((_, i) => i !== now.pick.n), pick: null }); judge(); },
  "photo-enter": async () => { if ((await act("moves", { moves: now.ruling.moves }))?.ok) alter({ done: true }); },
};

export default { draw, does, changes: { ...dealChanges, "round-placed": send, "round-turned": send, "photo-on": ({ value }) => correct({ on_card: Number(value) }) } };
