// What somebody came to, drawn: evening by evening, and against whom.

import { h, s } from "./dom.js";
import { date, list, t, tn } from "./words.js";

const MOST_EVENINGS = 30;
const MOST_RIVALS = 8;
const [WIDE, HIGH] = [300, 80];

/** The evenings as bars: how many games were played, and how many of them won. */
export function evenings(course) {
  const shown = course.slice(-MOST_EVENINGS);
  const most = Math.max(...shown.map((one) => one.played));
  const step = WIDE / Math.max(shown.length, 8);
  const bar = (kind, i, n) => s("rect", { class: kind, x: (i * step + step * 0.15).toFixed(1), width: (step * 0.7).toFixed(1), y: (HIGH - (n * HIGH) / most).toFixed(1), height: ((n * HIGH) / most).toFixed(1) });
  const told = shown.map((one) => t("%(day)s: %(won)s of %(played)s won", { day: date(one.at), ...one }));
  return h("figure", { class: "evenings-chart" },
    h("figcaption", null, t("Evening by evening: games played, and won")),
    s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": list(told) },
      shown.map((one, i) => [bar("played", i, one.played), bar("won", i, one.won)])),
    h("p", { class: "quiet ends" }, h("span", null, date(shown[0].at)), shown.length > 1 && h("span", null, date(shown.at(-1).at))));
}

/** Against whom: of the games that two played together, those in which the one came before the other. */
export function rivals(met, nameOf) {
  const known = met.filter((one) => nameOf(one.person)).slice(0, MOST_RIVALS);
  if (!known.length) return null;
  return h("figure", { class: "rivals-chart" },
    h("figcaption", null, t("Head to head")),
    h("ul", null, known.map((one) => {
      const level = one.played - one.before - one.behind;
      const words = [
        tn("ahead of %(who)s %(n)s time", "ahead of %(who)s %(n)s times", one.before, { who: nameOf(one.person) }),
        tn("behind %(n)s time", "behind %(n)s times", one.behind),
        level > 0 && tn("level %(n)s time", "level %(n)s times", level),
      ];
      return h("li", { "data-key": one.person },
        h("span", { class: "name" }, nameOf(one.person)),
        s("svg", { viewBox: `0 0 ${one.played} 1`, preserveAspectRatio: "none", role: "img", "aria-label": list(words.filter(Boolean)) },
          s("rect", { class: "won", width: one.before, height: 1 }),
          s("rect", { class: "played", x: one.before, width: level, height: 1 }),
          s("rect", { class: "lost", x: one.before + level, width: one.behind, height: 1 })),
        h("b", { "aria-hidden": "true" }, `${one.before} : ${one.behind}`));
    })));
}

/** The newest games one by one, won ones joined by a line; and how many were won in a row, now and at best. */
export const streaks = ({ newest, streak, longest }) => h("figure", { class: "streak-chart", "data-key": "streak" },
  h("figcaption", null, t("Wins in a row, up to the last game")),
  s("svg", { viewBox: `0 0 ${newest.length * 12} 12`, width: newest.length * 12, height: 12, role: "img", "aria-label": list(newest.map((won) => (won ? t("won") : t("not won")))) },
    newest.map((won, i) => [
      won && newest[i - 1] ? s("path", { d: `M${i * 12 - 6} 6h12` }) : null,
      s("circle", { class: won ? "won" : "played", cx: i * 12 + 6, cy: 6, r: 4 })])),
  longest > 1 && h("p", { class: "quiet" },
    streak > 1 && [tn("%(n)s win in a row", "%(n)s wins in a row", streak), ". "],
    longest > streak && t("The longest run: %(n)s wins.", { n: longest })));
