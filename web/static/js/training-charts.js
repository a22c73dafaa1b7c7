// What the answers say, drawn: the posterior of one shake, and a person's progress beside machine and published people.

import { h, s } from "./dom.js";
import { list, number, percent, t, tn } from "./words.js";

export const COUNTS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

const WIDE = 420;
const HIGH = 230;
const LEFT = 48;
const BASE = HIGH - 30;
const TOP = 12;
const RIGHT = WIDE - 10;

const across = (at, of) => LEFT + 14 + ((RIGHT - LEFT - 28) * at) / Math.max(1, of - 1);
const atCount = (count) => across(count - 2, COUNTS.length);

function drawing(label, ...parts) {
  return s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": label, class: "chart" }, parts);
}

/** What the machine thought of one shake, as twelve bars; truth and answers are marked below them. */
export function posterior(result, names) {
  const most = Math.max(...(result.machine ?? [0]), 0.25);
  const guessed = Object.entries(result.guesses);
  const by = (count) => guessed.filter(([, guess]) => guess === count).map(([person]) => names(Number(person)));
  const best = result.machine ? result.machine.indexOf(Math.max(...result.machine)) + 2 : null;
  const words = best === null ? t("The machine had no idea of this shake.")
    : t("The machine: %(count)s with %(chance)s.", { count: best, chance: percent(Math.max(...result.machine)) });
  return h("figure", { class: "posterior" },
    drawing(words, COUNTS.map((count) => {
      const p = result.machine?.[count - 2] ?? 0;
      const tall = ((BASE - TOP - 20) * p) / most;
      return s("g", { class: ["bar-of", count === result.truth && "truth", by(count).length && "said"] },
        s("rect", { class: "bar-p", x: atCount(count) - 11, y: BASE - tall, width: 22, height: Math.max(tall, 1), rx: 3 }),
        count === result.truth && s("circle", { class: "truth-ring", cx: atCount(count), cy: BASE + 14, r: 13 }),
        by(count).length > 0 && s("path", { class: "answer-mark", d: `M${atCount(count)} ${BASE - tall - 4}l-6-9h12z` }),
        s("text", { x: atCount(count), y: BASE + 19, "text-anchor": "middle" }, count));
    })),
    h("figcaption", { class: "quiet" }, words, " ", t("Ring: the number of beads. Triangle: what was said.")));
}

const LINES = () => [
  { key: "own", words: t("You") },
  { key: "machine", words: t("The machine, same shakes") },
  { key: "published", words: t("People, as published") },
];

function legend(keys) {
  return h("ul", { class: "legend" }, LINES().filter(({ key }) => keys.includes(key)).map(({ key, words }) =>
    h("li", null, s("svg", { viewBox: "0 0 40 12", width: 40, height: 12, "aria-hidden": "true", class: "chart" },
      s("path", { class: ["line", key], d: "M2 6H38" }), mark(key, 20, 6)), words)));
}

function mark(key, x, y) {
  if (key === "own") return s("circle", { class: "dot own", cx: x, cy: y, r: 4 });
  if (key === "machine") return s("rect", { class: "dot machine", x: x - 3.5, y: y - 3.5, width: 7, height: 7 });
  return null;
}

function line(key, points) {
  const known = points.filter(([, y]) => y !== null);
  if (!known.length) return null;
  return s("g", null,
    s("path", { class: ["line", key], d: `M${known.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}` }),
    known.map(([x, y]) => mark(key, x, y)));
}

function frame(ticks, up, writes, below) {
  return [
    ticks.map((value) => s("g", null,
      s("path", { class: "grid", d: `M${LEFT} ${up(value)}H${RIGHT}` }),
      s("text", { x: LEFT - 5, y: up(value) + 4, "text-anchor": "end" }, writes(value)))),
    below,
  ];
}

const countsBelow = () => COUNTS.map((count) => s("text", { x: atCount(count), y: BASE + 18, "text-anchor": "middle" }, count));

function byCount(statistics, name, ticks, writes, label) {
  const most = ticks.at(-1);
  const up = (value) => BASE - ((BASE - TOP) * Math.min(value, most)) / most;
  return drawing(label, frame(ticks, up, writes, countsBelow()),
    ["published", "machine", "own"].map((key) => line(key, statistics.counts.map((one) => {
      const value = one[key][name];
      return [atCount(one.count), value === null ? null : up(value)];
    }))));
}

/** Whole beads up to the largest error, four steps or a few more. */
function ticksTo(statistics) {
  const most = Math.max(3, ...statistics.counts.map((one) => Math.max(one.own.error ?? 0, one.machine.error ?? 0)));
  const step = Math.ceil(most / 5);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}

/** Error against count. */
export function errorChart(statistics) {
  return h("figure", null,
    h("h3", null, t("How far off, by number of beads")),
    byCount(statistics, "error", ticksTo(statistics), (value) => number(value), t("Mean error in beads by number of beads; the table below has the figures.")),
    legend(["own", "machine", "published"]));
}

/** The share of right answers against count. */
export function exactChart(statistics) {
  return h("figure", null,
    h("h3", null, t("Right answers, by number of beads")),
    byCount(statistics, "exact", [0, 0.25, 0.5, 0.75, 1], percent, t("Share of right answers by number of beads; the table below has the figures.")),
    legend(["own", "machine", "published"]));
}

/** What was said against what there was: the psychometric curve, with its spread. */
export function curve(statistics) {
  const up = (value) => BASE - ((BASE - TOP) * (value - 1)) / 14;
  const known = statistics.counts.filter((one) => one.own.error !== null);
  const said = (one, key) => one.count + one[key].bias;
  const band = statistics.counts.map((one) => [atCount(one.count), one.count, one.published.spread]);
  const low = (value) => Math.max(1, value);
  const edge = [...band.map(([x, at, wide]) => `${x.toFixed(1)} ${up(Math.min(15, at + wide)).toFixed(1)}`),
    ...band.reverse().map(([x, at, wide]) => `${x.toFixed(1)} ${up(low(at - wide)).toFixed(1)}`)];
  return h("figure", null,
    h("h3", null, t("What was said, by number of beads")),
    drawing(t("Mean answer by number of beads, with its spread, beside the right one."),
      frame([2, 5, 8, 11, 14], up, (value) => number(value), countsBelow()),
      s("path", { class: "band", d: `M${edge.join("L")}Z` }),
      s("path", { class: "right", d: `M${atCount(2)} ${up(2)}L${atCount(13)} ${up(13)}` }),
      known.map((one) => s("path", { class: "spread", d: `M${atCount(one.count)} ${up(Math.min(15, said(one, "own") + one.own.spread))}V${up(low(said(one, "own") - one.own.spread))}` })),
      line("machine", statistics.counts.map((one) => [atCount(one.count), one.machine.error === null ? null : up(said(one, "machine"))])),
      line("own", known.map((one) => [atCount(one.count), up(said(one, "own"))]))),
    legend(["own", "machine"]),
    h("p", { class: "quiet" }, t("The band is the spread of people, as published; the thin line is right.")));
}

/** The error of each week. */
export function weeksChart(statistics) {
  const weeks = statistics.weeks.slice(-26);
  const most = Math.max(2, ...weeks.map((one) => Math.ceil(one.error)));
  const up = (value) => BASE - ((BASE - TOP) * value) / most;
  const x = (i) => across(i, weeks.length);
  const day = (text) => new Date(`${text}T12:00:00`).toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "short" });
  const every = Math.ceil(weeks.length / 6);
  return h("figure", null,
    h("h3", null, t("Week by week")),
    drawing(t("Mean error in beads, week by week: %(errors)s.", { errors: list(weeks.map((one) => number(one.error, 1))) }),
      frame([0, most / 2, most], up, (value) => number(value, value % 1 ? 1 : 0),
        weeks.map((one, i) => i % every === 0 && s("text", { x: x(i), y: BASE + 18, "text-anchor": "middle" }, day(one.week)))),
      s("path", { class: "line published", d: `M${LEFT} ${up(statistics.overall.published.error)}H${RIGHT}` }),
      line("own", weeks.map((one, i) => [x(i), up(one.error)]))),
    legend(["own", "published"]));
}

/** Which number was taken for which. */
export function confusion(statistics) {
  const level = (row, n) => Math.ceil((5 * n) / Math.max(1, row.reduce((sum, one) => sum + one, 0)));
  return h("section", { class: "panel" },
    h("h2", null, t("Which number was taken for which")),
    h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": t("Which number was taken for which") },
      h("table", { class: "confusion" },
        h("thead", null, h("tr", null, h("th", { scope: "col" }, t("beads")), COUNTS.map((count) => h("th", { scope: "col" }, count)))),
        h("tbody", null, statistics.confusion.map((row, i) => h("tr", null, h("th", { scope: "row" }, i + 2),
          row.map((n, j) => h("td", { class: [`level-${level(row, n)}`, i === j && "diagonal"] }, n || ""))))))),
    h("p", { class: "quiet" }, t("A row for each number of beads; the columns are what was said. The framed cells are right.")));
}

/** All figures by count as a table. */
export function numbersTable(statistics) {
  const beads = (value) => (value === null ? "–" : number(value, 1));
  const share = (value) => (value === null ? "–" : percent(Math.round(value * 100) / 100));
  return h("details", { class: "panel numbers-table" },
    h("summary", null, t("The figures")),
    h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": t("The figures") },
      h("table", null,
        h("thead", null, h("tr", null, [t("beads"), t("Answers"), t("Right"), t("Off by"), t("Machine off by"), t("People off by")].map((words) => h("th", { scope: "col" }, words)))),
        h("tbody", null, statistics.counts.map((one) => h("tr", null,
          h("th", { scope: "row" }, one.count), h("td", null, one.own.answers), h("td", null, share(one.own.exact)),
          h("td", null, beads(one.own.error)), h("td", null, beads(one.machine.error)), h("td", null, beads(one.published.error))))))));
}

/** A person's figures over all counts, in words. */
export function summary(statistics) {
  const { own, machine, published } = statistics.overall;
  const row = (words, one, key) => h("tr", { class: key }, h("th", { scope: "row" }, words),
    h("td", null, one.exact === null ? "–" : percent(Math.round(one.exact * 100) / 100)),
    h("td", null, one.error === null ? "–" : number(one.error, 2)));
  const below = own.bias === null || Math.abs(own.bias) < 0.2 ? t("On the whole you say neither too many nor too few.")
    : own.bias < 0 ? t("On the whole you say %(beads)s too few, as people do.", { beads: number(-own.bias, 1) })
      : t("On the whole you say %(beads)s too many.", { beads: number(own.bias, 1) });
  return h("section", { class: "panel" },
    h("h1", null, statistics.name),
    h("p", { class: "sentence" }, tn("%(n)s answer so far.", "%(n)s answers so far.", own.answers), " ", own.answers > 0 && below),
    statistics.weakest.length > 0 && h("p", null, t("The drills now ask most about %(counts)s.", { counts: list(statistics.weakest) })),
    h("table", { class: "sums" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, t("Over all answers")), h("th", { scope: "col" }, t("Right")), h("th", { scope: "col" }, t("Off by")))),
      h("tbody", null, row(t("You"), own, "own"), row(t("The machine, same shakes"), machine), row(t("People, as published"), published))),
    statistics.weber !== null && h("p", null, t("Your spread is %(share)s of the number; that of people, as published, is %(people)s.", { share: percent(Math.round(statistics.weber * 100) / 100), people: percent(0.15) })),
    h("p", { class: "quiet" }, t("Published: right up to about three, too few above (Plaisier and Smeets 2017; Frissen and others 2023). A spread of %(share)s of the number makes the curve. All three are worked out from the same shakes.", { share: percent(0.15) })));
}
