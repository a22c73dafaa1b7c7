// The gauge of the guided motion: how fast, how wide, how upright, and what to change.

import { h, s } from "./dom.js";
import { number, t } from "./words.js";

function meter(name, value, unit, [low, high], most, digits) {
  const at = (one) => Math.min(100, Math.max(0, (100 * one) / most));
  const good = value >= low && value <= high;
  return h("div", { class: ["meter", good && "good"] },
    h("span", { class: "meter-name" }, name),
    h("div", { class: "meter-track", role: "meter", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": most, "aria-valuenow": number(Math.min(value, most), digits).replace(",", "."), "aria-valuetext": `${number(value, digits)} ${unit}` },
      s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
        s("rect", { class: "band", x: at(low), y: 0, width: at(high) - at(low), height: 10 }),
        s("path", { class: "hand", d: `M${at(value).toFixed(1)} 0V10` }))),
    h("span", { class: "meter-value" }, `${number(value, digits)} ${unit}`));
}

/** What the hand does, beside its bounds. */
export function gaugeNow(gauge) {
  return h("div", { class: "gauge", "data-key": "gauge", "data-good": gauge.good ? "yes" : "no" },
    h("p", { class: ["hint-now", gauge.good && "good"], role: "status" }, t(gauge.hint)),
    meter(t("Beat"), gauge.tempo_hz, "Hz", gauge.tempo_bounds, 10, 1),
    meter(t("Travel"), gauge.travel_cm, "cm", gauge.travel_bounds, 5, 1),
    meter(t("Upright"), 100 * gauge.upright, "%", [85, 100], 100, 0));
}

/** Something that goes up and down as the hand shall; it stands still for who wants no motion. */
export function beatNow(gauge, paused) {
  return h("div", { class: ["beat", paused && "paused"], "data-key": "beat", "aria-hidden": "true" },
    s("svg", { viewBox: "0 0 60 90" },
      s("path", { class: "range", d: "M8 12H52M8 78H52M30 12V78" }),
      s("circle", { class: "bob", cx: 30, cy: 45, r: 12 })));
}
