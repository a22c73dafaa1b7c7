// The workshop's igloo: calibrate it, enrol a person, record and label shakes, and the referee's guided count.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { nameField } from "./faces.js";
import { ask, showRefusal, tell } from "./net.js";
import { agreed } from "./dialogs.js";
import { countNow, distribution, iglooLines } from "./devices.js";
import { metronomeRuns, startMetronome, stopMetronome } from "./metronome.js";
import { beatNow, gaugeNow } from "./igloo-gauge.js";
import { shakingOn } from "./shake-on.js";
import { liveWave } from "./waveform.js";
import { kindMark } from "./rulings.js";
import { change, isHost, liveRound, match, memory, store } from "./store.js";
import { list, number, percent, t, tn } from "./words.js";

const COUNTS = Array.from({ length: 12 }, (_, i) => i + 2);
const FEW = 24;
const REMEMBERED = "bench-person";

let state = null; // as GET /api/igloo gives it
let names = []; // of the people of the house
let fetched = -1; // the revision that it was fetched at
let fetching = false;
let loud = true;
const words = { person: memory.get(REMEMBERED, ""), igloo: "" };

async function fetchAll() {
  if (fetching) return;
  fetching = true;
  const before = store.calibrationRun;
  try {
    const [found, { people: remembered }] = await Promise.all([ask("/api/igloo"), ask("/api/people")]);
    names = remembered.map((one) => one.name);
    fetched = found.revision;
    change((s) => {
      state = found;
      // What was said meanwhile is newer than this answer: the drawing asks once more.
      if (s.calibrationRun === before) s.calibrationRun = { hidden: found.hidden, revision: found.revision, sitting: found.sitting };
    });
  } catch (refused) {
    if (refused.error) showRefusal(refused.error);
    fetched = store.calibrationRun.revision;
  }
  fetching = false;
}

/** Somebody came to this part. */
export function opened() {
  style("igloo");
  fetchAll();
}

async function doing(path, body = {}) {
  try {
    const { hidden, revision, sitting } = await tell(`/api/igloo/${path}`, body);
    change((s) => { s.calibrationRun = { hidden, revision, sitting }; s.refusal = null; });
    return true;
  } catch (refused) {
    showRefusal(refused.error);
    return false;
  }
}

// --- what is known already

const share = (figures) => percent(figures.exact);

const better = ({ now, before }) => now.mae < before.mae;

function quality(figures) {
  if (!figures?.now) return null;
  const line = (name, one, best) => h("tr", { class: best ? "calibrated" : null },
    h("th", { scope: "row" }, name),
    h("td", null, share(one), h("small", { class: "quiet" }, ` ${percent(one.exact_interval[0])}–${percent(one.exact_interval[1])}`)),
    h("td", null, percent(one.within_one)), h("td", null, number(one.mae, 1)));
  return h("div", { class: "how-good", "data-key": "quality" },
    h("table", { class: "quality" },
      h("caption", { class: "unseen" }, t("How good the count is")),
      h("thead", null, h("tr", null, h("td", null), [t("Right"), t("At most one off"), t("Off by")].map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", null,
        line(t("Uncalibrated"), figures.before),
        line(t("Calibrated"), figures.now, true),
        figures.new_hand && line(t("In hands it has not met"), figures.new_hand))),
    h("p", { class: "quiet" }, t("Each shake is judged by the others."), figures.now.shakes < FEW ? ` ${t("These are few shakes: the figures are rough.")}` : null),
    !better(figures) && h("p", { class: "note" }, t("Not better than uncalibrated yet: keep shaking, or take it back.")));
}

const deviceName = (device) => (device === "simulated" ? t("the simulated igloo") : device);

function calibration(one) {
  const hands = ["", ...one.people];
  return h("li", { class: "known", "data-key": `c-${one.device}`, "data-device": one.device },
    h("p", { class: "device-head" }, h("strong", null, deviceName(one.device)),
      h("span", { class: "quiet" }, tn("%(n)s shake", "%(n)s shakes", one.shakes), one.people.length ? ` · ${list(one.people)}` : null)),
    quality(one.figures),
    h("label", { class: "check" }, h("input", { type: "checkbox", "data-change": "use", "data-device": one.device, checked: one.use }), t("Count with this calibration")),
    one.people.length > 0 && h("fieldset", { class: "hands" }, h("legend", null, t("Who shakes now?")),
      hands.map((name) => h("button", { type: "button", class: "toggle", "data-do": "hand", "data-device": one.device, "data-person": name, "data-key": `h-${name}`, "aria-pressed": one.person === name ? "true" : "false" },
        name || t("Somebody else")))),
    h("div", { class: "row" },
      h("button", { type: "button", class: "second", "data-do": "undo-calibration", "data-device": one.device }, icon("undo"),
        one.undoable ? t("Back to the one before") : t("Take it back")),
      isHost() && h("button", { type: "button", class: "second", "data-do": "forget-calibration", "data-device": one.device }, t("Forget it"))));
}

function recording(one) {
  // A calibration that another version made may be gone; its shakes make it anew.
  const useful = !one.used || state.calibrations.every((made) => made.device !== one.device);
  const when = new Date(one.made_at).toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return h("li", { class: "known", "data-key": `r-${one.name}`, "data-recording": one.name },
    h("p", { class: "device-head" }, h("strong", null, when), h("span", { class: "quiet" }, deviceName(one.device)),
      one.used && h("span", { class: "kind" }, t("in use"))),
    h("p", { class: "quiet" }, tn("%(n)s shake", "%(n)s shakes", one.shakes), one.people.length ? ` · ${list(one.people)}` : null, " · ",
      t("beads: %(numbers)s", { numbers: Object.keys(one.by_count).join(", ") }), one.guided ? ` · ${t("with the beat")}` : null),
    h("div", { class: "row" },
      h("a", { class: "second", href: `/api/igloo/recordings/${one.name}.npz`, download: "" }, t("Download")),
      useful && h("button", { type: "button", class: "second", "data-do": "go-on", "data-recording": one.name, "data-device": one.device }, t("Go on calibrating with it")),
      isHost() && h("button", { type: "button", class: "second", "data-do": "forget-recording", "data-recording": one.name }, t("Forget it"))));
}

// --- to begin

function people() {
  const known = new Set([...names, ...(state?.calibrations ?? []).flatMap((one) => one.people), ...(match()?.players ?? []).map((one) => one.name)].filter(Boolean));
  return h("datalist", { id: "run-people" }, [...known].map((name) => h("option", { value: name })));
}

function who(id) {
  return h("div", { class: "field" }, h("label", { for: id }, t("Who shakes? (a name, or nothing)")),
    nameField({ id, name: "person", list: "run-people", value: words.person, "data-input": "person" }));
}

function which(id) {
  const { igloos } = state;
  if (igloos.length < 2) return null;
  return h("div", { class: "field" }, h("label", { for: id }, t("Which igloo?")),
    h("select", { id, name: "igloo" }, igloos.map((one) => h("option", { value: one.key }, deviceName(one.device)))));
}

const withBeat = (words_) => h("label", { class: "check" }, h("input", { type: "checkbox", name: "guided" }), words_);

function beginning() {
  if (!state.igloos.length) {
    return h("p", { class: "panel", "data-key": "none" }, t("No igloo with a sensor is connected. Plug one in, and it appears here."));
  }
  return [
    h("section", { class: "panel", "data-key": "calibrate" },
      h("h2", null, t("Calibrate this igloo in two minutes")),
      h("p", null, t("Shake igloos whose beads you know, twelve times for four seconds each: the count learns how this igloo and this hand sound. 36 shakes are better, 120 better still.")),
      h("form", { class: "stack", "data-submit": "calibrate" },
        which("calibrate-igloo"), who("calibrate-person"),
        h("fieldset", { class: "choice" }, h("legend", null, t("What do you have?")),
          h("label", null, h("input", { type: "radio", name: "way", value: "cap", checked: true }), t("A sensor in a cap, moved from igloo to igloo of the box")),
          h("label", null, h("input", { type: "radio", name: "way", value: "filled" }), t("A sensor in one igloo, which I fill with beads"))),
        withBeat(t("With the beat, for the referee’s count: up and down, five times a second")),
        h("button", { type: "submit", class: "main" }, icon("shake"), t("Begin")))),
    h("section", { class: "panel", "data-key": "referee" },
      h("h2", null, t("The referee’s count")),
      h("form", { class: "stack", "data-submit": "referee" },
        which("referee-igloo"), who("referee-person"),
        h("fieldset", { class: "choice" }, h("legend", null, t("How do you shake?")),
          h("label", null, h("input", { type: "radio", name: "task", value: "referee", checked: true }), t("With the beat: a motion that is shown and timed, until the count is sure or says why it cannot be")),
          h("label", null, h("input", { type: "radio", name: "task", value: "shake-on" }), t("As you like: shakes of four seconds, joined, and the page says how sure it is and how much longer it would take"))),
        h("button", { type: "submit", class: "main" }, icon("scales"), t("Begin")))),
    h("section", { class: "panel", "data-key": "record" },
      h("h2", null, t("Record and label shakes")),
      h("p", null, t("For rebuilding the counter: files with what was felt, the number of beads and who shook.")),
      h("form", { class: "stack", "data-submit": "record" },
        which("record-igloo"), who("record-person"),
        h("div", { class: "field" }, h("label", { for: "record-count" }, t("Beads inside")),
          h("select", { id: "record-count", name: "count" }, COUNTS.map((n) => h("option", { value: n }, n)))),
        withBeat(t("With the beat: up and down, five times a second")),
        h("button", { type: "submit", class: "main" }, icon("shake"), t("Begin")))),
  ];
}

// --- while something is measured

function progress(sitting) {
  const { stages, own } = sitting;
  const goal = sitting.goal ?? stages.at(-1);
  const words_ = sitting.goal ? tn("%(n)s of %(goal)s shakes", "%(n)s of %(goal)s shakes", own, { goal }) : tn("%(n)s shake", "%(n)s shakes", own);
  return h("div", { class: "stages", "data-key": "stages" },
    h("progress", { max: goal, value: Math.min(own, goal), "aria-label": words_ }),
    h("p", { class: "quiet" }, words_, " · ",
      stages.map((stage, i) => [i > 0 && " → ", h(own >= stage ? "strong" : "span", null, stage)])));
}

function instruction(sitting) {
  if (!sitting.there) return t("The igloo is not there: plug it in, and it goes on.");
  if (sitting.paused) return t("Resting. Nothing is recorded.");
  if (sitting.shaken_s > 0) return t("Go on, go on …");
  if (sitting.task === "record") return t("Shake it for four seconds; then let it rest a moment.");
  return sitting.way === "filled"
    ? t("Fill the igloo with this many beads and shake it for four seconds. Then let it rest a moment.")
    : t("Put the cap onto the igloo with this number and shake it for four seconds. Then let it rest a moment.");
}

function lacking(sitting) {
  if (sitting.figures || !sitting.kept) return null;
  const why = {
    shakes: t("You can see how good it is after six shakes."),
    numbers: t("You can see how good it is after three different numbers."),
    sense: t("These shakes do not fit their numbers: take the last ones back."),
  }[sitting.lacks];
  return why && h("p", { class: "quiet", "data-key": "lacks" }, why);
}

function keypad(sitting) {
  return h("details", { class: "another", "data-key": "another" }, h("summary", null, t("A different number is in it")),
    h("div", { class: "keypad small" }, COUNTS.map((n) => h("button", { type: "button", class: ["key", n === sitting.count && "printed"], "data-do": "run-count", "data-count": n, "data-key": `n-${n}`,
      "aria-label": tn("%(n)s bead is in it", "%(n)s beads are in it", n), "aria-pressed": n === sitting.count ? "true" : "false" }, n))));
}

function sounding(sitting) {
  return h("button", { type: "button", class: "toggle", "data-do": "loud", "data-hz": sitting.gauge.beat_hz, "data-key": "loud", "aria-pressed": metronomeRuns() ? "true" : "false" }, icon("play"), t("Play the beat"));
}

function simulating(sitting) {
  return sitting.kind === "simulated"
    && h("button", { type: "button", class: "second", "data-do": "run-simulate", "data-key": "sim" }, icon("shake"), t("Shake the simulated igloo"));
}

function gathering(sitting) {
  const calibrates = sitting.task === "calibrate";
  const full = calibrates && sitting.kept > 0 && sitting.stages.includes(sitting.own);
  const keep = calibrates && sitting.figures && sitting.kept > 0;
  const worth = keep && better(sitting.figures);
  return h("section", { class: "panel sitting", "data-key": "sitting", "data-task": sitting.task },
    h("h2", null, calibrates ? t("Calibrating %(igloo)s", { igloo: deviceName(sitting.device) }) : t("Recording %(igloo)s", { igloo: deviceName(sitting.device) }), " ", kindMark(sitting.kind)),
    sitting.person && h("p", { class: "quiet" }, t("Shaken by %(name)s", { name: sitting.person })),
    h("div", { class: "instruction" },
      h("p", { class: "wanted" }, h("strong", null, sitting.count), h("span", null, tn("bead", "beads", sitting.count))),
      h("p", { class: "sentence" }, instruction(sitting))),
    h("progress", { class: "shaken", max: sitting.seconds, value: sitting.shaken_s, "aria-label": t("Four seconds of shaking"), "data-key": "shaken" }),
    sitting.gauge && [beatNow(sitting.gauge, sitting.paused), gaugeNow(sitting.gauge), sounding(sitting)],
    liveWave(),
    h("p", { class: ["outcome", sitting.good ? "good" : "bad"], role: "status", "data-key": "note" },
      sitting.note ? [icon(sitting.good ? "check" : "close"), " ", t(sitting.note), sitting.good && sitting.last ? ` ${tn("It was %(n)s bead.", "It was %(n)s beads.", sitting.last)}` : null] : null),
    sitting.used && h("p", { class: "outcome good", role: "status", "data-key": "used" }, icon("check"), " ", t("The igloo is counted with this calibration from now on.")),
    calibrates ? progress(sitting) : h("p", { class: "quiet", "data-key": "stored" }, tn("%(n)s shake kept", "%(n)s shakes kept", sitting.kept)),
    calibrates && quality(sitting.figures), calibrates && lacking(sitting),
    h("div", { class: "row", "data-key": "acts" },
      simulating(sitting),
      sitting.kept > 0 && h("button", { type: "button", class: "second", "data-do": "run-undo", "data-key": "back" }, icon("undo"), t("Take the last one back")),
      worth && h("button", { type: "button", class: full ? "main" : "second", "data-do": "run-save", "data-key": "keep" }, icon("check"), t("Use it")),
      h("button", { type: "button", class: "second", "data-do": "run-pause", "data-paused": sitting.paused ? "" : "yes", "data-key": "pause" }, icon(sitting.paused ? "play" : "pause"), sitting.paused ? t("Go on") : t("Rest")),
      h("button", { type: "button", class: "second", "data-do": "run-stop", "data-key": "stop" }, t("End")),
      keep && !worth && h("button", { type: "button", class: "second", "data-do": "run-save", "data-key": "keep-worse" }, t("Use it anyway"))),
    full && !worth && sitting.goal && h("p", { class: "quiet", "data-key": "full" }, t("Keep shaking: %(goal)s shakes are better.", { goal: sitting.goal })),
    full && worth && h("p", { class: "quiet", "data-key": "full" }, sitting.goal ? t("Use it now, or keep shaking: %(goal)s shakes are better.", { goal: sitting.goal }) : t("This is as good as it gets.")),
    keypad(sitting));
}

function refereeing(sitting) {
  const { answer, gauge, done } = sitting;
  return h("section", { class: "panel sitting", "data-key": "sitting", "data-task": "referee", "data-done": done ? "yes" : null },
    h("h2", null, t("The referee’s count"), " ", kindMark(sitting.kind)),
    !sitting.calibrated && h("p", { class: "note" }, t("This igloo has not been calibrated: counted as an unknown one.")),
    sitting.person && h("p", { class: "quiet" }, t("Shaken by %(name)s", { name: sitting.person })),
    !done && [
      h("p", { class: "sentence" }, sitting.there ? t("Up and down, 2 cm each way, with the beat.") : t("The igloo is not there: plug it in, and it goes on.")),
      beatNow(gauge, sitting.paused), gaugeNow(gauge), sounding(sitting),
    ],
    !done && liveWave(),
    h("p", { class: "quiet", "data-key": "in-bounds" }, t("%(s)s s in bounds", { s: number(sitting.seconds, 1) })),
    answer && distribution({ ...answer, kind: sitting.kind, why: "", seconds: sitting.seconds }),
    h("p", { class: done ? "sentence" : "quiet", role: "status", "data-key": "verdict" }, sitting.note ? t(sitting.note) : null),
    h("div", { class: "row" },
      !done && simulating(sitting),
      !done && sitting.seconds > 0 && h("button", { type: "button", class: "second", "data-do": "run-other", "data-key": "other" }, t("Somebody else takes over")),
      done && h("button", { type: "button", class: "main", "data-do": "run-again", "data-task": "referee", "data-igloo": sitting.igloo, "data-person": sitting.person, "data-key": "again" }, t("Once more")),
      h("button", { type: "button", class: "second", "data-do": "run-stop", "data-key": "stop" }, t("End"))));
}

/** Draw this part of the workshop. */
export function part() {
  const { calibrationRun } = store;
  if (state && fetched !== calibrationRun.revision) fetchAll();
  if (calibrationRun.hidden || liveRound()) {
    stopMetronome();
    return h("p", { class: "panel hidden-count", "data-key": "hidden" }, icon("igloo"), t("A round is live: nothing is measured or said about the igloo before the check."));
  }
  if (!state) return h("p", { class: "quiet" }, t("One moment …"));
  const { sitting } = calibrationRun;
  if (!sitting || (sitting.task === "referee" && sitting.done)) stopMetronome();
  const views = { referee: refereeing, "shake-on": (one) => shakingOn(one, simulating(one)) };
  const now = sitting && (views[sitting.task] ?? gathering)(sitting);
  return [
    people(),
    now ?? h("section", { class: "panel igloo-panel", "data-key": "now" }, h("h2", null, icon("igloo"), " ", t("The igloo")), iglooLines(), state.igloos.length > 0 && countNow()),
    !now && beginning(),
    state.calibrations.length > 0 && h("section", { class: "panel", "data-key": "known" }, h("h2", null, t("Calibrations")), h("ul", { class: "plain" }, state.calibrations.map(calibration))),
    state.recordings.length > 0 && h("section", { class: "panel", "data-key": "recorded" },
      h("h2", null, t("Recorded shakes")),
      h("p", { class: "quiet" }, t("Labelled shakes as files, for companion shake train and companion shake calibrate.")),
      h("ul", { class: "plain" }, state.recordings.map(recording))),
  ];
}

// --- what is done

async function begin(task, form, more) {
  const given = new FormData(form);
  const person = String(given.get("person") ?? "").trim();
  memory.set(REMEMBERED, person);
  const guided = given.get("guided") === "on";
  // The finger is down now: later the browser would stay silent.
  if (loud && (guided || task === "referee")) startMetronome(5);
  if (!(await doing("sitting", { task, igloo: String(given.get("igloo") ?? ""), person, guided, ...more(given) }))) stopMetronome();
  else scrollTo(0, 0);
}

export const PART_SUBMIT = {
  calibrate: (form) => begin("calibrate", form, (given) => ({ way: given.get("way") })),
  referee: (form) => begin(new FormData(form).get("task"), form, () => ({})),
  record: (form) => begin("record", form, (given) => ({ count: Number(given.get("count")) })),
};

export const PART_INPUT = {
  person: (field) => { words.person = field.value; },
};

export const PART_CHANGE = {
  use: (field) => doing("calibration", { device: field.dataset.device, use: field.checked }),
};

export const PART_DO = {
  "run-count": ({ count }) => doing("sitting/change", { count: Number(count) }),
  "run-pause": ({ paused }) => doing("sitting/change", { paused: paused === "yes" }),
  "run-undo": () => doing("sitting/take-back"),
  "run-save": () => doing("sitting/keep"),
  "run-other": () => doing("sitting/other-hand"),
  "run-stop": () => { stopMetronome(); return doing("sitting/stop"); },
  "run-simulate": () => doing("sitting/simulate"),
  "run-again": async ({ task, igloo, person }) => {
    if (loud && task === "referee") startMetronome(5);
    if (await doing("sitting/stop")) await doing("sitting", { task, igloo, person });
  },
  loud: ({ hz }) => {
    loud = !metronomeRuns();
    if (loud) startMetronome(Number(hz));
    else stopMetronome();
    change(() => {});
  },
  hand: ({ device, person }) => doing("calibration", { device, person }),
  "undo-calibration": async ({ device }) => {
    if (await agreed(t("The newest calibration of this igloo is taken back."), t("Take it back"), t("Sure?"))) doing("calibration/undo", { device });
  },
  "forget-calibration": async ({ device }) => {
    if (await agreed(t("All calibrations of this igloo will be gone for good."), t("Forget it"), t("Sure?"))) doing("calibration/forget", { device });
  },
  "forget-recording": async ({ recording: name }) => {
    if (await agreed(t("These shakes will be gone for good."), t("Forget it"), t("Sure?"))) doing(`recordings/${name}/forget`);
  },
  "go-on": ({ recording: name, device }) => {
    const igloo = state.igloos.find((one) => one.device === device)?.key ?? "";
    return doing("sitting", { task: "calibrate", igloo, person: words.person, recording: name });
  },
};
