// A position of Igloo Pop that is laid by hand: the circle of cards.

import { h } from "../../dom.js";
import { COLOURS, colourName, icon, playerName, token } from "../../art.js";
import { edit, group, number, toggle, whole } from "../../position-editor.js";
import { t } from "../../words.js";
import { cardPicker } from "./card-picker.js";
import { cardName } from "./cards.js";
import { circle } from "./circle.js";

const IGLOOS = 12;
const THALERS = 10;
const LEAST = 2;

const numbersOf = (text) => (text && text !== "empty" ? text.split("/").map(Number) : null);

/** The cards as the circle draws them. */
function popCards(p) {
  return Object.entries(p.places).map(([place, here]) => {
    const numbers = numbersOf(here?.ground);
    return { place, numbers, unnamed: !here?.ground, points: numbers ? 4 - numbers.length : 0,
      igloos: (here?.things ?? []).map((one) => ({ colour: one.colour, number: one.value ?? null })) };
  });
}

const popPlayers = (p) => p.players.map((one) => ({ ...one, cards: (one.cards ?? []).map((card) => ({ numbers: numbersOf(card) })) }));

function popCard({ p, place, open }) {
  const card = popCards(p).find((one) => one.place === place);
  const n = place.replace("card", "");
  const used = new Set(popCards(p).flatMap((one) => one.igloos.map((it) => it.number)));
  return [
    group(t("Whose igloo is placed on card %(n)s?", { n }), p.players.map((one) => edit("igloo", one.colour, null, null, token(one.colour, "", p.game), colourName(one.colour)))),
    card.igloos.length ? h("ul", { class: "editor-list" }, card.igloos.map((one, i) => h("li", { "data-key": `igloo-${i}` },
      token(one.colour, "", p.game), h("span", null, colourName(one.colour)),
      h("select", { "data-change": "edit", "data-op": "number", "data-a": i, "aria-label": t("Which number is under this igloo?") },
        h("option", { value: "" }, "?"),
        Array.from({ length: IGLOOS }, (_, at) => at + 2).map((it) => h("option", { value: it, selected: it === one.number, disabled: used.has(it) && it !== one.number }, it))),
      edit("no-igloo", i, null, { class: "round-button", "aria-label": t("Take this igloo away") }, icon("close"))))) : null,
    toggle("open", "card", null, open === "card", card.numbers ? t("Card %(n)s: %(card)s", { n, card: cardName(card.numbers) }) : t("Which card?")),
    open === "card" ? [
      cardPicker({ cards: popCards(p), players: popPlayers(p) }, (card) => ({ "data-do": "edit", "data-op": "ground", "data-a": card, "data-card": card, "data-closes": "true" })),
      h("div", { class: "steps many" }, edit("ground", "", null, null, t("a card that nobody named")), edit("ground", "empty", null, null, t("no card"))),
    ] : null,
  ];
}

/** A thaler goes from its owner onto the card, or comes back; where nobody said how many are left, they are counted. */
function staked(p, colour, n) {
  const one = p.players.find((it) => it.colour === colour);
  if (one.own !== undefined) one.own = Math.min(THALERS, Math.max(0, one.own - n));
}

export default {
  choose: "colours",
  hint: () => t("Tap a card to put igloos on it. Cards that do not matter need no numbers."),
  drawing: ({ p, place }) => circle({ players: popPlayers(p), results: [], cards: popCards(p), phase: "shaking",
    village_left: IGLOOS - Object.values(p.places).reduce((sum, one) => sum + (one?.things.length ?? 0), 0) - p.players.filter((one) => one.in_hand).length },
  { action: "tap", picked: place, lines: [t("The village"), ""] }),
  dock: popCard,
  turn: ({ p }) => [
    group(t("What is going on?"), [["shaking", t("All shake")], ["checking", t("The check")], ["ready", t("Before the count to three")]].map(([id, words]) =>
      toggle("phase", id, null, p.phase === id, words))),
    p.phase === "shaking" ? group(t("Who has an igloo in hand?"), p.players.map((one) => toggle("hand", one.colour, null, one.in_hand === true, token(one.colour, "", p.game), colourName(one.colour)))) : null,
    p.phase === "shaking" ? group(t("Who has passed?"), p.players.map((one) => toggle("passed", one.colour, null, one.passed === true, token(one.colour, "", p.game), colourName(one.colour)))) : null,
  ],
  more: ({ p }) => [t("Thalers"), p.players.map((one) => h("fieldset", { "data-key": one.colour }, h("legend", null, token(one.colour, "", p.game), " ", playerName(one)),
    number("own", one.colour, one.own ?? THALERS - Object.values(p.places).reduce((sum, here) => sum + (here?.things ?? []).filter((it) => it.colour === one.colour).length, 0), THALERS, t("own thalers left")),
    number("captured", one.colour, one.captured ?? 0, 50, t("thalers won from others"))))],
  name: (place) => t("Place %(n)s", { n: place.replace("card", "") }),
  ops: {
    igloo: (p, place, colour) => {
      p.places[place] ??= { ground: null, things: [] };
      p.places[place].things.push({ kind: "igloo", colour, count: 1 });
      staked(p, colour, 1);
    },
    "no-igloo": (p, place, i) => {
      const [gone] = p.places[place].things.splice(Number(i), 1);
      staked(p, gone.colour, -1);
    },
    number: (p, place, i, n) => {
      const thing = p.places[place].things[Number(i)];
      if (n) thing.value = Number(n);
      else delete thing.value;
      if (n) p.phase = "checking";
    },
    ground: (p, place, text) => {
      p.places[place] = { things: [], ...p.places[place], ground: text || null };
      delete p.piles;
    },
    phase: (p, place, phase) => {
      p.phase = phase;
      for (const field of ["ended_by", "results"]) delete p[field];
      for (const one of p.players) if (phase !== "shaking") [one.in_hand, one.passed] = [false, false];
    },
    hand: (p, place, colour) => { const one = p.players.find((it) => it.colour === colour); one.in_hand = !one.in_hand; },
    passed: (p, place, colour) => { const one = p.players.find((it) => it.colour === colour); one.passed = !one.passed; },
    own: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).own = whole(n, THALERS); },
    captured: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).captured = whole(n, 50); },
    seat: (p, place, colour) => {
      const on = new Set(p.players.map((one) => one.colour));
      if (on.has(colour) && on.size > LEAST) on.delete(colour);
      else on.add(colour);
      p.players = COLOURS.filter((one) => on.has(one)).map((one) => p.players.find((it) => it.colour === one) ?? { name: playerName({ colour: one }), colour: one });
      for (const here of Object.values(p.places).filter(Boolean)) here.things = here.things.filter((one) => on.has(one.colour));
    },
  },
};
