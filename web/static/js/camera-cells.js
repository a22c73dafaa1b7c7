// What lies in a place of a game, in words and to be put right by hand.

import { h } from "./dom.js";
import { colourName } from "./art.js";
import { openDialog } from "./dialogs.js";
import { gameOf } from "./games.js";
import { t } from "./words.js";

const placesOf = (game) => gameOf(game).places ?? {};
const kindWords = (game, kind) => placesOf(game).things?.()[kind] ?? kind;

export const groundWords = (game, ground) => placesOf(game).grounds?.()[ground] ?? placesOf(game).ground?.(ground) ?? ground;

export function thingWords(game, { kind, colour, value }) {
  const name = kindWords(game, kind);
  if (colour !== undefined) return `${name} ${colourName(colour)}`;
  return value === undefined ? name : `${name} ${value}`;
}

/** What lies in a place, in one line. */
export function placeWords(game, place) {
  if (!place) return t("not seen");
  const things = (place.things ?? []).map((one) => `${thingWords(game, one)}${one.count > 1 ? ` ×${one.count}` : ""}`);
  return [groundWords(game, place.ground), ...things].join(", ");
}

/** The same, short enough for the picture: a letter for each ground and thing. */
export function placeSigns(game, place) {
  if (!place) return "?";
  const sign = (words) => words.charAt(0).toLocaleUpperCase();
  const things = (place.things ?? []).map(({ kind, colour, value, count }) => {
    const name = sign(kindWords(game, kind)) + (colour !== undefined ? sign(colourName(colour)) : value ?? "");
    return count > 1 ? `${count}${name}` : name;
  });
  return [sign(groundWords(game, place.ground)), things.join(" ")].filter(Boolean).join("\n");
}

/** Whether two places hold the same. */
export function alike(one, other) {
  const key = (place) => [place?.ground, ...(place?.things ?? []).map((x) => `${x.kind} ${x.colour ?? x.value ?? ""} ${x.count ?? 1}`).sort()].join(";");
  return key(one) === key(other);
}

function counts(game, table, place) {
  const here = (thing) => (place?.things ?? []).find((one) => one.kind === thing.kind && (one.colour ?? one.value) === (thing.colour ?? thing.value))?.count ?? 0;
  return h("fieldset", { class: "counts-of-place" },
    h("legend", null, t("What lies there?")),
    table.things.map((thing, n) => h("label", { class: "count-field" }, h("span", null, thingWords(game, thing)),
      h("input", { type: "number", name: `thing-${n}`, min: 0, max: thing.most, step: 1, value: here(thing), inputmode: "numeric" }))));
}

/** Ask what lies in a place; resolves to it, or to null. `words` are on the button that says so. */
export async function cellWindow(game, table, name, place, words = t("That’s right: learn it")) {
  const form = await openDialog(t("Place %(name)s", { name }),
    h("form", { method: "dialog", "data-submit": "dialog-form" },
      h("fieldset", { class: "choice" },
        h("legend", null, t("What is the place itself?")),
        table.grounds.map((ground, n) => h("label", null,
          h("input", { type: "radio", name: "ground", value: ground, checked: ground === (place?.ground ?? table.grounds[0]) || (!place && !n) }),
          h("span", null, groundWords(game, ground))))),
      counts(game, table, place),
      h("button", { type: "submit", class: "main" }, words)));
  if (!form) return null;
  const things = table.things.map(({ most, ...thing }, n) => ({ ...thing, count: Number(form.get(`thing-${n}`)) || 0 })).filter((one) => one.count > 0);
  return { ground: form.get("ground"), things };
}
