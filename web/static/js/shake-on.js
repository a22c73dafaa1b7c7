// The referee's count by free shakes: what they say together, how sure that is, and how much longer it would take.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { distribution } from "./devices.js";
import { kindMark } from "./rulings.js";
import { liveWave } from "./waveform.js";
import { percent, t, tn } from "./words.js";

/** What more shakes like these would bring. */
function ahead({ outlook, calibrated }) {
  if (!outlook) return t("After the second shake it can be told how much longer it would take.");
  if (outlook.more_s !== null) {
    return tn("If it goes on like this it is sure after about %(n)s more second of shaking.", "If it goes on like this it is sure after about %(n)s more seconds of shaking.", outlook.more_s);
  }
  return [
    t("Shaking on like this will not make it sure: it comes to about %(p)s.", { p: percent(outlook.most) }), " ",
    calibrated ? t("The beat or the balance tells more.") : t("A calibration of this igloo tells more."),
  ];
}

function sureness(sitting) {
  const { sure, enough, done } = sitting;
  if (sure === null) return h("p", { class: "quiet", "data-key": "no-ahead" }, t("Few beads are sure soonest; ten and more are rarely sure within a minute of shaking."));
  const words_ = t("Sure to %(p)s; sure enough is %(enough)s.", { p: percent(sure), enough: percent(enough) });
  return h("div", { class: "sureness", "data-key": "sureness", "data-sure": sure },
    h("progress", { max: enough, value: Math.min(sure, enough), "aria-label": words_ }),
    h("p", { class: "quiet" }, words_),
    h("p", { class: "sentence", role: "status", "data-key": "ahead" }, done ? [icon("check"), " ", t("This is sure enough.")] : ahead(sitting)));
}

function instruction(sitting) {
  if (!sitting.there) return t("The igloo is not there: plug it in, and it goes on.");
  if (sitting.paused) return t("Resting. Nothing is recorded.");
  if (sitting.shaken_s > 0) return t("Go on, go on …");
  return t("Shake it for four seconds; then let it rest a moment.");
}

/** Draw the sitting; `simulating` is the button that shakes the simulated igloo, where there is one. */
export function shakingOn(sitting, simulating) {
  const { answer, done, shakes } = sitting;
  return h("section", { class: "panel sitting", "data-key": "sitting", "data-task": "shake-on", "data-done": done ? "yes" : null },
    h("h2", null, t("The referee’s count"), " ", kindMark(sitting.kind)),
    !sitting.calibrated && h("p", { class: "note" }, t("This igloo has not been calibrated: counted as an unknown one.")),
    sitting.person && h("p", { class: "quiet" }, t("Shaken by %(name)s", { name: sitting.person })),
    !done && [
      h("p", { class: "sentence" }, instruction(sitting)),
      h("progress", { class: "shaken", max: sitting.each_s, value: sitting.shaken_s, "aria-label": t("Four seconds of shaking"), "data-key": "shaken" }),
      liveWave(),
    ],
    h("p", { class: "outcome bad", role: "status", "data-key": "note" }, sitting.note ? [icon("close"), " ", t(sitting.note)] : null),
    h("p", { class: "quiet", "data-key": "joined" }, tn("%(n)s shake joined", "%(n)s shakes joined", shakes)),
    answer && distribution({ ...answer, kind: sitting.kind }),
    sureness(sitting),
    h("div", { class: "row" },
      !done && simulating,
      shakes > 0 && h("button", { type: "button", class: "second", "data-do": "run-undo", "data-key": "back" }, icon("undo"), t("Take the last one back")),
      !done && shakes > 0 && h("button", { type: "button", class: "second", "data-do": "run-other", "data-key": "other" }, t("Somebody else takes over")),
      h("button", { type: "button", class: done ? "main" : "second", "data-do": "run-again", "data-task": "shake-on", "data-igloo": sitting.igloo, "data-person": sitting.person, "data-key": "again" }, t("Once more")),
      h("button", { type: "button", class: "second", "data-do": "run-stop", "data-key": "stop" }, t("End"))));
}
