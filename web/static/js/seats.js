// Before a game on a board: how many play, in which order they sit, with which colours, by which options.

import { h } from "./dom.js";
import { colourName, icon, token } from "./art.js";
import { boxButtons } from "./dialogs.js";
import { gameOf } from "./games.js";
import { clauses } from "./rulings.js";
import { nameField, whoIsHere } from "./faces.js";
import { memory, store } from "./store.js";
import { said, t, tn } from "./words.js";

const seatsOf = (game) => gameOf(game).seats;

const recall = (game) => memory.get(`seats.${game}`, { count: seatsOf(game).least, colours: seatsOf(game).colours, names: [] });

/** How many are chosen to play, as the form shows it now. */
const counted = (game) => Math.min(store.many ?? recall(game).count, seatsOf(game).most);

function howMany(game) {
  const { least, most } = seatsOf(game);
  if (least === most) return null;
  const now = counted(game);
  return h("fieldset", { class: "choice inline", "data-key": `count-${game}` },
    h("legend", null, t("How many play?")),
    Array.from({ length: most - least + 1 }, (_, i) => least + i).map((n) =>
      h("label", null, h("input", { type: "radio", name: "count", value: n, checked: n === now, "data-change": "count" }), h("span", null, n))));
}

function seatRow(game, index, count, before) {
  const { colours, choose, of } = seatsOf(game);
  const open = of?.(count) ?? colours;
  const colour = open.includes(before.colours[index]) && choose ? before.colours[index] : open[index];
  return h("li", { class: "seat-choice", "data-key": `seat-${game}-${index}` },
    choose
      ? h("select", { name: `colour-${index}`, "aria-label": t("Colour of player %(n)s", { n: index + 1 }) },
        open.map((one) => h("option", { value: one, selected: one === colour }, colourName(one))))
      : h("span", { class: "on" }, token(colour, "large"), h("span", { class: "colour" }, colourName(colour))),
    nameField({ name: `name-${index}`, value: before.names[index] ?? "",
      autocapitalize: "words", enterkeyhint: "done", placeholder: t("Name"), "aria-label": t("Name of player %(n)s", { n: index + 1 }) }));
}

/** What a table settled: the house by vote, else the last time, else the usual. */
function settled(option, before) {
  const wanted = option.house ?? before[option.name];
  return option.values.some((one) => one.value === wanted) ? wanted : option.values[0].value;
}

/** A question that the table settles before a game; `before` is what it settled the last time. */
function question(option, before) {
  const chosen = settled(option, before);
  return h("fieldset", { class: "choice", "data-key": option.name },
    h("legend", null, said(option.question), " ", clauses([option.clause])),
    option.values.map((one, i) =>
      h("label", null,
        h("input", { type: "radio", name: option.name, value: JSON.stringify(one.value), checked: one.value === chosen }),
        h("span", null, said(one), i === 0 ? h("em", null, ` (${t("usual")})`) : null,
          one.value === option.house ? h("em", null, ` (${t("as this house voted")})`) : null))));
}

const WAYS = () => [
  ["arrange", t("With the box: the companion draws the set-up, you draw everything else and enter it"), t("With the box; the companion draws the set-up")],
  ["enter", t("With the box: you enter everything as it lies"), t("With the box; you enter everything")],
  ["draw", t("Without the box: the companion draws everything"), t("Without the box; the companion draws everything")],
];

const drawnBy = () => memory.get("box", "arrange");

/** Whether the companion draws the set-up of a game on a board. */
export const arranges = () => drawnBy() !== "enter";

/** What is chosen in the form that is shown, else what was before. */
export const chosenIn = (name, before) => document.querySelector("form.setup")?.elements[name]?.value || before;

/**
 * The questions before a game, folded away; one line says how it is played: `way` in words, and whether by the usual
 * rules. `before` are the options of the last time.
 */
export function folded(key, way, before, ...questions) {
  const own = (store.options ?? []).filter((option) => JSON.parse(chosenIn(option.name, JSON.stringify(settled(option, before)))) !== option.values[0].value);
  const rules = own.length ? tn("%(n)s house rule of your own", "%(n)s house rules of your own", own.length) : t("the usual rules");
  return h("details", { class: "extras", "data-key": key },
    h("summary", null, icon("gear"), h("span", null, t("How you play"), h("small", null, `${way} · ${rules}`))),
    h("div", { class: "choices" }, questions, (store.options ?? []).map((option) => question(option, before))));
}

/** What ends a set-up, always in reach. */
export const startBar = (name) => h("div", { class: "start-bar", "data-key": "start-bar" },
  h("p", { class: "complaint", role: "alert", id: "setup-complaint" }),
  h("button", { type: "submit", class: "main" }, icon(name), t("Start the game")));

function boxQuestion() {
  const before = drawnBy();
  return h("fieldset", { class: "choice", "data-key": "box" },
    h("legend", null, t("Who draws tiles, cards and dice?")),
    WAYS().map(([value, words], i) =>
      h("label", null, h("input", { type: "radio", name: "box", value, checked: value === before }),
        h("span", null, words, i === 0 ? h("em", null, ` (${t("usual")})`) : null))));
}

/** A way in which the boards of a game's box lie, in words; a name of the owner's own is shown as it is. */
export const layoutName = (game, name) => gameOf(game).layouts?.()[name] ?? name;

/** How the boards of a box lie, where there are several ways. */
function layoutQuestion(game) {
  if ((store.layouts ?? []).length < 2) return null;
  const before = memory.get(`layout.${game}`, store.layouts[0]);
  return h("fieldset", { class: "choice", "data-key": "layout" },
    h("legend", null, t("How do the boards lie?")),
    store.layouts.map((name, i) => h("label", null,
      h("input", { type: "radio", name: "layout", value: name, checked: store.layouts.includes(before) ? name === before : i === 0 }),
      h("span", null, layoutName(game, name), i === 0 ? h("em", null, ` (${t("usual")})`) : null))));
}

/** The set-up of a game on a board. */
export function boardSetup(game, title) {
  const before = recall(game);
  const count = counted(game);
  const way = WAYS().find(([value]) => value === chosenIn("box", drawnBy()));
  return h("form", { class: "panel setup", "data-submit": "open-match", "data-key": `setup-${game}`, novalidate: true },
    h("h2", null, title),
    h("p", { class: "quiet" }, gameOf(game).sentence?.() ?? t("In the order you sit, clockwise. A name is optional.")),
    whoIsHere(before.names.slice(0, count)),
    howMany(game),
    h("ol", { class: "seat-choices" }, Array.from({ length: count }, (_, i) => seatRow(game, i, count, before))),
    folded(`rules-${game}`, way[2], memory.get(`options.${game}`, {}), boxQuestion(), layoutQuestion(game), gameOf(game).box && boxButtons(game)),
    startBar("play"));
}

/** What the table settled, as the form of a set-up says it. */
export const readOptions = (data) => Object.fromEntries((store.options ?? []).map(({ name }) => [name, JSON.parse(data.get(name))]));

/** Read the set-up form: the body of `open-match`, whether the companion lays out the set-up, or a complaint. */
export function readBoardSetup(game, data) {
  const { colours, choose } = seatsOf(game);
  const count = counted(game);
  const players = Array.from({ length: count }, (_, i) => ({
    colour: choose ? data.get(`colour-${i}`) : colours[i],
    name: (data.get(`name-${i}`) ?? "").trim(),
  }));
  if (new Set(players.map((player) => player.colour)).size < count) return { complaint: t("Each player has a colour of their own.") };
  const options = readOptions(data);
  const box = data.get("box");
  memory.set(`seats.${game}`, { count, colours: players.map((player) => player.colour), names: players.map((player) => player.name) });
  memory.set(`options.${game}`, options);
  memory.set("box", box);
  const layout = data.get("layout");
  if (layout) memory.set(`layout.${game}`, layout);
  return { body: { players, options, draw: box === "draw", setup: layout ? { layout } : {} }, arrange: box !== "enter" };
}
