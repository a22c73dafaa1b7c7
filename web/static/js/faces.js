// The people of the house: their faces, and who is here tonight.

import { h, s } from "./dom.js";
import { drawn } from "./art.js";
import { ask } from "./net.js";
import { change, mayAct, store } from "./store.js";
import { t } from "./words.js";

/** What a name has at most; companion/rules/names.py says so, too, and what is one. */
export const LONGEST_NAME = 40;

const segmenter = Intl.Segmenter && new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The signs of a text as a reader counts them: a family is one, where an input's maxlength counts eleven. */
export const clusters = (text) => (segmenter ? Array.from(segmenter.segment(text), (one) => one.segment)
  : text.match(/.(?:[\p{M}\p{EMod}]|\u200d.?)*/gsu) ?? []);

/** A field for a name, which is cut where it gets too long. */
export const nameField = (more) => h("input", { type: "text", autocomplete: "off", "data-longest": LONGEST_NAME, ...more });

function cut({ target, isComposing }) {
  const all = target.dataset?.longest && !isComposing ? clusters(target.value) : [];
  if (all.length > LONGEST_NAME) target.value = all.slice(0, LONGEST_NAME).join("");
}

for (const kind of ["input", "compositionend"]) document.addEventListener(kind, cut, true);

const AGAIN_MS = 5000;

/** Fetch the people once for everything that shows them; those who only watch see no list of them. */
export async function fetchPeople(again = false) {
  if (!mayAct() || (store.people && !again)) return;
  store.people ??= [];
  store.renamed = false;
  try {
    const { people } = await ask("/api/people");
    change((s) => { s.people = people; });
  } catch {
    setTimeout(() => change((s) => { s.people = null; }), AGAIN_MS);
  }
}

/** The picture of a person: the photo, the drawn one, or the first letter. */
export function face(person, size = "") {
  const inside = person.picture
    ? h("img", { src: `/api/portraits/${person.picture}`, alt: "", width: 40, height: 40, decoding: "async" })
    : person.token
      ? s("svg", { "aria-hidden": "true", focusable: "false" }, s("use", { href: `${drawn("tokens.svg")}#${person.token}` }))
      : h("span", { "aria-hidden": "true" }, clusters(person.name)[0]?.toLocaleUpperCase() ?? "");
  return h("span", { class: ["face", size, person.colour] }, inside);
}

/** Whether two names are one, in whatever case. */
export const alike = (one, other) => one.trim().toLocaleLowerCase() === other.trim().toLocaleLowerCase();

/** Whoever of the house is called so. */
const called = (name) => (name && store.people?.find((one) => alike(one.name, name))) || null;

/** The face of a player whose name is that of a person. */
export function faceOf(player) {
  const person = called(player.name);
  return person && (person.picture || person.token) ? face(person, "small") : null;
}

/** Whoever has this phone, where that was said. */
export const owner = () => called(store.me.label);

const form = () => document.querySelector("form.setup");
const names = () => [...(form()?.querySelectorAll("input[name^=name-]") ?? [])];
const same = (field, name) => alike(field.value, name);
const plays = (field) => form().querySelector(`input[name=plays][value="${field.name.slice(5)}"]`);

/** Who of the house is here tonight: a tap seats somebody, another lets the seat go. `before` are the names at first. */
export function whoIsHere(before) {
  if (!store.people?.length) return null;
  const seated = form() ? names().filter((field) => plays(field)?.checked ?? true).map((field) => field.value.trim()) : before;
  const here = new Set(seated.map((name) => name.toLocaleLowerCase()));
  return h("fieldset", { class: "here", "data-key": "here" },
    h("legend", null, t("Who is here tonight?")),
    h("div", { class: "row" }, store.people.map((person) =>
      h("button", { type: "button", class: "person", "data-do": "seat-person", "data-person": person.id, "data-key": `person-${person.id}`,
        "aria-pressed": String(here.has(person.name.toLocaleLowerCase())) }, face(person), person.name))));
}

function choose(select, colour) {
  const other = [...form().querySelectorAll("select[name^=colour-]")].find((one) => one !== select && one.value === colour);
  if (other) other.value = select.value;
  select.value = colour;
}

function seatAt(field, person) {
  field.value = person.name;
  const box = plays(field);
  if (box) box.checked = true;
  const select = form().querySelector(`select[name=colour-${field.name.slice(5)}]`);
  if (select && [...select.options].some((one) => one.value === person.colour)) choose(select, person.colour);
}

/** Seat a person, or let the seat go; `more` makes room for one more where there is any. */
export function seatPerson({ person: id }, more) {
  const person = store.people?.find((one) => one.id === id);
  if (!person || !form()) return;
  const taken = names().find((field) => same(field, person.name));
  if (taken && (plays(taken)?.checked ?? true)) {
    taken.value = "";
    if (plays(taken)) plays(taken).checked = false;
  } else {
    const free = names().filter((field) => !field.value.trim() || same(field, person.name));
    const chosen = free.find((field) => field.name === `name-${person.colour}`)
      ?? free.find((field) => plays(field)?.checked) ?? free[0];
    if (chosen) {
      // Whoever is known takes the place of somebody without a name.
      const unnamed = plays(chosen) && !plays(chosen).checked && names().find((field) => plays(field).checked && !field.value.trim());
      if (unnamed) plays(unnamed).checked = false;
      seatAt(chosen, person);
    }
    else if (more()) requestAnimationFrame(() => seatPerson({ person: id }, () => false));
  }
  change(() => {});
}
