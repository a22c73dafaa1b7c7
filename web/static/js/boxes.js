// What lies in an owner's box of Iglu Iglu or Ice Team, entered once: the rulebooks show it in pictures only.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { boardsEditor, drawnBoards } from "./box-boards.js";
import { faceWords as face } from "./camera-cells.js";
import { openDialog, closeDialog } from "./dialogs.js";
import { ask, showRefusal, tell } from "./net.js";
import { said, t } from "./words.js";

function whole(name, words, value, most = 56) {
  return h("label", { class: "count-field" }, h("span", null, words),
    h("input", { type: "number", name, min: 0, max: most, step: 1, value, required: true, inputmode: "numeric" }));
}

function iglu(form) {
  return [
    h("p", { class: "quiet" }, t("Count the %(n)s floe tiles by their faces; the player aids picture every tile.", { n: form.total })),
    h("div", { class: "counts-of-box" }, form.faces.map((name) => whole(name, face(name), form.data.tiles[name] ?? 0))),
  ];
}

const pick = (name, label, values, value) =>
  h("select", { name, "aria-label": label }, values.map((one) => h("option", { value: one, selected: one === value }, face(one))));

function iceTeam(form) {
  const { data, faces, dice } = form;
  return [
    h("fieldset", { class: "tiles-of-box" },
      h("legend", null, t("The 24 floes, front and back")),
      data.tiles.map((pair, i) => h("div", { class: "pair" }, h("span", null, i + 1),
        pair.map((one, side) => pick(`tile-${i}-${side}`, t("Floe %(n)s, side %(side)s", { n: i + 1, side: side + 1 }), faces, one))))),
    data.dice.map((die, d) => h("fieldset", { class: "tiles-of-box" },
      h("legend", null, t("Die %(n)s", { n: d + 1 })),
      die.map((one, i) => pick(`die-${d}-${i}`, t("Die %(n)s, face %(face)s", { n: d + 1, face: i + 1 }), dice, one)))),
    h("fieldset", { class: "counts-of-box" },
      h("legend", null, t("Fish tokens")),
      Object.entries({ stated: t("as the rulebook states"), ones: t("with one fish"), twos: t("with two fish"), threes: t("with three fish") })
        .map(([name, words]) => whole(`token-${name}`, words, data.fish_tokens[name], 199))),
    boardsEditor(data),
  ];
}

/** Open the form for a game's box. */
export async function boxWindow(game) {
  let form;
  try {
    form = await ask(`/api/boxes/${encodeURIComponent(game)}`);
  } catch (refused) {
    showRefusal(refused.error);
    return;
  }
  const state = form.own ? t("Entered from your box.") : t("A stand-in: not the real box. Enter what lies in yours, once.");
  openDialog(game === "iglu-iglu" ? t("Your box of Iglu Iglu") : t("Your box of Ice Team"),
    h("p", { class: form.own ? "quiet" : "note" }, state),
    h("form", { "data-submit": "box", "data-game": game, novalidate: true },
      game === "iglu-iglu" ? iglu(form) : iceTeam(form),
      h("p", { class: "complaint", role: "alert", id: "box-complaint" }),
      h("div", { class: "row" },
        h("button", { type: "submit", class: "main" }, icon("check"), t("Keep this box")),
        form.own && h("button", { type: "button", class: "second", "data-do": "forget-box", "data-game": game }, t("Back to the stand-in")))));
}

function readIglu(data) {
  return { tiles: Object.fromEntries([...data].map(([name, value]) => [name, Number(value)]).filter(([, value]) => value !== 0)) };
}

function readIce(data) {
  const all = (name, size) => Array.from({ length: size }, (_, i) => data.get(`${name}-${i}`));
  return {
    ...drawnBoards(),
    tiles: Array.from({ length: 24 }, (_, i) => all(`tile-${i}`, 2)),
    dice: [0, 1].map((d) => all(`die-${d}`, 6)),
    fish_tokens: Object.fromEntries(["stated", "ones", "twos", "threes"].map((name) => [name, Number(data.get(`token-${name}`))])),
  };
}

/** Send what the form says; a box that cannot be is refused with the reason. */
export async function saveBox(form) {
  const { game } = form.dataset;
  const complain = (words) => { document.getElementById("box-complaint").textContent = words; };
  await send(game, (game === "iglu-iglu" ? readIglu : readIce)(new FormData(form)), complain);
}

/** Play with the stand-in again. */
export const forgetBox = (game) => send(game, null, () => {});

async function send(game, data, complain) {
  try {
    await tell(`/api/boxes/${encodeURIComponent(game)}`, { data });
    closeDialog(null);
    boxWindow(game);
  } catch (refused) {
    complain(refused.error ? said(refused.error) : t("The table did not answer. Nothing is lost: try again."));
  }
}
