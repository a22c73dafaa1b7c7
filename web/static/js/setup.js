// Before a game: who plays, what the table agrees on, who draws the cards.

import { h } from "./dom.js";
import { COLOURS, colourName, icon, token } from "./art.js";
import { isHost, mayAct, memory, store } from "./store.js";
import { whoIsHere } from "./faces.js";
import { BOARDS, boardSetup, question, readBoardSetup } from "./seats.js";
import { t } from "./words.js";

export const GAMES = [["igloo-pop", "Igloo Pop"], ["iglu-iglu", "Iglu Iglu"], ["arctic", "Arctic"], ["ice-team", "Ice Team"]];

/** The game that is being set up: the one that was chosen, or the last one. */
export const chosenGame = () => store.game ?? memory.get("game", "igloo-pop");

function gameChoice(game) {
  return h("ul", { class: "games", "data-key": "games", "aria-label": t("Which game?") }, GAMES.map(([id, name]) =>
    h("li", null, h("button", { type: "button", class: "toggle", "data-do": "choose-game", "data-game": id, "aria-pressed": String(id === game) }, name))));
}

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
    h("input", { type: "text", name: `name-${colour}`, value: known?.name ?? "", maxlength: 30, autocomplete: "off",
      autocapitalize: "words", enterkeyhint: "done", placeholder: t("Name"), "aria-label": t("Name of %(colour)s", { colour: name }) }));
}

function drawQuestion() {
  const draws = memory.get("draw", true);
  return h("fieldset", { class: "choice", "data-key": "draw" },
    h("legend", null, t("Who draws the cards?")),
    h("label", null,
      h("input", { type: "radio", name: "draw", value: "true", checked: draws }),
      h("span", null, t("The companion draws; you lay them out"), h("em", null, ` (${t("usual")})`))),
    h("label", null,
      h("input", { type: "radio", name: "draw", value: "false", checked: !draws }),
      h("span", null, t("You draw, and enter the cards as they lie"))));
}

/** The way back into a series that is not won yet, with the players of its newest game. */
function goOn(series) {
  if (!series?.can_go_on) return null;
  return h("section", { class: "panel go-on", "data-key": "go-on" },
    h("h2", null, t("The series to %(n)s points", { n: series.to })),
    h("ul", { class: "row" }, Object.entries(series.totals).map(([colour, points]) =>
      h("li", { class: "one" }, token(colour), h("span", { class: "unseen" }, colourName(colour)), points))),
    h("button", { type: "button", class: "second", "data-do": "next-game" }, icon("shake"), t("Go on with these players")));
}

/** Draw the set-up; for those who may not open a game, that they wait for the host. */
export function setup(series) {
  const score = h("p", { "data-key": "to-score" }, h("a", { class: "second", href: "#score" }, icon("check"), t("Only count the score of a game that has ended")));
  if (!isHost()) {
    return h("section", { class: "panel welcome", "data-key": "welcome" },
      h("h1", null, t("Nobody plays yet")),
      h("p", null, mayAct() ? t("You are at the table. The host starts the game.")
        : t("You are watching. The host starts the game.")),
      !mayAct() && h("p", null, h("a", { class: "main", href: "/join" }, icon("people"), t("Join with the table's PIN"))),
      !mayAct() && h("p", { class: "quiet" },
        t("Host of this table? Open the link that the companion printed when it started, or ask it for a new one with: companion host")),
      score);
  }
  const game = chosenGame();
  if (game in BOARDS) return [score, goOn(series), gameChoice(game), boardSetup(game, GAMES.find(([id]) => id === game)[1])];
  const known = remembered();
  const options = store.options ?? [];
  const before = memory.get("options", {});
  return [score, goOn(series), gameChoice(game), h("form", { class: "panel setup", "data-submit": "open-match", "data-key": "setup", novalidate: true },
    h("h1", null, t("Igloo Pop: who plays?")),
    h("p", { class: "sentence" }, t("Choose two to six thaler colours. A name is optional.")),
    whoIsHere(COLOURS.filter((colour) => known[colour]?.on).map((colour) => known[colour].name)),
    h("ul", { class: "seat-choices" }, COLOURS.map((colour) => seat(colour, known[colour]))),
    h("div", { class: "choices" }, options.map((option) => question(option, before)), drawQuestion()),
    h("p", { class: "complaint", role: "alert", id: "setup-complaint" }),
    h("button", { type: "submit", class: "main" }, icon("shake"), t("Start the game")))];
}

/** Read the set-up form: the body of `open-match`, or a complaint. */
export function readSetup(form) {
  const game = chosenGame();
  memory.set("game", game);
  if (game in BOARDS) return readBoardSetup(game, form);
  const data = new FormData(form);
  const on = data.getAll("plays");
  const keep = {};
  for (const colour of COLOURS) keep[colour] = { on: on.includes(colour), name: (data.get(`name-${colour}`) ?? "").trim() };
  const players = on.map((colour) => ({ colour, name: keep[colour].name }));
  if (players.length < 2) return { complaint: t("At least two play.") };
  const names = players.map((player) => player.name.toLocaleLowerCase()).filter(Boolean);
  if (new Set(names).size < names.length) return { complaint: t("Two players have the same name.") };
  const options = {};
  for (const option of store.options ?? []) options[option.name] = JSON.parse(data.get(option.name));
  const draw = data.get("draw") === "true";
  memory.set("players", keep);
  memory.set("options", options);
  memory.set("draw", draw);
  return { body: { game: "igloo-pop", players, options, draw } };
}
