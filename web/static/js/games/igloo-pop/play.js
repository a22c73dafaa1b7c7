// A round: what is to be done now, the table, and what can be tapped.

import { h } from "../../dom.js";
import { icon, nameOf, playerName, token } from "../../art.js";
import { agreed } from "../../dialogs.js";
import { head } from "../../head.js";
import { act, caughtUp } from "../../net.js";
import { faults, mayUndo } from "../../rulings.js";
import { change, isHost, match as openMatch, mayAct, store } from "../../store.js";
import { list, t, tn } from "../../words.js";
import { cardPicker } from "./card-picker.js";
import { cardName } from "./cards.js";
import { circle } from "./circle.js";
import { counts, kept, odds, results } from "./results.js";

const NONE = { colour: null, card: null, cap: null };
let pick = { ...NONE, match: null };

/** The colour of whoever has this phone, where it plays. */
const mine = (match) => match.players.find((player) => player.colour === store.me.colour)?.colour ?? null;

/** Whose igloo a tap on a card means: the player that was tapped, else whoever has this phone, unless a card was tapped first. */
const chosen = (match) => pick.colour ?? (pick.card ? null : mine(match));

function choose(changes) {
  pick = { ...pick, ...changes };
  change(() => {});
}

/** The igloo whose number is wanted: on a card that was begun, else on the card that was tapped, else the next. */
function iglooToReveal(match, picked) {
  if (match.phase !== "checking") return null;
  const open = match.cards.filter((card) => card.igloos.some((one) => one.number === null));
  const begun = open.find((card) => card.igloos.some((one) => one.number !== null));
  const card = begun ?? open.find((one) => one.place === picked) ?? open[0];
  if (!card) return null;
  return { place: card.place, index: card.igloos.findIndex((one) => one.number === null), card };
}

/** The place that waits for a card. */
function emptyPlace(match, picked) {
  const empty = match.cards.filter((card) => !card.numbers);
  return (empty.find((card) => card.place === picked) ?? empty[0])?.place ?? null;
}

function thalers(player) {
  if (player.passed) return h("span", { class: "rest" }, t("has passed"));
  const words = player.own === 0 ? t("no thaler left") : tn("%(n)s thaler", "%(n)s thalers", player.own);
  return h("span", { class: "rest" }, h("span", { class: "long" }, words), h("span", { class: "short", "aria-hidden": "true" }, player.own));
}

function playerButtons(match) {
  const idle = store.view.night.paused;
  return h("ul", { class: ["seats", `of-${match.players.length}`] }, match.players.map((player) => {
    const broke = player.own === 0 && !player.in_hand;
    const picked = chosen(match) === player.colour;
    return h("li", { class: ["seat", player.colour, player.passed && "passed"], "data-key": player.colour },
      h("button", {
          type: "button", class: "who draggable", "data-do": "pick-player", "data-colour": player.colour,
          "aria-pressed": String(picked), disabled: broke || idle,
        },
        token(player.colour),
        h("span", { class: "name" }, playerName(player)),
        thalers(player)),
      h("button", {
          type: "button", class: "pass", "data-do": "pass", "data-colour": player.colour,
          "aria-label": t("%(who)s passes", { who: playerName(player) }),
          disabled: player.passed || broke || idle,
        },
        icon(player.passed ? "check" : "pass")));
  }));
}

/** Where there is no room for a button beside each player, one button passes for the chosen player. */
function passPicked(match) {
  const colour = chosen(match);
  return h("button", { type: "button", class: "second pass-picked", "data-do": "pass", "data-colour": colour, disabled: !colour,
      "aria-label": colour ? null : t("Pass: tap a player first") },
    icon("pass"), t("Pass"));
}

/** Says that the next igloo wears a sensor: one button for each that is connected, until as many are placed. */
function capToggles(match) {
  const connected = store.igloo.igloos.filter((one) => one.state === "connected");
  const worn = match.cards.reduce((sum, card) => sum + card.igloos.filter((one) => one.sensor).length, 0);
  if (worn >= connected.length) return null;
  return connected.map((one) => {
    const many = connected.length > 1;
    const which = one.unit ?? one.port ?? one.key;
    const words = many ? t("The next igloo wears the cap of sensor %(n)s", { n: which }) : t("The next igloo wears the sensor cap");
    return h("button", {
        type: "button", class: ["toggle", many && "numbered"], "data-do": "cap", "data-key": `cap-${one.key}`,
        "data-igloo": one.key, "aria-pressed": String(pick.cap === one.key), "aria-label": words, title: words,
      },
      icon("cap"), many ? which : t("Cap"));
  });
}

/** Who has thalers, or an igloo in hand, and has not passed. */
function stillShaking(match) {
  return match.players.filter((player) => !player.passed && (player.own > 0 || player.in_hand)).map(playerName);
}

function shaking(match) {
  const { colour, card } = pick;
  let sentence = mayAct() ? t("Shake! Tap a player, then the card.") : t("Everybody shakes and places igloos.");
  if (mine(match) && chosen(match) === mine(match)) sentence = t("Shake! Tap the card your igloo stands on.");
  else if (colour) sentence = t("%(who)s: now tap the card.", { who: nameOf(match, colour) });
  else if (card) {
    const here = match.cards.find((one) => one.place === card);
    sentence = t("Card %(card)s: now tap the player.", { card: cardName(here?.numbers) });
  }
  return {
    title: t("Round %(n)s", { n: match.round }),
    sentence,
    lines: [tn("%(n)s igloo", "%(n)s igloos", match.village_left), t("in the village")],
    action: "pick-card",
    may: (one) => Boolean(one.numbers),
    dock: [
      playerButtons(match),
      h("div", { class: "row" },
        match.players.length > 4 && passPicked(match),
        capToggles(match),
        h("button", { type: "button", class: "main", "data-do": "check" }, icon("check"), t("Everybody has stopped: check"))),
    ],
  };
}

function keypad(match, target) {
  const used = new Set();
  for (const result of match.results) for (const one of result.igloos) used.add(one.number);
  for (const card of match.cards) for (const one of card.igloos) if (one.number) used.add(one.number);
  const printed = new Set(target.card.numbers ?? []);
  return h("div", { class: "keypad", role: "group", "aria-labelledby": "question" },
    Array.from({ length: 12 }, (_, i) => i + 2).map((n) =>
      h("button", {
          type: "button", class: ["key", printed.has(n) && "printed"], "data-key": `key${n}`,
          "data-do": "reveal", "data-place": target.place, "data-number": n, disabled: used.has(n),
          "aria-label": printed.has(n) ? t("%(n)s, on the card", { n }) : null,
        }, n)));
}

/** Whether the check has only begun: it came by one tap, and goes back by another. */
const untouched = (match) => match.results.length === 0 && match.cards.every((card) => card.igloos.every((one) => one.number === null));

/** Whose igloos are meant by a tap on this phone. */
function whose(match) {
  if (!["ready", "shaking"].includes(match.phase)) return null;
  return h("fieldset", { class: "hands", "data-key": "whose" },
    h("legend", null, t("Whose igloos do you place on this phone?")),
    [[null, t("everybody’s")], ...match.players.map((player) => [player.colour, playerName(player)])].map(([colour, words]) =>
      h("button", { type: "button", class: "toggle", "data-do": "seat", "data-colour": colour ?? "", "data-key": `whose-${colour}`,
        "aria-pressed": String(mine(match) === colour) }, colour && token(colour, "small"), words)));
}

function checking(match) {
  const target = iglooToReveal(match, pick.card);
  if (!target) return { title: t("The check"), sentence: "", lines: [], dock: [] };
  const one = target.card.igloos[target.index];
  const left = match.cards.reduce((sum, card) => sum + card.igloos.filter((i) => i.number === null).length, 0);
  const back = untouched(match) && mayUndo(match);
  return {
    title: t("The check, round %(n)s", { n: match.round }),
    sentence: t("The igloos are turned over, card by card."),
    lines: [tn("%(n)s igloo", "%(n)s igloos", left), t("to turn over")],
    // A card that was begun is finished first (POP-3.1); before that any card may be chosen.
    action: target.index > 0 ? null : "pick-check",
    may: (card) => card.igloos.length > 0,
    current: target,
    back,
    dock: [
      back && h("button", { type: "button", class: "second", "data-do": "undo" }, icon("undo"), t("Not yet: keep shaking")),
      h("p", { class: "question", id: "question" }, token(one.colour), h("span", null,
        t("Card %(card)s, igloo of %(who)s: which number is under it?", {
          card: cardName(target.card.numbers), who: nameOf(match, one.colour),
        }))),
      keypad(match, target),
    ],
  };
}

function dealing(match) {
  const empty = match.cards.filter((card) => !card.numbers).length;
  const first = match.round === 1 && match.results.length === 0;
  const title = first ? t("The cards") : t("New cards");
  if (match.draw) {
    return {
      title,
      sentence: tn("%(n)s card is drawn from the stack and laid on the table.",
        "%(n)s cards are drawn from the stack and laid on the table.", Math.min(empty, match.stack_left)),
      lines: [tn("%(n)s card", "%(n)s cards", match.stack_left), t("in the stack")],
      dock: [h("button", { type: "button", class: "main", "data-do": "deal" }, icon("cards"), t("Draw the cards"))],
    };
  }
  const place = emptyPlace(match, pick.card);
  return {
    title,
    sentence: tn("%(n)s place is empty.", "%(n)s places are empty.", empty),
    lines: [tn("%(n)s card", "%(n)s cards", match.stack_left), t("in the stack")],
    action: "pick-check",
    may: (card) => !card.numbers,
    picked: place,
    tall: true,
    dock: [
      h("p", { class: "question", id: "question" }, icon("cards"),
        h("span", null, t("Place %(n)s: which card lies there?", { n: place.replace("card", "") }))),
      h("p", null, h("a", { class: "second", href: "#photo" }, icon("camera"), t("Read the cards from a photo"))),
      cardPicker(match, (card) => ({ "data-do": "deal-card", "data-place": place, "data-card": card })),
    ],
  };
}

function ready(match) {
  return {
    title: t("Round %(n)s", { n: match.round }),
    sentence: t("Lay the cards as shown. The youngest counts to three."),
    lines: [tn("%(n)s igloo", "%(n)s igloos", match.village_left), t("in the village")],
    dock: [h("button", { type: "button", class: "main", "data-do": "start" }, icon("shake"), t("One, two, three: start"))],
  };
}

const PHASES = { shaking, checking, deal: dealing, ready };

/** The shape of what a television has beside the scores. */
const SCREEN = 1.27;

/** Draw the circle alone, for who only looks at it. */
function television(match) {
  const { lines = [], current } = PHASES[match.phase]?.(match) ?? {};
  return circle(match, { lines, current, stretch: SCREEN });
}

/** Draw the round that is being played. */
function draw(match) {
  if (pick.match !== match.id) pick = { ...NONE, match: match.id };
  const paused = store.view.night.paused;
  const phase = PHASES[match.phase](match);
  const can = mayAct() && !paused;
  return h("section", { class: ["play", paused && "paused"], "data-key": "play", "data-phase": match.phase },
    head(match, phase.title, paused ? t("The night is paused.") : phase.sentence, !(can && phase.back)),
    circle(match, {
      action: can ? phase.action : null,
      may: phase.may,
      picked: phase.picked ?? pick.card,
      current: phase.current,
      lines: phase.lines,
    }),
    h("div", { class: ["dock", phase.tall && "tall"] },
      paused && mayAct()
        ? h("button", { type: "button", class: "main", "data-do": "resume" }, icon("play"), t("Go on"))
        : can
          ? phase.dock
          : watchers(match)),
    can && whose(match),
    can && ["shaking", "checking"].includes(match.phase) && h("p", null, h("a", { class: "second", href: "#photo" }, icon("camera"), t("Score by photo"))),
    faults(match),
    results(match));
}

function watchers(match) {
  return [
    h("ul", { class: ["seats", `of-${match.players.length}`] }, match.players.map((player) =>
      h("li", { class: ["seat", player.colour, player.passed && "passed"], "data-key": player.colour },
        h("div", { class: "who" },
          token(player.colour),
          h("span", { class: "name" }, playerName(player)),
          thalers(player))))),
    !mayAct() && h("p", { class: "hint" }, t("You are watching."), " ",
      h("a", { href: "/join" }, t("Join with the table’s PIN"))),
  ];
}

function placeWhenBoth() {
  const { card, cap } = pick;
  const colour = pick.colour ?? mine(openMatch());
  if (colour && card) place(colour, card, cap);
}

function place(colour, card, cap) {
  choose(NONE);
  act("moves", { moves: [`place ${colour} ${card}`], ...(cap ? { sensor: cap } : {}) });
}

const other = (what, value) => ({ [what]: pick[what] === value ? null : value });

/** Everybody passes at once, and who tapped goes back. Where no igloo stands the round is over: a player cannot, and is asked. */
async function check() {
  choose(NONE);
  const match = openMatch();
  const others = match.cards.some((card) => card.igloos.length) ? [] : stillShaking(match);
  const sentence = t("Not yet passed: %(who)s. The check ends the round for everybody.", { who: list(others) });
  if (isHost() || !others.length || await agreed(sentence, t("Yes, check"), t("Has everybody stopped?"))) act("check");
}

/** After the last igloo of a check the companion draws by itself where it draws at all: nobody has anything to say to that. */
async function dealAnew() {
  await caughtUp();
  const match = openMatch();
  if (match?.draw && match.phase === "deal") act("deal");
}

/** What may be done in a phase, with the clauses. */
const MAY = {
  deal: () => [[t("Take back the igloos, and lay new cards where cards were won."), ["POP-3.11"]]],
  ready: () => [[t("Lay the cards round the village; everybody has thalers of one colour."), ["POP-1.1"]], [t("The youngest counts to three: then everybody shakes."), ["POP-2.1"]]],
  shaking: () => [
    [t("Take one igloo from the village and shake it; nobody looks under it."), ["POP-2.2", "POP-2.4"]],
    [t("Put it, with a thaler of yours, on any card that lies face up, or back into the village."), ["POP-2.3"]],
    [t("Whoever has thalers may take another one. Several igloos may stand on one card."), ["POP-2.8"]],
    [t("Whoever has had enough passes. When everybody has stopped, the igloos are checked."), ["POP-2.9"]]],
  checking: () => [
    [t("Turn the igloos over, card by card, and enter the number under each."), ["POP-3.1"]],
    [t("The highest number printed on the card wins it."), ["POP-3.10"]]],
};

export default {
  may: (match) => MAY[match.phase]?.() ?? [],
  draw, television, counts, kept, odds, results,
  series: ["POP-4.5"],
  faults: () => ({
    usual: "POP-2.4",
    all: [
      ["POP-2.2", t("held two igloos at a time")],
      ["POP-2.3", t("put an igloo down beside the cards")],
      ["POP-2.4", t("looked under an igloo")],
      ["POP-2.5", t("staked a thaler won from another")],
      ["POP-2.6", t("moved or shook an igloo on a card")],
    ],
  }),
  /** A thaler is carried to the card on which its igloo stands. */
  lift: ({ colour }) => { if (openMatch().phase === "shaking") choose({ colour }); return openMatch().phase === "shaking"; },
  drop: (data) => {
    const { colour, cap } = pick;
    if (data?.do === "pick-card" && colour) place(colour, data.place, cap);
    else choose(NONE);
  },
  does: {
    "pick-player": ({ colour }) => { choose(other("colour", colour)); placeWhenBoth(); },
    // A finger that taps twice means one igloo: the second tap is not the card of the next player.
    "pick-card": ({ place }, twice) => { if (twice) return; choose(other("card", place)); placeWhenBoth(); },
    "pick-check": ({ place }) => choose({ card: place }),
    cap: ({ igloo }) => choose(other("cap", igloo)),
    pass: ({ colour }) => { choose(NONE); act("moves", { moves: [`pass ${colour}`] }); },
    check,
    reveal: async ({ place, number }) => {
      if (!iglooToReveal(openMatch(), pick.card)) return;
      if ((await act("moves", { moves: [`reveal ${place} ${number}`] }))?.ok) dealAnew();
    },
    "deal-card": ({ place, card }) => {
      choose({ card: null });
      act("deal", { cards: { [place]: card } });
    },
    start: () => { choose(NONE); act("moves", { moves: ["start"] }); },
  },
};
