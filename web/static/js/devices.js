// The igloo and the camera, live: what they are, how they do, what they say.

import { h, s } from "./dom.js";
import { icon } from "./art.js";
import { has, part } from "./games.js";
import { kindMark } from "./rulings.js";
import { liveWave } from "./waveform.js";
import { countHidden, match, mayAct, store } from "./store.js";
import { list, number, percent, t, tn } from "./words.js";

/** The state of a device in words. */
export const stateWords = (state) => ({
  missing: t("not there"),
  searching: t("being looked for"),
  connected: t("connected"),
  silent: t("silent"),
  faulty: t("faulty"),
}[state] ?? state);

const MOTIONS = {
  rest: ["rest", () => t("at rest")],
  lifted: ["lift", () => t("lifted")],
  carried: ["lift", () => t("carried")],
  shaken: ["shake", () => t("shaken")],
  turned: ["turn", () => t("turned over")],
  "set-down": ["down", () => t("set down")],
  knocked: ["down", () => t("knocked")],
  dropped: ["down", () => t("dropped")],
};

/** A line of a list of facts. */
export function fact(name, value, bad = false) {
  return h("div", { class: bad ? "bad" : null }, h("dt", null, name), h("dd", null, value));
}

/** An igloo with all that is known of its line, for the workshop. */
function line(igloo) {
  const { counts } = igloo;
  const loss = [
    counts.lost && tn("%(n)s sample lost", "%(n)s samples lost", counts.lost),
    counts.missing_frames && tn("%(n)s frame missing", "%(n)s frames missing", counts.missing_frames),
    counts.rejected && tn("%(n)s sample rejected", "%(n)s samples rejected", counts.rejected),
    counts.glitches && tn("%(n)s wild sample left out", "%(n)s wild samples left out", counts.glitches),
    counts.repeated && tn("%(n)s frame repeated", "%(n)s frames repeated", counts.repeated),
    counts.corrupt && tn("%(n)s damaged frame", "%(n)s damaged frames", counts.corrupt),
    counts.overflows && tn("%(n)s overflow", "%(n)s overflows", counts.overflows),
    counts.dropped_frames && tn("%(n)s frame dropped by the igloo", "%(n)s frames dropped by the igloo", counts.dropped_frames),
  ].filter(Boolean);
  // Nothing is lost by these: the gaps they leave are not counted as samples that failed to arrive.
  const returns = [
    counts.resets && tn("restarted once", "restarted %(n)s times", counts.resets),
    counts.reconnects && tn("came back once", "came back %(n)s times", counts.reconnects),
  ].filter(Boolean);
  return h("li", { class: ["device", igloo.state], "data-key": igloo.key },
    h("p", { class: "device-head" },
      h("span", { class: ["lamp", igloo.state], "aria-hidden": "true" }),
      h("strong", null, igloo.unit ? t("Igloo sensor %(n)s", { n: igloo.unit }) : t("Igloo sensor")),
      kindMark(igloo.kind),
      h("span", { class: "quiet" }, stateWords(igloo.state))),
    igloo.note && h("p", { class: igloo.state === "connected" ? "quiet" : "note" }, t(igloo.note)),
    mayAct() && h("dl", { class: "facts" },
      igloo.port && fact(t("Port"), igloo.port),
      igloo.protocol && fact(t("Driver"), igloo.protocol),
      igloo.rate_hz !== null && fact(t("Sample rate"), `${number(igloo.rate_hz, 1)} Hz`),
      fact(t("Samples"), number(counts.samples)),
      fact(t("Losses"), loss.length ? list(loss) : t("none"), loss.length > 0),
      returns.length > 0 && fact(t("Interruptions"), list(returns))));
}

function motion() {
  // What was felt before the line was lost says nothing of now.
  const state = store.igloo.igloos.some((one) => one.state === "connected") ? store.motion.state : null;
  const [name, words] = MOTIONS[state] ?? ["unknown", () => t("not felt yet")];
  return h("p", { class: ["motion", state ?? "unknown"], "data-key": "motion", "data-motion": state ?? "" },
    icon(name, "large"), h("span", null, t("The igloo is:"), " ", h("strong", null, words())));
}

/** The count as a distribution over 2 … 13, as bars with their numbers. */
export function distribution(count) {
  const values = Array.from({ length: 12 }, (_, i) => count.posterior?.[String(i + 2)] ?? 0);
  const top = Math.max(...values, 0.01);
  const best = count.count;
  return h("figure", { class: "count", "data-key": "count", "data-count": best ?? "" },
    s("svg", { viewBox: "0 0 480 190", role: "img",
        "aria-label": t("Most likely %(n)s beads, %(p)s", { n: best, p: percent(Math.max(...values)) }) },
      values.map((p, i) => {
        const height = Math.max(2, (p / top) * 132);
        return s("g", { transform: `translate(${i * 40} 0)`, class: i + 2 === best ? "best" : null },
          s("rect", { class: "bar", x: 5, y: 152 - height, width: 30, height, rx: 4 }),
          p >= 0.005 && s("text", { class: "share", x: 20, y: 146 - height, "text-anchor": "middle" }, Math.round(100 * p)),
          s("text", { class: "bead", x: 20, y: 178, "text-anchor": "middle" }, i + 2));
      })),
    h("figcaption", null,
      h("strong", { class: "most" }, best),
      h("span", null, tn("bead, most likely", "beads, most likely", best), " ", kindMark(count.kind)),
      h("span", { class: "quiet" }, t("%(s)s s of shaking", { s: number(count.seconds, 1) }),
        count.why ? h("span", null, " ", t(count.why)) : null)));
}

/** What the counter makes of the shaking, or that it is hidden. */
export function countNow() {
  const { count } = store;
  if (countHidden()) {
    return h("p", { class: "hidden-count", "data-key": "hidden" }, icon("igloo"), t("The count is hidden until the first igloo of the check is turned over."));
  }
  if (count.posterior) {
    return [
      liveWave(),
      count.state === "more" && h("p", { class: "more", "data-key": "more" }, icon("shake"), " ", t("I need more: keep shaking.")),
      distribution(count.state === "more" ? { ...count, why: "" } : count), part(match()?.game, "play")?.odds?.(count),
    ];
  }
  const words = { "not-a-shake": t("That was not a shake."), "bad-data": t("That could not be counted.") }[count.state];
  // Something was shaken, but no igloo that is known: that sentence says it all.
  const unlike = count.why?.startsWith("This is unlike");
  return [liveWave(), h("p", { class: words ? "note" : "quiet", "data-key": "no-count", "data-state": count.state ?? "" },
    unlike ? null : words ?? t("Shake the igloo, then let it rest: the beads are counted here."), count.why ? ` ${t(count.why)}` : null)];
}

/** Every igloo with its health, and what is done with it now. */
export function iglooLines() {
  const { igloos } = store.igloo;
  return [
    igloos.length ? h("ul", { class: "plain" }, igloos.map(line))
      : h("p", { class: "quiet" }, t("No igloo with a sensor is connected. The game needs none; plug one in at any time.")),
    igloos.length > 0 && motion(),
  ];
}

function simulator() {
  if (!store.igloo.simulated || !mayAct()) return null;
  const button = (action, name, words) =>
    h("button", { type: "button", class: "small-button", "data-do": "simulate", "data-action": action }, icon(name), words);
  const plugged = store.igloo.igloos.some((one) => one.kind === "simulated" && one.state === "connected");
  return h("details", { class: "extras", "data-key": "extras" },
    h("summary", null, kindMark("simulated"), " ", t("Play with the simulated igloo")),
    h("div", { class: "stack" },
      h("p", { class: "quiet" }, t("Shake an igloo with this many beads:")),
      h("div", { class: "keypad small" }, Array.from({ length: 12 }, (_, i) => i + 2).map((n) =>
        h("button", { type: "button", class: "key", "data-do": "simulate", "data-action": "shake", "data-count": n,
          "aria-label": tn("Shake %(n)s bead", "Shake %(n)s beads", n) }, n))),
      h("div", { class: "row" },
        button("lift", "lift", t("Lift")),
        button("turn_over", "turn", store.motion.state === "turned" ? t("Turn upright") : t("Turn over")),
        button("set_down", "down", t("Set down")),
        plugged ? button("unplug", "plug", t("Unplug")) : button("replug", "plug", t("Plug in again")))));
}

/** Draw one dot: whether the igloos are ready, or what is wrong. What they feel and count unfolds from it; nothing where there is none. */
export function iglooPanel() {
  const { igloos } = store.igloo;
  if (!igloos.length) return null;
  const shown = igloos.find((one) => one.state !== "connected") ?? igloos[0];
  const ready = shown.state === "connected";
  return h("details", { class: "panel igloo-panel", "data-key": "igloo" },
    h("summary", { class: ["device", shown.state] }, h("span", { class: "device-head" },
      h("span", { class: ["lamp", shown.state], "aria-hidden": "true" }),
      h("strong", null, igloos.length > 1 && shown.unit && !ready ? t("Igloo sensor %(n)s", { n: shown.unit }) : t("The igloo")),
      h("span", { class: ready ? "quiet" : "note", role: "status" }, ready ? t("ready") : shown.note ? t(shown.note) : stateWords(shown.state)),
      kindMark(shown.kind))),
    // Above what comes and goes while it shakes, so that no button moves away under a finger.
    simulator(),
    motion(),
    countNow(),
    mayAct() && h("p", { "data-key": "to-workshop" }, h("a", { href: "#workshop/igloo" }, t("Calibrate this igloo, or let the referee count"))));
}

/** The newest picture of the table; what it shows is for those who take part. A game of cards does without markers. */
export function picture(match) {
  const { table } = store.camera;
  if (!table || !mayAct()) return null;
  const which = table.straight ? "table" : "frame";
  return h("figure", { class: "picture" },
    h("img", { src: `/api/camera/${which}.jpg?n=${table.number}`, decoding: "async",
      alt: table.straight ? t("The table from above, straightened") : t("The newest picture") }),
    !(match && has(match.game, "pile") && table.markers.length === 0) && h("figcaption", null,
      table.missing.length
        ? tn("Corner marker %(ids)s is not seen.", "Corner markers %(ids)s are not seen.", table.missing.length, { ids: list(table.missing) })
        : null,
      table.note ? ` ${t(table.note)}` : ""));
}

/** A photo of the table from this phone, and the picture that is kept with the game. */
export const sendPhoto = (match) => h("div", { class: "row" },
  h("label", { class: "second file" }, icon("camera"), h("span", null, t("Send a photo of the table")),
    h("input", { type: "file", accept: "image/*", capture: "environment", "data-change": "photo", class: "unseen" })),
  store.camera.table && match && h("button", { type: "button", class: "second", "data-do": "keep" }, t("Keep this picture")));

/** The pictures that were kept with the rounds. */
export function keptPictures(match) {
  if (!match?.evidence.length || !mayAct()) return null;
  return h("ul", { class: "evidence", "aria-label": t("Pictures kept with the rounds") }, match.evidence.map((one) =>
    h("li", { "data-key": one.sha256 },
      h("a", { href: `/api/evidence/${one.sha256}`, target: "_blank", rel: "noopener" }, icon("camera"),
        t("Round %(n)s", { n: one.round })), " ", kindMark(one.kind))));
}

/** How the camera does, in a line. */
function cameraLine() {
  const { camera, follow } = store.camera;
  if (!camera) return null;
  const ready = camera.state === "connected";
  const followed = ready && follow?.following;
  const note = followed ? follow.note : camera.note;
  return h("p", { class: "panel device-head camera-line", "data-key": "camera" },
    h("span", { class: ["lamp", camera.state], "aria-hidden": "true" }),
    h("strong", null, t("The camera")),
    h("span", { class: ready && !(followed && follow.state === "failed") ? "quiet" : "note", role: "status" }, note ? t(note) : ready ? t("ready") : stateWords(camera.state)),
    kindMark(camera.kind));
}

/** A line of the camera, where there is one; and a photo for a game whose rounds are scored by photo. */
export const cameraHere = (match) => [
  cameraLine(),
  match && mayAct() && has(match.game, "round") && h("section", { class: "panel", "data-key": "photo", "aria-label": t("Score by photo") },
    picture(match), sendPhoto(match), keptPictures(match)),
];
