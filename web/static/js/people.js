// The workshop's people: profiles with what they came to; renamed, made one, forgotten by the host.

import { h } from "./dom.js";
import { COLOURS, coin, colourName, icon } from "./art.js";
import { agreed, openDialog } from "./dialogs.js";
import { face, fetchPeople, nameField } from "./faces.js";
import { gameName } from "./games.js";
import { ask, chosenFile, fetched, tell, upload } from "./net.js";
import { evenings, rivals, streaks } from "./people-charts.js";
import { change, isHost, store } from "./store.js";
import { number, t, tn } from "./words.js";

const TOKENS = () => ({ bear: t("Bear"), fox: t("Fox"), fish: t("Fish"), penguin: t("Penguin"), seal: t("Seal"), owl: t("Owl"), igloo: t("Igloo"), star: t("Snow star") });
const UPLOAD_MS = 60000;
const FORGETTING_MS = 300000;

/** Somebody came to this part: what is known may be old. */
export const opened = () => fetchPeople(true);

async function done(work, then = () => {}) {
  const answer = await fetched(work);
  if (!answer) return;
  change((s) => { s.people = answer.people; });
  then(answer);
}

function summary(figures) {
  if (!figures) return t("has not finished a game yet");
  return [tn("%(n)s game", "%(n)s games", figures.played), tn("%(n)s won", "%(n)s won", figures.won),
    tn("%(n)s evening", "%(n)s evenings", figures.nights)].join(", ");
}

function table(person) {
  const { figures } = person;
  if (!figures) return null;
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("How %(who)s has done", { who: person.name }) },
    h("table", null,
      h("thead", null, h("tr", null, [t("Game"), t("Played"), t("Won"), t("Best"), t("Mean")].map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", null, figures.games.map((one) => h("tr", null, h("th", { scope: "row" }, gameName(one.game)),
        h("td", null, one.played), h("td", null, one.won), h("td", null, one.best), h("td", null, number(one.mean, 1)))))),
    streaks(figures),
    evenings(figures.course),
    rivals(figures.rivals, (id) => known(id)?.name));
}

function looks(person) {
  const id = person.id;
  return [
    h("fieldset", { class: "choice colours" }, h("legend", null, t("Colour")), COLOURS.map((colour) =>
      h("button", { type: "button", class: "toggle", "data-do": "person-colour", "data-person": id, "data-colour": colour,
        "aria-pressed": String(person.colour === colour) }, coin(colour), h("span", null, colourName(colour))))),
    h("fieldset", { class: "choice faces" }, h("legend", null, t("Picture")),
      Object.entries(TOKENS()).map(([name, words]) =>
        h("button", { type: "button", class: "toggle", "data-do": "person-token", "data-person": id, "data-token": name,
          "aria-pressed": String(person.token === name), "aria-label": words, title: words }, face({ ...person, picture: null, token: name }))),
      h("label", { class: "second file" }, icon("camera"), h("span", null, t("A photo")),
        h("input", { type: "file", accept: "image/*", capture: "user", "data-change": "person-photo", "data-person": id, class: "unseen" })),
      person.picture && h("button", { type: "button", class: "second", "data-do": "person-no-photo", "data-person": id }, t("Remove the photo"))),
  ];
}

function hosts(person) {
  if (!isHost()) return null;
  return h("div", { class: "row" },
    h("button", { type: "button", class: "second", "data-do": "person-rename", "data-person": person.id }, t("Rename")),
    store.people.length > 1 && h("button", { type: "button", class: "second", "data-do": "person-merge", "data-person": person.id }, t("Is the same as …")),
    h("button", { type: "button", class: "second danger", "data-do": "person-forget", "data-person": person.id }, t("Forget")));
}

const profile = (person) => h("details", { class: "panel profile", "data-key": `profile-${person.id}` },
  h("summary", null, face(person), h("span", { class: "who" }, h("span", { class: "name" }, person.name), h("span", { class: "quiet" }, summary(person.figures)))),
  h("div", { class: "stack" }, table(person), looks(person), hosts(person)));

/** Draw this part. */
export function part() {
  const people = store.people ?? [];
  return [
    h("p", { class: "sentence" }, t("Whoever plays under a name is remembered. Colour and picture are chosen here.")),
    people.map(profile),
    h("form", { class: "panel", "data-submit": "person-add", "data-key": "add-person" },
      h("label", { for: "new-person" }, t("Somebody new")),
      h("div", { class: "row" },
        nameField({ id: "new-person", name: "name", required: true, autocapitalize: "words" }),
        h("button", { type: "submit", class: "main" }, icon("people"), t("Remember")))),
  ];
}

const path = (id, ...more) => ["/api/people", id, ...more].map((one, i) => (i ? encodeURIComponent(one) : one)).join("/");
const known = (id) => store.people.find((one) => one.id === id);
const altered = (id, what) => done(() => tell(path(id), what));

async function rename(id) {
  const form = await openDialog(t("Rename %(who)s", { who: known(id).name }),
    h("form", { method: "dialog", "data-submit": "dialog-form" },
      h("label", { for: "rename" }, t("Name")),
      nameField({ id: "rename", name: "name", required: true, value: known(id).name }),
      h("p", { class: "quiet" }, t("The new name appears in old evenings too.")),
      h("button", { type: "submit", class: "main" }, t("Rename"))));
  if (form) altered(id, { name: form.get("name") });
}

async function merge(id) {
  const person = known(id);
  const form = await openDialog(t("%(who)s is the same as …", { who: person.name }),
    h("form", { method: "dialog", "data-submit": "dialog-form" },
      h("fieldset", { class: "choice" }, h("legend", null, t("Who?")), store.people.filter((one) => one !== person).map((one, i) =>
        h("label", null, h("input", { type: "radio", name: "into", value: one.id, checked: i === 0 }), h("span", null, one.name)))),
      h("p", null, t("The games, scores and training answers of both count for one person. This cannot be undone.")),
      h("button", { type: "submit", class: "main" }, t("Make them one"))));
  if (form) done(() => tell(path(id, "merge"), { into: form.get("into") }));
}

async function forget(id) {
  const { name } = known(id);
  const sentence = t("The name, the picture and the colour of %(who)s are deleted, here and in the backups on this card; the scores stay, as nobody’s. This cannot be undone. Copies elsewhere (a stick, a download) keep the name.", { who: name });
  if (!await agreed(sentence, t("Forget %(who)s", { who: name }), t("Forget %(who)s?", { who: name }))) return;
  // Backups with many pictures are written anew.
  done(() => tell(path(id, "forget"), {}, { signal: AbortSignal.timeout(FORGETTING_MS) }), ({ mentions }) => {
    if (mentions) openDialog(t("Forgotten"), h("p", null, tn("In %(n)s note the name is part of a longer word; there it stays.", "In %(n)s notes the name is part of a longer word; there it stays.", mentions)));
  });
}

export const PART_DO = {
  "person-colour": ({ person, colour }) => altered(person, { colour: known(person).colour === colour ? null : colour }),
  "person-token": ({ person, token: name }) => altered(person, { token: known(person).token === name ? null : name }),
  "person-no-photo": ({ person }) => done(() => ask(path(person, "picture"), { method: "POST" })),
  "person-rename": ({ person }) => rename(person),
  "person-merge": ({ person }) => merge(person),
  "person-forget": ({ person }) => forget(person),
};

export const PART_SUBMIT = {
  "person-add": (form) => done(() => tell("/api/people", { name: new FormData(form).get("name") }), () => form.reset()),
};

export const PART_CHANGE = {
  "person-photo": (input) => {
    const file = chosenFile(input);
    if (file) done(() => upload(path(input.dataset.person, "picture"), file, UPLOAD_MS));
  },
};
