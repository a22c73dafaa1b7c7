// What the answers say, where no table is near: as companion/practice/statistics.py reckons. Every answer weighs alike.

import { COUNTS } from "./training-charts.js";
import { weakest } from "./training-drills.js";

const NAMES = ["exact", "near", "error", "bias", "spread"];
const mean = (values) => (values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null);

/** The score of answers that were so many beads too high. */
function score(misses) {
  const bias = mean(misses);
  return {
    answers: misses.length,
    exact: mean(misses.map((miss) => Number(miss === 0))),
    near: mean(misses.map((miss) => Number(Math.abs(miss) <= 1))),
    error: mean(misses.map(Math.abs)),
    bias,
    spread: misses.length ? Math.sqrt(mean(misses.map((miss) => (miss - bias) ** 2))) : null,
  };
}

function overall(scores) {
  const known = scores.filter((one) => one.answers);
  const answers = known.reduce((sum, one) => sum + one.answers, 0);
  const pooled = (name) => (answers ? known.reduce((sum, one) => sum + one.answers * one[name], 0) / answers : null);
  return { answers, ...Object.fromEntries(NAMES.map((name) => [name, pooled(name)])) };
}

/** All statistics of answers `{truth, guess, machine}`, beside those of `published` people by count. */
export function statistics(answers, published) {
  const of = (count, said) => score(answers.filter((one) => one.truth === count).map((one) => said(one) - count));
  const counts = COUNTS.map((count) => ({
    count,
    own: of(count, (one) => one.guess),
    machine: of(count, (one) => 2 + one.machine.indexOf(Math.max(...one.machine))),
    published: published[count],
  }));
  const squares = COUNTS.map((count) => mean(answers.filter((one) => one.truth === count).map((one) => ((one.guess - count) / count) ** 2)));
  const weber = mean(squares.filter((one) => one !== null));
  const confusion = COUNTS.map(() => COUNTS.map(() => 0));
  for (const { truth, guess } of answers) confusion[truth - 2][guess - 2] += 1;
  return {
    counts,
    overall: {
      own: overall(counts.map((one) => one.own)),
      machine: overall(counts.map((one) => one.machine)),
      // Published people are reckoned over the same shakes.
      published: overall(counts.map((one) => ({ ...one.published, answers: answers.length ? one.own.answers : 1 }))),
    },
    weber: weber === null ? null : Math.sqrt(weber),
    confusion,
    weakest: weakest(answers.map(({ truth, guess }) => [truth, guess])),
  };
}

/** How many answers were right, one off, and further off. */
export function outcomes(answers) {
  const off = answers.map(({ truth, guess }) => Math.abs(guess - truth));
  return { right: off.filter((one) => one === 0).length, near: off.filter((one) => one === 1).length, off: off.filter((one) => one > 1).length };
}
