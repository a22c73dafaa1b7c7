// Scores, line by line with their clauses; the ranking at the end; the series to a hundred.

import { h, keep } from "./dom.js";
import { icon, nameOf, playerName, playerOf, token } from "./art.js";
import { faceOf } from "./faces.js";
import { part } from "./games.js";
import { lines, story } from "./story.js";
import { clauses, faults, mayUndo, undoButton } from "./rulings.js";
import { isHost, mayAct, store } from "./store.js";
import { list, said, t, wordsKnown } from "./words.js";

function sheet(match, player) {
  const own = part(match.game, "play");
  return h("details", { class: ["sheet", player.colour], "data-key": player.colour },
    h("summary", null,
      token(player.colour),
      faceOf(player),
      h("span", { class: "who" },
        h("span", { class: "name" }, playerName(player)),
        h("span", { class: "counts" }, player.notes ? player.notes.map((note) => h("span", null, said(note))) : own?.counts?.(player))),
      h("strong", { class: "total" }, player.score)),
    h("ul", { class: "lines" },
      player.lines.map((line) =>
        h("li", null, h("span", null, said(line), " ", clauses(line.clauses)), h("b", null, line.points)))),
    own?.kept?.(match, player));
}

/** The score so far, in seat order. */
export const scores = (match) => keep("scores", [match, wordsKnown(), store.people, part(match.game, "play")], () =>
  h("section", { class: "panel scores", "data-key": "scores" },
    h("h2", null, match.over ? t("Score sheets") : t("Score so far")),
    match.players.map((player) => sheet(match, player))));

function rank(match, place) {
  const shared = place.length > 1;
  return place.map((colour) => {
    const player = playerOf(match, colour);
    return h("li", { class: ["rank", player.place === 1 && "first", colour], "data-key": `rank-${colour}` },
      h("span", { class: "place" }, player.place),
      token(colour, "large"),
      h("span", { class: "name" }, playerName(player), shared ? h("small", null, ` (${t("shared")})`) : null),
      h("strong", { class: "total" }, player.score));
  });
}

/** How the points of a series grew, game by game. */
function seriesChart(match, { games, to }) {
  const points = [match.players.map(() => 0)];
  for (const { scores } of games) points.push(match.players.map(({ colour }, seat) => points.at(-1)[seat] + (scores[colour] ?? 0)));
  return lines(match, points, ({ scores }) => `${t("The series to %(n)s points", { n: to })}. ${scores}`, to);
}

function seriesTable(match, series) {
  if (!series || series.games.length === 0) return null;
  const players = match.players.filter((player) => player.colour in series.totals);
  return h("section", { class: "panel series", "data-key": "series" },
    h("h2", null, t("The series to %(n)s points", { n: series.to })),
    series.winner && h("p", { class: "sentence" },
      t("%(who)s wins the series.", { who: list(series.winner.map((colour) => nameOf(match, colour))) }), " ",
      clauses(part(match.game, "play")?.series)),
    series.games.length > 1 && seriesChart(match, series),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("The series to %(n)s points", { n: series.to }) },
      h("table", null,
        h("thead", null, h("tr", null, h("th", { scope: "col" }, t("Game")),
          players.map((player) => h("th", { scope: "col" }, token(player.colour, "small"), " ", playerName(player))))),
        h("tbody", null, series.games.map((game, i) =>
          h("tr", null, h("th", { scope: "row" }, i + 1), players.map((player) => h("td", null, game.scores[player.colour]))))),
        h("tfoot", null, h("tr", null, h("th", { scope: "row" }, t("Total")),
          players.map((player) => h("td", null, series.totals[player.colour])))))));
}

/** Draw the end of a game: who won and why, what the table may do next. */
export function ending(match, series) {
  const winners = match.ranking[0] ?? [];
  const names = list(winners.map((colour) => nameOf(match, colour)));
  const early = match.ended_by === "early";
  return h("section", { class: "play ending", "data-key": "ending" },
    h("header", { class: "now" },
      h("div", { class: "now-words" },
        early ? h("h1", null, winners.length > 1 ? t("Ended early: %(who)s were level", { who: names }) : t("Ended early: %(who)s was ahead", { who: names }))
          : h("h1", null, icon("crown"), " ", winners.length > 1 ? t("%(who)s share the victory", { who: names }) : t("%(who)s wins", { who: names })),
        h("p", { class: "sentence" }, said(match.ranking_why)),
        early && h("p", { "data-key": "early" }, t("The table ended this game early. This is the standing at that moment: nobody has won, and it does not count in any statistics.")),
        match.ended_by === "sheet" && h("p", { class: "quiet" }, t("Counted at the end, from the score sheet.")),
        match.end && h("p", { class: "quiet" }, said(match.end), " ", clauses(match.end.clauses))),
      mayAct() && !early && h("div", { class: "tools" }, undoButton(match))),
    h("ol", { class: "ranking" }, match.ranking.map((place) => rank(match, place))),
    mayAct() && (match.ended_by !== "early" || match.moves > 0) && h("p", { "data-key": "share" }, h("button", { type: "button", class: "second", "data-do": "share" }, icon("people"), t("Share this game")), " ", h("a", { class: "second", href: "#album" }, icon("camera"), t("Album"))),
    isHost() && h("div", { class: "row dock" },
      early && mayUndo(match) && h("button", { type: "button", class: "second", "data-do": "undo" }, icon("undo"), t("Not yet: play on")),
      h("button", { type: "button", class: "main", "data-do": "next-game" }, icon("turn"), t("Play again")),
      h("button", { type: "button", class: "second", "data-do": "new-players" }, icon("people"), t("New players")),
      h("button", { type: "button", class: "second", "data-do": "correct-dialog" }, t("Correct a score"))),
    story(match),
    seriesTable(match, series),
    faults(match),
    part(match.game, "play")?.results?.(match));
}
