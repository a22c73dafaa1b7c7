// Who has this phone: said once, for the table, for its seat and for the training room.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { closeDialog, openDialog } from "./dialogs.js";
import { comfort, panel } from "./comforts.js";
import { face, nameField, owner } from "./faces.js";
import { fetched, tell } from "./net.js";
import { change, mayAct, memory, store } from "./store.js";
import { t } from "./words.js";

function choice() {
  return [
    h("div", { class: "row" }, (store.people ?? []).map((person) =>
      h("button", { type: "button", class: "person", "data-do": "i-am", "data-name": person.name, "data-key": `i-am-${person.id}`,
        "aria-pressed": String(person === owner()) }, face(person), person.name))),
    h("form", { class: "row", "data-submit": "i-am", "data-key": "i-am" },
      nameField({ name: "name", required: true, autocapitalize: "words", placeholder: t("Another name"), "aria-label": t("Another name") }),
      h("button", { type: "submit", class: "second" }, icon("check"), t("That’s me"))),
  ];
}

/** Draw the question. */
export const question = () => h("section", { class: "panel own-phone", "data-key": "own-phone" },
  h("h2", null, t("Whose phone is this?")),
  h("p", { class: "quiet" }, t("Then one tap is enough for what is yours.")),
  choice());

/** Ask in a window; below, what this phone can do. */
export const askOwner = () => openDialog(t("This phone"),
  mayAct() && [
    h("h3", null, t("Whose phone is this?")),
    choice(),
    store.me.label && h("button", { type: "button", class: "second", "data-do": "i-am", "data-name": "" }, t("Nobody in particular")),
    h("h3", null, t("What it does"))],
  panel());

export { comfort };

/** Say it. */
export async function iAm({ name }) {
  const answer = await fetched(() => tell("/api/me", { name }));
  if (!answer) return;
  memory.set("name", name);
  closeDialog(null);
  change((s) => { s.me = answer.me; s.people = null; });
}
