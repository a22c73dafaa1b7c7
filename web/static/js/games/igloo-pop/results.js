// What a round came to, what somebody has won and kept, and what a count says of the cards.

import { h } from "../../dom.js";
import { token } from "../../art.js";
import { clauses } from "../../rulings.js";
import { match } from "../../store.js";
import { percent, said, t, tn } from "../../words.js";
import { cardName, eskimos } from "./cards.js";

/** The results of the round that is or was checked, card by card. */
export function results(match) {
  if (!match.results?.length || match.phase === "shaking") return null;
  return h("section", { class: "panel results", "data-key": "results" },
    h("h2", null, t("Results")),
    h("ol", null, match.results.map((result) =>
      h("li", { "data-key": result.place, class: "result" },
        h("span", { class: "mini-card" }, cardName(result.card)),
        h("div", null,
          h("p", null, said(result)),
          h("p", { class: "under" },
            result.igloos.map((one) => h("span", { class: "one" }, token(one.colour, "small"), one.number)),
            clauses(result.clauses)))))));
}

/** What a player has, in a few words. */
export const counts = (player) => [
  h("span", null, tn("%(n)s card", "%(n)s cards", player.cards.length)),
  h("span", null, tn("%(n)s own thaler", "%(n)s own thalers", player.own)),
  player.captured > 0 && h("span", null, tn("%(n)s captured", "%(n)s captured", player.captured)),
];

/** The cards that a player has won; of a game that was only counted we know how many of each worth, not which. */
export function kept(match, player) {
  if (!player.cards.length || match.ended_by === "sheet") return null;
  return h("p", { class: "won-cards" }, player.cards.map((card) =>
    h("span", { class: "mini-card" }, cardName(card.numbers), eskimos(card.points))));
}

/** What the count says of each card on the table: the probability that the igloo belongs there. */
export function odds(count) {
  const cards = Object.values(Object.fromEntries((match()?.cards ?? []).filter((card) => card?.numbers).map((card) => [cardName(card.numbers), card.numbers])));
  if (!cards.length) return null;
  const known = cards.map((numbers) => ({ numbers, p: numbers.reduce((sum, n) => sum + (count.posterior[String(n)] ?? 0), 0) }))
    .sort((a, b) => b.p - a.p);
  return h("div", { class: "chances", "data-key": "chances" },
    h("h3", null, t("The cards on the table")),
    h("ul", null, known.map(({ numbers, p }) => h("li", { "data-key": cardName(numbers), "data-chance": p.toFixed(3) },
      h("span", { class: "mini-card" }, cardName(numbers)),
      h("meter", { min: 0, max: 1, value: p.toFixed(3), "aria-label": t("Card %(card)s", { card: cardName(numbers) }) }, percent(p)),
      h("span", { class: "share" }, percent(p))))));
}
