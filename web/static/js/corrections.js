// What the table puts right: a score that is corrected, a fault that is reported.

import { h } from "./dom.js";
import { playerName, token } from "./art.js";
import { openDialog } from "./dialogs.js";
import { t } from "./words.js";

function colourChoice(match, anybody) {
  return h("fieldset", { class: "choice colours" },
    h("legend", null, t("Who?")),
    match.players.map((player, i) => h("label", null,
      h("input", { type: "radio", name: "colour", value: player.colour, checked: i === 0 && !anybody }),
      token(player.colour), h("span", null, playerName(player)))),
    anybody && h("label", null, h("input", { type: "radio", name: "colour", value: "", checked: true }),
      h("span", null, t("nobody knows"))));
}

/** Ask for a correction of a score; resolves to the body of `correct`. */
export async function correctionWindow(match) {
  const form = await openDialog(t("Correct a score"),
    h("form", { method: "dialog", "data-submit": "dialog-form" },
      colourChoice(match, false),
      h("label", { for: "points" }, t("Points to add (minus to take away)")),
      h("input", { id: "points", name: "points", type: "number", min: -100, max: 100, step: 1, required: true, inputmode: "text" }),
      h("label", { for: "reason" }, t("Why?")),
      h("input", { id: "reason", name: "reason", type: "text", maxlength: 200, required: true, autocomplete: "off" }),
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "agreed", required: true }), t("The table agrees")),
      h("button", { type: "submit", class: "main" }, t("Correct it"))));
  if (!form) return null;
  const points = Number(form.get("points"));
  return { colour: form.get("colour"), points, reason: form.get("reason").trim(), agreed: form.get("agreed") === "on" };
}

/** Ask which of a game's faults it was; resolves to the body of `fault`. */
export async function faultWindow(match, { usual, all }) {
  const form = await openDialog(t("Report a fault"),
    h("form", { method: "dialog", "data-submit": "dialog-form" },
      h("fieldset", { class: "choice" },
        h("legend", null, t("What happened?")),
        all.map(([clause, words]) => h("label", null,
          h("input", { type: "radio", name: "clause", value: clause, checked: clause === usual }),
          h("span", null, words, " ", h("small", { class: "quiet" }, clause))))),
      colourChoice(match, true),
      h("button", { type: "submit", class: "main" }, t("Report it"))));
  if (!form) return null;
  const colour = form.get("colour");
  return { clause: form.get("clause"), ...(colour ? { colour } : {}) };
}
