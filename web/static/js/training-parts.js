// What the training room and the page that is taken along both draw: the player, the numbers, the result of a shake.

import { icon } from "./art.js";
import { h } from "./dom.js";
import { wholeWave } from "./waveform.js";
import { COUNTS, posterior } from "./training-charts.js";
import { t } from "./words.js";

/** Play an address; `button` says which button it belongs to, `alter` draws anew. */
export async function sound(audio, address, button, alter) {
  audio.src = address;
  alter({ playing: button });
  try {
    await audio.play();
  } catch {
    // The browser waits for a finger, or another sound was chosen meanwhile.
    if (audio.paused) alter({ playing: null });
  }
}

/** A button that plays, or stops what it plays; `facts` are its data attributes. */
export function playButton(playing, name, words, kind, what, facts) {
  const on = playing === name;
  return h("button", { type: "button", class: kind, "data-do": on ? "stop" : what, "data-key": `play-${name}`, ...facts }, icon(on ? "pause" : "play"), on && kind === "main" ? t("Stop") : words);
}

/** The shake at three speeds. */
export function player(playing) {
  const button = (speed, words) => h("button", {
    type: "button", class: speed === "full" ? "main" : "second", "data-do": playing === speed ? "stop" : "play", "data-speed": speed,
  }, icon(playing === speed ? "pause" : "play"), playing === speed ? t("Stop") : words);
  return h("div", { class: "player" }, button("full", t("Listen")), button("half", t("Half speed")), button("quarter", t("Quarter speed")));
}

/** Says that a shake was simulated. */
export function kindOf(round) {
  return round.kind === "simulated" && h("b", { class: "kind simulated" }, t("SIMULATED"));
}

/** The twelve numbers. */
export function keypad(what, words, busy = false) {
  return h("fieldset", { class: "guess", "data-key": `guess-${what}` },
    h("legend", null, words),
    h("div", { class: "numbers" }, COUNTS.map((count) => h("button", {
      type: "button", class: "key", "data-do": what, "data-count": count, disabled: busy, "data-key": `key-${count}`,
    }, count))));
}

/** How an answer was, in words. */
export function verdictOf(truth, guess) {
  const off = guess - truth;
  if (off === 0) return t("Right!");
  return off > 0 ? t("%(beads)s too many.", { beads: off }) : t("%(beads)s too few.", { beads: -off });
}

/** The truth, the answer and the machine's opinion of one shake. */
export function resultOf(round, who, nameOf) {
  const { truth, guesses } = round.result;
  const guess = guesses[String(who)];
  return h("section", { class: "result-of", "data-key": `result-${round.id}` },
    h("p", { class: ["truth-shown", guess === truth && "right"] },
      h("strong", null, truth), " ", h("span", null, t("beads"))),
    h("p", { class: "sentence" }, t("You said %(guess)s.", { guess }), " ", verdictOf(truth, guess)),
    posterior(round.result, nameOf),
    round.result.wave && wholeWave(round.result.wave));
}

/** Other shakes of what there was and of what was said. */
export function compare(round, who, playing) {
  const { truth, guesses } = round.result;
  const counts = [...new Set([truth, guesses[String(who)]])].sort((a, b) => a - b);
  return h("fieldset", { class: "sources", "data-key": "compare" }, h("legend", null, t("Compare: other shakes with this many")),
    counts.map((count) => playButton(playing, `example-${count}`, t("%(count)s beads", { count }), "second", "example", { "data-count": count })));
}

/** One of the shakes that were answered, to be heard again. */
export function pastShake(one, playing) {
  return playButton(playing, one.id, t("%(truth)s, said %(guess)s", { truth: one.truth, guess: one.guess }), "small-button", "past", { "data-round": one.id });
}
