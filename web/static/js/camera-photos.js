// The referee by photo: what lies between two photos, or between the record and a photo, ruled and drawn over the photo.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { gameButtons, games, has } from "./games.js";
import { chosenFile, fetched, tell, upload } from "./net.js";
import { change, match, store } from "./store.js";
import { code, list, t, tn } from "./words.js";
import { verdict } from "./verdict.js";

const LONG_MS = 60000;
const fresh = () => ({ game: null, record: true, before: null, after: null, ruling: null, busy: false, number: 0 });
let now = fresh();

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

/** A game that is open is the one in dispute; else one is chosen. */
const game = () => match()?.game ?? now.game ?? (games().find(({ id }) => !has(id, "round")) ?? games()[0])?.id;
/** Only what is open has a record. */
const fromRecord = () => now.record && Boolean(match());

async function work(doing) {
  alter({ busy: true });
  await fetched(doing);
  alter({ busy: false });
}

const send = (which, file) => upload(`/api/camera/photos/${which}?game=${game()}`, file, LONG_MS);

async function rule(id = game()) {
  const { ruling } = await tell(`/api/camera/photos/rule?lang=${code()}`, { game: id, record: fromRecord() }, { signal: AbortSignal.timeout(LONG_MS) });
  alter({ ruling, number: now.number + 1 });
}

/** Rule at once on what the camera sees now, against the record. */
export function fromCamera(id) {
  return work(async () => {
    alter({ record: true, ruling: null });
    alter({ after: await send("after", null) });
    await rule(id);
  });
}

function field(which, words) {
  const known = now[which];
  return h("div", { class: "field", "data-key": `photo-${which}` },
    h("label", { class: "second file" }, icon("camera"), h("span", null, words),
      h("input", { type: "file", accept: "image/*", capture: "environment", "data-change": "dispute-photo", "data-which": which, class: "unseen", disabled: now.busy })),
    store.camera.camera && h("button", { type: "button", class: "second", "data-do": "dispute-camera", "data-which": which, disabled: now.busy }, t("Take the camera’s picture")),
    known && h("span", { class: "quiet", role: "status" }, tn("%(n)s place read", "%(n)s places read", known.places),
      known.unsure.length ? ["; ", t("unsure: %(places)s", { places: list(known.unsure) })] : null));
}

function ruled() {
  const { ruling } = now;
  if (!ruling) return null;
  return [
    verdict(game(), { ...ruling, move: "photo" }),
    h("figure", { class: "picture", "data-key": "ruled" },
      h("img", { src: `/api/camera/photos/ruled.jpg?n=${now.number}`, alt: t("The photo with the ruling drawn over it") }),
      h("figcaption", null,
        ruling.wrong.length ? t("Crossed: what no legal turn leaves like this (%(places)s).", { places: list(ruling.wrong) }) : t("Ticked: what the turn changed."),
        ruling.unsure.length ? [" ", t("Not read for sure, and left open: %(places)s.", { places: list(ruling.unsure) })] : null)),
  ];
}

function whichGame() {
  return match() ? null : h("ul", { class: "games", "aria-label": t("Which game?") }, gameButtons("dispute-game", game()));
}

/** Draw the section of the referee's room; `round` draws what rules on a round in photos, where a game is judged so. */
export function byPhoto(round) {
  style("camera");
  if (has(game(), "round")) {
    return h("section", { class: "by-photo referee", "data-key": "by-photo" },
      h("div", { class: "panel" }, h("h2", null, t("By photo")), whichGame(),
        h("p", null, t("What does the round come to? Two photos show it, and the rules judge it card by card.")),
        h("p", null, h("a", { href: "#photo" }, t("Cards are taught where the score is read by photo.")))),
      round(game()));
  }
  const ready = now.after && (fromRecord() || now.before);
  return h("section", { class: "panel by-photo", "data-key": "by-photo" },
    h("h2", null, t("By photo")),
    whichGame(),
    h("p", null, t("From what was there before to what is there now: was it a legal turn?")),
    match() && h("fieldset", { class: "choice inline" },
      h("legend", null, t("Before")),
      [[true, t("as the record says")], [false, t("as in a photo")]].map(([value, words]) => h("label", null,
        h("input", { type: "radio", name: "dispute-before", value: String(value), checked: now.record === value, "data-change": "dispute-before" }), h("span", null, words)))),
    fromRecord() ? null : field("before", t("Photo from before")),
    field("after", t("Photo from afterwards")),
    now.busy && h("p", { role: "status" }, t("Reading the board …")),
    h("button", { type: "button", class: "main", "data-do": "dispute-rule", disabled: now.busy || !ready }, icon("scales"), t("Ask the referee")),
    ruled());
}

export const PHOTO_DO = {
  "dispute-game": ({ game: id }) => alter({ ...fresh(), game: id, number: now.number }),
  "dispute-rule": () => work(() => rule()),
  "dispute-camera": ({ which }) => work(async () => alter({ [which]: await send(which, null), ruling: null })),
};

export const PHOTO_CHANGE = {
  "dispute-before": (input) => alter({ record: input.value === "true", ruling: null }),
  "dispute-photo": (input) => {
    const file = chosenFile(input);
    const { which } = input.dataset;
    if (file) work(async () => alter({ [which]: await send(which, file), ruling: null }));
  },
};
