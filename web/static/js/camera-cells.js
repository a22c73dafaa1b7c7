// What lies in a place, in words and to be put right by hand.

import { h } from "./dom.js";
import { colourName } from "./art.js";
import { openDialog } from "./dialogs.js";
import { t } from "./words.js";

const KINDS = () => ({ inuit: t("inuit"), igloo: t("igloo"), fish: t("fish"), fox: t("fox"), bear: t("bear") });
const GROUNDS = () => ({ water: t("water"), floe: t("floe"), pack: t("pack"), land: t("land"), sea: t("open sea"), igloo: t("igloo with its fish"),
  searched: t("searched igloo"), start: t("Start"), village: t("Village"), plain: t("plain floe"), "plain-fragile": `${t("plain floe")}, ${t("cracked")}` });

/** The face of a tile or a die, as people say it. */
export const faceWords = (name) => ({
  bear: t("bear"), pack: t("pack"), drift: t("drift"), thaw: t("thaw"), harpoon: t("harpoon"), animals: t("animal movement"),
  plain: t("nothing"), paw: t("bear paws"), steal: t("theft"),
}[name] ?? name
  .replace(/^fish ?(\d)$/, (_, n) => t("fish %(n)s", { n }))
  .replace(/^endurance (\d)$/, (_, n) => t("endurance %(n)s", { n }))
  .replace(/^penguin(\d)/, (_, n) => t("penguins %(n)s", { n }))
  .replace(/^plain(?=-)/, t("nothing")).replace(/^drift(?=-)/, t("drift"))
  .replace(/-fragile$/, `, ${t("cracked")}`));

export const groundWords = (ground) => GROUNDS()[ground] ?? faceWords(ground);

export function thingWords({ kind, colour, value }) {
  const name = KINDS()[kind] ?? kind;
  if (colour !== undefined) return `${name} ${colourName(colour)}`;
  return value === undefined ? name : `${name} ${value}`;
}

/** What lies in a place, in one line. */
export function placeWords(place) {
  if (!place) return t("not seen");
  const things = (place.things ?? []).map((one) => `${thingWords(one)}${one.count > 1 ? ` ×${one.count}` : ""}`);
  return [groundWords(place.ground), ...things].join(", ");
}

/** The same, short enough for the picture: a letter for each ground and thing. */
export function placeSigns(place) {
  if (!place) return "?";
  const sign = (words) => words.charAt(0).toLocaleUpperCase();
  const things = (place.things ?? []).map(({ kind, colour, value, count }) => {
    const name = sign(KINDS()[kind] ?? kind) + (colour !== undefined ? sign(colourName(colour)) : value ?? "");
    return count > 1 ? `${count}${name}` : name;
  });
  return [sign(groundWords(place.ground)), things.join(" ")].filter(Boolean).join("\n");
}

/** Whether two places hold the same. */
export function alike(one, other) {
  const key = (place) => [place?.ground, ...(place?.things ?? []).map((x) => `${x.kind} ${x.colour ?? x.value ?? ""} ${x.count ?? 1}`).sort()].join(";");
  return key(one) === key(other);
}

function counts(table, place) {
  const here = (thing) => (place?.things ?? []).find((one) => one.kind === thing.kind && (one.colour ?? one.value) === (thing.colour ?? thing.value))?.count ?? 0;
  return h("fieldset", { class: "counts-of-place" },
    h("legend", null, t("What lies there?")),
    table.things.map((thing, n) => h("label", { class: "count-field" }, h("span", null, thingWords(thing)),
      h("input", { type: "number", name: `thing-${n}`, min: 0, max: thing.most, step: 1, value: here(thing), inputmode: "numeric" }))));
}

/** Ask what lies in a place; resolves to it, or to null. `words` are on the button that says so. */
export async function cellWindow(table, name, place, words = t("It is so: learn it")) {
  const form = await openDialog(t("Place %(name)s", { name }),
    h("form", { method: "dialog", "data-submit": "dialog-form" },
      h("fieldset", { class: "choice" },
        h("legend", null, t("What is the place itself?")),
        table.grounds.map((ground, n) => h("label", null,
          h("input", { type: "radio", name: "ground", value: ground, checked: ground === (place?.ground ?? table.grounds[0]) || (!place && !n) }),
          h("span", null, groundWords(ground))))),
      counts(table, place),
      h("button", { type: "submit", class: "main" }, words)));
  if (!form) return null;
  const things = table.things.map(({ most, ...thing }, n) => ({ ...thing, count: Number(form.get(`thing-${n}`)) || 0 })).filter((one) => one.count > 0);
  return { ground: form.get("ground"), things };
}
