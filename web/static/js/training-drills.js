// Which count is drilled next, where no table is near: as companion/practice/drills.py chooses (Thompson sampling).

import { COUNTS } from "./training-charts.js";

const FADES_AFTER = 60;
const FAR = 3;
const ALIKE = 0.2;

/** For each count the two parameters of the belief about its loss; `tried` is [truth, guess], oldest first. */
export function beliefs(tried) {
  const found = Object.fromEntries(COUNTS.map((count) => [count, [1, 1]]));
  tried.forEach(([truth, guess], at) => {
    const weight = 0.5 ** ((tried.length - 1 - at) / FADES_AFTER);
    const loss = Math.min(Math.abs(guess - truth), FAR) / FAR;
    found[truth][0] += weight * loss;
    found[truth][1] += weight * (1 - loss);
  });
  return found;
}

/** A draw from a Gamma distribution whose shape is at least 1 (Marsaglia and Tsang 2000). */
function gamma(shape, random) {
  const d = shape - 1 / 3;
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** The count of the next shake. */
export function choose(tried, random = Math.random) {
  if (random() < ALIKE) return COUNTS[Math.floor(random() * COUNTS.length)];
  let best = [null, -1];
  for (const [count, [missed, met]] of Object.entries(beliefs(tried))) {
    const a = gamma(missed, random);
    const drawn = a / (a + gamma(met, random));
    if (drawn > best[1]) best = [Number(count), drawn];
  }
  return best[0];
}

/** Up to three counts with the largest expected loss, of those that were tried five times. */
export function weakest(tried, most = 3, least = 5) {
  return Object.entries(beliefs(tried))
    .map(([count, [missed, met]]) => [Number(count), missed / (missed + met)])
    .filter(([count]) => tried.filter(([truth]) => truth === count).length >= least)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, most).map(([count]) => count);
}
