// Which move of Igloo Pop is in dispute: said by choosing, and by a tap on the circle.

import { h } from "../../dom.js";
import { COLOURS, colourName } from "../../art.js";
import { t } from "../../words.js";
import { circle } from "./circle.js";

function choice(match) {
  const verbs = { take: t("takes an igloo"), return: t("returns the igloo"), place: t("places an igloo on"), pass: t("passes"), reveal: t("turns over an igloo on") };
  return h("form", { class: "row", "data-submit": "judge-choice", "data-key": "judge-pop" },
    h("select", { name: "colour", "aria-label": t("Who?") }, COLOURS.filter((one) => match.players.some((p) => p.colour === one)).map((one) => h("option", { value: one }, colourName(one)))),
    h("select", { name: "verb", "aria-label": t("What happened?") }, Object.entries(verbs).map(([id, words]) => h("option", { value: id }, words))),
    h("select", { name: "card", "aria-label": t("Which card?") }, match.cards.map((one, i) => h("option", { value: one.place }, t("Place %(n)s", { n: i + 1 })))),
    h("label", { class: "of-reveal" }, h("span", null, t("Number")),
      h("select", { name: "number" }, Array.from({ length: 12 }, (_, i) => h("option", { value: i + 2 }, i + 2)))),
    h("button", { type: "submit", class: "second" }, t("Ask the referee")));
}

function read(data) {
  const [verb, colour, card, number] = ["verb", "colour", "card", "number"].map((name) => data.get(name));
  return `${verb} ${verb === "reveal" ? `${card} ${number}` : verb === "place" ? `${colour} ${card}` : colour}`;
}

/** On the circle a tap says which card is meant. */
function tapped(place) {
  const card = document.querySelector("[data-key=judge-pop] select[name=card]");
  if (card) card.value = place;
  return Boolean(card);
}

export default {
  sentence: () => t("Tap the card, and say what was done."),
  drawing: (match, picked) => circle(match, { action: "tap", picked }),
  below: choice,
  read,
  tapped,
};
