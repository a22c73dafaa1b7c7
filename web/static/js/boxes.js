// What lies in an owner's box of a game, entered once: some rulebooks show it in pictures only.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { openDialog, closeDialog } from "./dialogs.js";
import { fetchPart, gameOf } from "./games.js";
import { ask, showRefusal, tell } from "./net.js";
import { said, t } from "./words.js";

/** A field for a whole number, for the forms of boxes. */
export function wholeField(name, words, value, most = 56) {
  return h("label", { class: "count-field" }, h("span", null, words),
    h("input", { type: "number", name, min: 0, max: most, step: 1, value, required: true, inputmode: "numeric" }));
}

/** What reads the form that is open. */
let read = null;

/** Open the form for a game's box. */
export async function boxWindow(game) {
  let form;
  let own;
  try {
    [form, own] = await Promise.all([ask(`/api/boxes/${encodeURIComponent(game)}`), fetchPart(game, "box")]);
  } catch (refused) {
    showRefusal(refused.error);
    return;
  }
  read = own.read;
  const state = form.own ? t("Entered from your box.") : t("A stand-in: not the real box. Enter what is in yours, once.");
  openDialog(gameOf(game).box(),
    h("p", { class: form.own ? "quiet" : "note" }, state),
    h("form", { "data-submit": "box", "data-game": game, novalidate: true },
      own.fields(form),
      h("p", { class: "complaint", role: "alert", id: "box-complaint" }),
      h("div", { class: "row" },
        h("button", { type: "submit", class: "main" }, icon("check"), t("Keep this box")),
        form.own && h("button", { type: "button", class: "second", "data-do": "forget-box", "data-game": game }, t("Back to the stand-in")))));
}

/** Send what the form says; a box that cannot be is refused with the reason. */
export async function saveBox(form) {
  const { game } = form.dataset;
  const complain = (words) => { document.getElementById("box-complaint").textContent = words; };
  await send(game, read(new FormData(form)), complain);
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
