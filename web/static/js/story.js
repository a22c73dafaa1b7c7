// The story of a game that is over: the scores as they went, and the turn that gained most.

import { h, s } from "./dom.js";
import { pieceAt, playerName, token } from "./art.js";
import { gameOf } from "./games.js";
import { list, said, t, tn } from "./words.js";

const [WIDE, HIGH] = [600, 240];
const [LEFT, RIGHT, TOP, BOTTOM] = [34, 30, 14, 14];

/** Draw a line a player through points by seat, up to `goal` at least, which is marked; `words` tell the scores at the end. */
export function lines(match, points, words, goal = 0) {
  const all = points.flat();
  const [low, high] = [Math.min(0, ...all), Math.max(1, goal, ...all)];
  const x = (i) => LEFT + (i * (WIDE - LEFT - RIGHT)) / Math.max(1, points.length - 1);
  const y = (value) => TOP + ((high - value) * (HIGH - TOP - BOTTOM)) / (high - low);
  const ends = match.players.map((player, seat) => t("%(who)s: %(n)s", { who: playerName(player), n: points.at(-1)[seat] }));
  return s("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": words({ scores: list(ends) }) },
    [low, goal || high].map((value) => [
      s("path", { class: "grid", d: `M${LEFT} ${y(value)}H${WIDE - RIGHT}` }),
      s("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, value)]),
    match.players.map((player, seat) => s("g", { class: `line ${player.colour}` },
      s("path", { class: "rim", d: points.map((one, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(one[seat]).toFixed(1)}`).join("") }),
      s("path", { class: "ink", d: points.map((one, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(one[seat]).toFixed(1)}`).join("") }))),
    match.players.map((player, seat) => pieceAt(match.game, player.colour, WIDE - RIGHT + 12, y(points.at(-1)[seat]), 0.8)));
}

/** Draw how the scores went. */
export const chart = (match) => lines(match, match.story.chart, (facts) => t("How the scores went; at the end %(scores)s", facts));

/** Whether it is known how the scores went: of a game that was only counted there is its end alone. */
export const hasHistory = (match) => (match.story?.chart.length ?? 0) > 1;

/** Draw the story; nothing before the end of a game. */
export function story(match) {
  if (!match.story) return null;
  const { best, disputed } = match.story;
  const early = match.ended_by === "early";
  const player = match.players.find((one) => one.colour === best?.colour);
  return h("section", { class: "panel story", "data-key": "story" },
    h("h2", null, t("The story of the game")),
    hasHistory(match) ? chart(match) : h("p", null, t("This game was only counted at the end: nobody wrote down how the scores went before.")),
    early && h("p", null, t("It was ended early, so the story stops here.")),
    player && h("p", { "data-key": "best" }, h("b", null, gameOf(match.game).igloos ? t("The best round:") : t("The best turn:")), " ", token(player.colour, "small"), " ", playerName(player), ", ",
      tn("%(n)s point", "%(n)s points", best.gain), "."),
    disputed && h("p", null, h("b", null, t("The most disputed:")), " ", h("span", { class: "quiet" }, said(disputed)), " ",
      tn("%(n)s time", "%(n)s times", disputed.times), disputed.all > disputed.times ? [", ", t("of %(all)s in this game", { all: disputed.all })] : null, "."));
}
