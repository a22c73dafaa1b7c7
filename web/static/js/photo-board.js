// A photo of the board for the score sheet: read at the table, drawn here, doubtful places checked and put right by taps.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { cellWindow, groundWords, placeSigns, placeWords, thingWords } from "./camera-cells.js";
import { overlay } from "./camera-picture.js";
import { chosenFile, showRefusal, upload } from "./net.js";
import { change, mayAct, store } from "./store.js";
import { list, said, t, tn } from "./words.js";

const READING_MS = 60000;
const fresh = (game = null) => ({ game, busy: false, untaught: null, src: null, reading: null });
let now = fresh();
let sheet = { read: () => {}, put: () => {} };

/** Say what is done with a reading: `read(places, unsure)` with all of it, `put(name, place)` with a place that is sure. */
export function onReading(found) { sheet = found; }

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

function release() {
  if (now.src?.startsWith("blob:")) URL.revokeObjectURL(now.src);
}

/** Have the board read in a photo, or without one in what the camera sees now. */
async function send(file) {
  const { game } = now;
  alter({ busy: true, untaught: null });
  try {
    const reading = await upload(`/api/camera/table/${game}/sheet`, file ?? new Blob([]), READING_MS);
    if (now.game !== game) return;
    release();
    const src = file ? URL.createObjectURL(file) : `/api/camera/frame.jpg?n=${store.camera.table?.number ?? 0}`;
    alter({ busy: false, reading, src });
    sheet.read(reading.places, Object.keys(reading.places).filter((name) => reading.places[name].unsure));
  } catch (refused) {
    if (now.game !== game) return;
    const untaught = refused.error?.code === "not-taught" ? refused.error : null;
    alter({ busy: false, untaught });
    if (!untaught) showRefusal(refused.error);
  }
}

function picture(places, unsure) {
  const { reading, src } = now;
  const cell = (name) => {
    const signs = placeSigns(now.game, places[name]);
    // What is written in the picture belongs to the name, for who calls a place by what is seen there.
    const what = `${placeWords(now.game, places[name])}, ${signs.replace("\n", "")}`;
    return { words: signs, unsure: unsure.includes(name), tap: "sheet-place",
      label: unsure.includes(name) ? t("%(name)s: %(what)s. Check this.", { name, what }) : t("%(name)s: %(what)s. Put it right.", { name, what }) };
  };
  return h("div", { class: "sheet-photo", "data-key": "sheet-photo" },
    overlay(src, [reading.width, reading.height], { cells: reading.cells, describe: cell, close: true, alt: t("The photo, and what was read in it") }));
}

function checks(places, unsure) {
  if (!unsure.length) return h("p", { role: "status", "data-key": "checks" }, t("Everything was read for sure."));
  return h("div", { class: "note checks", role: "status", "data-key": "checks" },
    h("p", null, tn("Check this: %(n)s place is uncertain.", "Check this: %(n)s places are uncertain.", unsure.length)),
    h("ul", { class: "plain" }, unsure.map((name) => h("li", { "data-key": `check-${name}` },
      h("button", { type: "button", class: "second", "data-do": "sheet-place", "data-place": name }, h("b", null, name), " ", placeWords(now.game, places[name])),
      h("button", { type: "button", class: "second", "data-do": "sheet-yes", "data-place": name, "aria-label": t("That’s right: %(name)s", { name }) }, icon("check"), t("That’s right"))))));
}

/** What was never taught looks like something else to the camera: people look where it lies. */
function untaught({ grounds, things }) {
  const what = [...grounds.map((one) => groundWords(now.game, one)), ...things.map((one) => thingWords(now.game, one))];
  return what.length > 0 && h("p", { class: "note", "data-key": "never-taught" }, t("Never taught, so taken for something else where it lies: %(what)s.", { what: list(what) }));
}

/** Draw what fills the sheet of a game from a photo: `places` and the names of the `unsure` ones as they stand by now. */
export function photoPart(game, places, unsure, unseen) {
  if (now.game !== game) { release(); now = fresh(game); }
  if (!mayAct()) return null;
  style("camera");
  return [
    h("div", { class: "row", "data-key": "board-reader" },
      h("label", { class: "second file" }, icon("camera"), h("span", null, t("From a photo of the board")),
        h("input", { type: "file", accept: "image/*", capture: "environment", "data-change": "board-photo", class: "unseen", disabled: now.busy })),
      store.camera.camera && h("button", { type: "button", class: "second", "data-do": "board-camera", disabled: now.busy }, icon("camera"), t("As the camera sees it now"))),
    now.busy && h("p", { role: "status", "data-key": "reading" }, t("Reading the board …")),
    now.untaught && h("p", { class: "note", role: "status", "data-key": "untaught" }, said(now.untaught), " ",
      h("a", { href: "#workshop/camera" }, t("Teach the camera in the workshop"))),
    now.reading && [
      now.reading.note && h("p", { class: "note", "data-key": "sheet-note" }, t(now.reading.note)),
      checks(places, unsure),
      untaught(now.reading.untaught),
      unseen.length > 0 && h("p", { class: "note", role: "status", "data-key": "unseen" }, t("A photo of the board does not show it, so count it: %(what)s.", { what: list(unseen) })),
      picture(places, unsure),
    ],
  ];
}

/** Whether a photo filled the sheet of this game. */
export const hasReading = (game) => now.game === game && now.reading !== null;

export const PHOTO_DO = {
  "board-camera": () => send(null),
  "sheet-yes": ({ place }) => sheet.put(place, null),
  "sheet-place": async ({ place }) => {
    const right = await cellWindow(now.game, now.reading, place, sheet.place(place), t("That’s right"));
    if (right) sheet.put(place, right);
  },
};
export const PHOTO_CHANGE = { "board-photo": (input) => { const file = chosenFile(input); if (file) send(file); } };
