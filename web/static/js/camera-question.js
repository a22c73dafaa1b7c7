// What the camera asks while it follows a game: which of these was played, or what to do where board and record disagree.

import { h, style } from "./dom.js";
import { icon, nameOf, token } from "./art.js";
import { openDialog } from "./dialogs.js";
import { ask, showRefusal, tell } from "./net.js";
import { picture } from "./picture.js";
import { change, match, store } from "./store.js";
import { code, list, percent, said, t } from "./words.js";

let openQuestion = null;
let fetching = null;
let sending = false;

async function fetchQuestion(id) {
  if (fetching === id) return;
  fetching = id;
  try {
    const { question } = await ask(`/api/camera/question?lang=${code()}`);
    openQuestion = question;
    if (question) document.getElementById("announcer").textContent = title();
    change(() => {});
  } catch {
    setTimeout(() => { fetching = null; change(() => {}); }, 1500);
    return;
  }
  fetching = null;
}

const drawn = (svg, about, name) => svg && picture(svg, { game: openQuestion.game, lit: new Map(), chosen: [], about, can: false, costs: false, name });

function what(candidate) {
  if (candidate.kind === "unchanged") return t("Nothing was played");
  if (candidate.kind === "takeback") return t("The last turn was taken back");
  const moves = candidate.moves.map(said).join("; ");
  return moves || (openQuestion.played.length ? t("That was all") : t("The turn was ended"));
}

/** What all of them have in common is said once. */
function inEach() {
  const { played } = openQuestion;
  return played.length > 0 && h("p", { class: "quiet", "data-key": "in-each" }, t("In any case: %(what)s", { what: played.map(said).join("; ") }));
}

function choice(candidate) {
  const words = what(candidate);
  return h("li", { "data-key": `choice-${candidate.n}`, class: "camera-choice" },
    drawn(candidate.svg, candidate.places, words),
    candidate.kind === "continued" && h("p", { class: "quiet" }, t("The turn went on:")),
    candidate.kind === "two" && h("p", { class: "quiet" }, t("Two turns were played:")),
    h("button", { type: "button", class: candidate.n ? "second" : "main", "data-do": "camera-answer", "data-n": candidate.n, disabled: sending },
      icon("check"), h("span", null, words, " ", openQuestion.kind !== "unseen" && h("small", null, percent(candidate.p)))));
}

function title() {
  if (openQuestion.kind === "disagreement") return openQuestion.places.length ? t("The board and I disagree at %(places)s.", { places: list(openQuestion.places) }) : t("The board and I disagree.");
  if (openQuestion.kind === "unseen") return t("No picture shows this: what was played?");
  return openQuestion.kind === "new" ? t("Something new lies on %(places)s. Was this played?", { places: list(openQuestion.places) }) : t("Which of these was played?");
}

function question() {
  return [
    h("h2", { id: "camera-question" }, icon("camera"), " ", title()),
    inEach(),
    h("ul", { class: "camera-choices" }, openQuestion.candidates.map(choice)),
    h("button", { type: "button", class: "second", "data-do": "camera-answer", "data-n": "none", disabled: sending }, icon("close"), t("None of these")),
  ];
}

function disagreement() {
  return [
    h("h2", { id: "camera-question" }, icon("camera"), " ", title()),
    h("p", null, t("This is what the record says. I’ll wait until it is settled.")),
    drawn(openQuestion.svg, openQuestion.places, t("The board and the record disagree.")),
    h("div", { class: "stack" },
      h("button", { type: "button", class: "main", "data-do": "camera-way", "data-way": "board", disabled: sending }, icon("turn"), t("The board is wrong: we put it right")),
      h("button", { type: "button", class: "second", "data-do": "camera-record" }, icon("undo"), t("The record is wrong: correct it")),
      h("button", { type: "button", class: "second", "data-do": "camera-referee" }, icon("scales"), t("Call the referee")),
      h("button", { type: "button", class: "second", "data-do": "camera-way", "data-way": "record", disabled: sending }, icon("camera"), t("Both are right: the camera misread it")),
      openQuestion.lies && store.me.role === "host" && h("button", { type: "button", class: "second", "data-do": "camera-agree", disabled: sending }, icon("people"), t("It was played all the same: go on from here"))),
    openQuestion.candidates.length > 0 && h("details", { "data-key": "maybe" }, h("summary", null, t("What it might have been")), inEach(),
      h("ul", { class: "camera-choices" }, openQuestion.candidates.map(choice))),
  ];
}

/** Ask whether the table agrees to go on from the board as it lies, and whose turn it is then; resolves to that. */
async function lying() {
  const { lies } = openQuestion;
  const form = await openDialog(t("Go on from the board as it lies?"),
    lies.problem
      ? [h("p", null, t("The board cannot lie as the camera reads it:")), h("p", { class: "clause-text" }, said(lies.problem)), h("p", null, t("Teach the camera what lies there, or put it right."))]
      : h("form", { method: "dialog", "data-submit": "dialog-form" },
          h("p", null, t("The record is then as the camera sees the board, at %(places)s. It stays marked in the log.", { places: list(lies.places) })),
          drawn(lies.svg, lies.places, t("The board as the camera sees it")),
          h("fieldset", { class: "choice colours" },
            h("legend", null, t("Whose turn is it now?")),
            lies.turns.map((colour) => h("label", null,
              h("input", { type: "radio", name: "turn", value: colour, checked: colour === lies.turn }),
              token(colour), h("span", null, nameOf(match(), colour))))),
          h("label", { class: "check" }, h("input", { type: "checkbox", name: "agreed", required: true }), t("The table agrees")),
          h("button", { type: "submit", class: "main" }, t("Go on from here"))));
  return form?.get("turn");
}

/** Draw what the camera asks; nothing where it asks nothing, or where it is not for this phone. */
export function panel() {
  const { follow } = store.camera;
  const mine = store.me.role === "host" || (store.me.role === "player" && follow?.everyone);
  if (!follow?.asking || !mine || follow.state === "waiting") return null;
  if (openQuestion?.id !== follow.asking) {
    fetchQuestion(follow.asking);
    return null;
  }
  style("camera");
  return h("section", { class: "panel camera-question", "data-key": "camera-question", "data-kind": openQuestion.kind, "aria-labelledby": "camera-question" },
    openQuestion.kind === "disagreement" ? disagreement() : question());
}

async function send(doing) {
  sending = true;
  change(() => {});
  try {
    await doing();
  } catch (refused) {
    showRefusal(refused.error);
  } finally {
    sending = false;
    change(() => {});
  }
}

/** What can be tapped in it. */
export const ASK_DO = {
  "camera-answer": ({ n }) => send(() => tell("/api/camera/question", { id: openQuestion.id, choice: n === "none" ? null : Number(n) }, { signal: AbortSignal.timeout(30000) })),
  "camera-way": ({ way }) => send(() => tell("/api/camera/question/way", { id: openQuestion.id, way }, { signal: AbortSignal.timeout(30000) })),
  "camera-agree": async () => {
    const { id } = openQuestion;
    const turn = await lying();
    if (turn) await send(() => tell("/api/camera/question/agreed", { id, turn }, { signal: AbortSignal.timeout(30000) }));
  },
  "camera-record": () => {
    // Where it is corrected: the moves that were forgotten are tapped, those too many are taken back.
    document.querySelector(".play .tools, .play")?.scrollIntoView({ block: "start" });
    (document.querySelector(".play [data-do=undo]") ?? document.querySelector(".play .spot.lit"))?.focus();
  },
  "camera-referee": async () => {
    location.hash = "#referee";
    (await import("./camera-photos.js")).fromCamera(openQuestion.game);
  },
};
