// The igloo's waveform: letters from the stream, or of a stored shake, drawn as a band from the lowest to the highest.

import { h, s } from "./dom.js";
import { number, t } from "./words.js";

const LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const COLUMN_S = 0.0125;
const SPAN = 400; // columns in the picture of the stream: five seconds
const HIGH = 96;
const LEAST_G = 2;

const felt = (letter) => {
  const level = (LEVELS.indexOf(letter) - 32) / 31;
  return Math.sign(level) * level * level * 16;
};

/** Turn letters into columns, [lowest, highest] in g each. */
export function columns(letters) {
  return Array.from({ length: letters.length >> 1 }, (_, i) => [felt(letters[2 * i]), felt(letters[2 * i + 1])]);
}

const live = { key: null, first: 0, columns: [] };

/** Take a piece from the stream. */
export function addWave({ key, first, wave }) {
  if (key !== live.key || first === 0 || first < live.first + live.columns.length) Object.assign(live, { key, first, columns: [] });
  // What was missed stays empty.
  while (live.first + live.columns.length < first) live.columns.push([0, 0]);
  live.columns.push(...columns(wave));
  const over = live.columns.length - SPAN;
  if (over > 0) {
    live.columns.splice(0, over);
    live.first += over;
  }
}

/** Forget what was drawn. */
export function clearWave() {
  Object.assign(live, { key: null, first: 0, columns: [] });
}

/** Draw columns; `span` is how many there is room for. */
export function drawing(shown, span, label) {
  const most = shown.reduce((found, [low, high]) => Math.max(found, -low, high), LEAST_G);
  const y = (g) => (HIGH / 2 - (g / most) * (HIGH / 2 - 2)).toFixed(1);
  const above = shown.map(([, high], i) => `${i} ${y(high + 0.01)}`);
  const below = shown.map(([low], i) => `${i} ${y(low - 0.01)}`).reverse();
  return s("svg", { class: "wave", viewBox: `0 0 ${span} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    s("path", { class: "level", d: `M0 ${HIGH / 2}H${span}` }),
    shown.length > 1 && s("path", { class: "signal", d: `M${above.join("L")}L${below.join("L")}Z` }));
}

const strongest = (shown) => shown.reduce((found, [low, high]) => Math.max(found, -low, high), 0);

/** The shake that is felt now, or was felt last; nothing before the first. */
export function liveWave() {
  const shown = live.columns;
  if (!shown.length) return null;
  return h("figure", { class: "live-waveform", "data-key": "wave", "data-columns": shown.length },
    drawing(shown, SPAN, t("The shaking as the igloo feels it, up to %(g)s g", { g: number(strongest(shown), 0) })));
}

/** A whole shake, as letters tell it. */
export function wholeWave(letters) {
  const shown = columns(letters);
  return h("figure", { class: "whole-waveform" },
    drawing(shown, shown.length, t("The shake as the igloo felt it: %(s)s s, up to %(g)s g", { s: number(shown.length * COLUMN_S, 1), g: number(strongest(shown), 0) })));
}
