// Igloo Pop on the page: cards round a village, and igloos that are shaken.

import { h } from "../../dom.js";
import { COLOURS, colourName, token } from "../../art.js";
import { nameField, whoIsHere } from "../../faces.js";
import { chosenIn, folded, readOptions, startBar } from "../../seats.js";
import { memory } from "../../store.js";
import { t } from "../../words.js";

/** Who sat here the last time on this device: `{colour: {on, name}}`; three players at first. */
function remembered() {
  return memory.get("players", { red: { on: true, name: "" }, blue: { on: true, name: "" }, green: { on: true, name: "" } });
}

function seat(colour, known) {
  const name = colourName(colour);
  return h("li", { class: "seat-choice" },
    h("label", { class: "on" },
      h("input", { type: "checkbox", name: "plays", value: colour, checked: Boolean(known?.on) }),
      token(colour, "large"),
      h("span", { class: "colour" }, name)),
    nameField({ name: `name-${colour}`, value: known?.name ?? "",
      autocapitalize: "words", enterkeyhint: "done", placeholder: t("Name"), "aria-label": t("Name of %(colour)s", { colour: name }) }));
}

function drawQuestion(draws) {
  return h("fieldset", { class: "choice", "data-key": "draw" },
    h("legend", null, t("Who draws the cards?")),
    h("label", null,
      h("input", { type: "radio", name: "draw", value: "true", checked: draws }),
      h("span", null, t("The companion draws; you lay them out"), h("em", null, ` (${t("usual")})`))),
    h("label", null,
      h("input", { type: "radio", name: "draw", value: "false", checked: !draws }),
      h("span", null, t("You draw, and enter the cards as they lie"))));
}

/** Who plays is ticked, each with the thaler of a colour. */
function form(title) {
  const known = remembered();
  const draws = memory.get("draw", true);
  const drawn = chosenIn("draw", String(draws)) === "true";
  return h("form", { class: "panel setup", "data-submit": "open-match", "data-key": "setup", novalidate: true },
    h("h2", null, title),
    h("p", { class: "quiet" }, t("Choose two to six thaler colours. A name is optional.")),
    whoIsHere(COLOURS.filter((colour) => known[colour]?.on).map((colour) => known[colour].name)),
    h("ul", { class: "seat-choices" }, COLOURS.map((colour) => seat(colour, known[colour]))),
    folded("rules-igloo-pop", drawn ? t("The companion draws the cards") : t("You draw the cards"), memory.get("options", {}), drawQuestion(draws)),
    startBar("shake"));
}

function read(data) {
  const on = data.getAll("plays");
  const keep = {};
  for (const colour of COLOURS) keep[colour] = { on: on.includes(colour), name: (data.get(`name-${colour}`) ?? "").trim() };
  const players = on.map((colour) => ({ colour, name: keep[colour].name }));
  if (players.length < 2) return { complaint: t("It takes at least two.") };
  const options = readOptions(data);
  const draw = data.get("draw") === "true";
  memory.set("players", keep);
  memory.set("options", options);
  memory.set("draw", draw);
  return { body: { players, options, draw } };
}

export default {
  seats: { least: 2, most: 6, colours: COLOURS, usual: 3 },
  setup: { form, read },
  scene: new URL("./scene.svg", import.meta.url).href,
  igloos: true,
  example: (say) => `${say.place} ${say.red} ${say.card}4`,
  words: () => ({ take: t("take"), return: t("return"), place: t("place"), pass: t("pass"), reveal: t("reveal"), card: t("card") }),
  parts: {
    play: () => import("./play.js"),
    moment: () => import("./moment.js"),
    dispute: () => import("./dispute.js"),
    sheet: () => import("./sheet.js"),
    position: () => import("./position.js"),
    pile: () => import("./pile.js"),
    round: () => import("./round.js"),
  },
};
