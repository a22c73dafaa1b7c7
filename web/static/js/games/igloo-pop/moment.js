// The moment of truth: one, two, three, shake!; an igloo turns, its number comes, thalers go to who won them.

import { s } from "../../dom.js";
import { thaler } from "../../art.js";
import { t } from "../../words.js";
import { igloo } from "./cards.js";

const BEAT_MS = 650;
const TURN_MS = 1100;
const FLY_MS = 800;
/** More numbers at once come from a photo or after a break. */
const MOST = 3;

/** The numbers that came to light between two states, with the card and what it came to. */
function revealed(before, now) {
  const numberOf = (state, where, index) => {
    const card = state.cards.find((one) => one.place === where);
    return card?.igloos.length ? card.igloos[index]?.number ?? null : null;
  };
  return before.cards.flatMap(({ place: where, igloos }) => {
    const result = now.results_round === before.round ? now.results.find((one) => one.place === where) : null;
    return igloos.map((one, index) => {
      const number = numberOf(now, where, index) ?? result?.igloos[index]?.number ?? null;
      return one.number === null && number !== null ? { where, index, colour: one.colour, number, result } : null;
    }).filter(Boolean);
  });
}

/** Where each igloo stands on the screen, before the page is drawn anew. */
function look(stage) {
  return Object.fromEntries([...document.querySelectorAll(".circle .card[data-key]")].map((card) =>
    [card.dataset.key, [...card.querySelectorAll(".iglet")].map((one) => stage.place(one))]));
}

const at = (matrix, x = 1, y = x) => `matrix(${matrix.a * x}, 0, 0, ${matrix.d * y}, ${matrix.e}, ${matrix.f})`;

/** An igloo rises from its card and is turned over; then the number that was under it. */
function turn(stage, { colour, number }, where) {
  // As large as can be seen from the other side of the table, wherever it stands.
  const large = (0.11 * Math.min(innerWidth, innerHeight)) / (24 * where.a);
  const whole = igloo({ colour }, 0, 0).innerHTML;
  const under = s("g", null, s("circle", { class: "found", cy: -18, r: 24 }), s("text", { class: "found-number big", y: -6, "text-anchor": "middle" }, number)).innerHTML;
  stage.play("turn", whole, [{ transform: at(where) }, { transform: at(where, large), offset: 0.4 }, { transform: at(where, large, -large), opacity: 1, offset: 0.8 }, { transform: at(where, large, -large), opacity: 0 }], TURN_MS * 0.6);
  return stage.play("number", under, [{ transform: at(where, 0.2), opacity: 0 }, { transform: at(where, 1.1 * large), opacity: 1, offset: 0.3 }, { transform: at(where, large), opacity: 1, offset: 0.85 }, { transform: at(where, 1), opacity: 0 }], TURN_MS, TURN_MS * 0.35);
}

/** The thalers of a card go to who won it; without a winner they fall out of the game. */
function thalers(stage, { igloos, winner }, places) {
  return igloos.map((one, index) => {
    const from = places[index] ?? places[0];
    if (!from) return null;
    const [x, y] = winner ? stage.whereIs(winner) : [from.e, from.f + 140];
    const size = from.a * 0.95;
    return stage.play("thaler-flies", thaler(one.colour).outerHTML, [
      { transform: `translate(${from.e}px, ${from.f - 29 * from.d}px) scale(${size})`, opacity: 1 },
      { transform: `translate(${x}px, ${y}px) scale(${size * (winner ? 1.4 : 0.6)})`, opacity: winner ? 1 : 0 },
    ], FLY_MS, TURN_MS + 90 * index);
  });
}

/** Show what happened between two states; returns after how many milliseconds it is told who won. */
function show(stage, before, now, seen) {
  if (before.phase === "ready" && now.phase === "shaking") {
    const middle = stage.whereIs(null);
    [t("one"), t("two"), t("three"), t("shake!")].forEach((word, beat) => {
      stage.words(word, middle, { large: true, ms: BEAT_MS * (beat === 3 ? 2 : 1), delay: BEAT_MS * beat });
      stage.sound(beat === 3 ? "go" : "count", (BEAT_MS * beat) / 1000);
    });
    return 0;
  }
  const fresh = revealed(before, now);
  if (!fresh.length || fresh.length > MOST) return 0;
  const ended = fresh.find((one) => one.result)?.result ?? null;
  stage.sound("turn");
  stage.sound("number", 0.4);
  if (ended) stage.sound(ended.winner ? "won" : "lost", TURN_MS / 1000);
  if (!stage.moves()) return 0;
  for (const one of fresh) {
    const where = seen?.[one.where]?.[one.index];
    if (where) turn(stage, one, where);
  }
  if (ended) thalers(stage, ended, seen?.[ended.place] ?? []);
  return ended ? TURN_MS + FLY_MS : 0;
}

export default { look, show };
