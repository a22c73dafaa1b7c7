// A guided first game: step by step, on pictures that the rules draw; the place that is asked for is tapped.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { gameButtons, gameName, orFirst } from "./games.js";
import { ask } from "./net.js";
import { picture } from "./picture.js";
import { clauses } from "./rulings.js";
import { chosenGame } from "./setup.js";
import { change, memory } from "./store.js";
import { code, said, t } from "./words.js";

/** The game that is learnt: the one in the address, else the one that is set up. */
const learnt = () => orFirst(location.hash.split("/")[1] ?? chosenGame());

const fetchedSteps = {};
/** How the reader got on with the step that is shown: the key of the step, whether it is done, what was tapped wrongly. */
let now = { key: null, done: false, wrong: 0 };

const place = (game) => memory.get("learn", {})[game] ?? 0;
const address = (game, step) => `/api/rules/${encodeURIComponent(game)}/learn/${step}?lang=${code()}`;

/** A step, asked for when it is first needed; null until it has come. */
function stepOf(game, step) {
  const key = `${game}/${step}/${code()}`;
  if (!(key in fetchedSteps)) {
    fetchedSteps[key] = null;
    ask(address(game, step)).then((found) => { fetchedSteps[key] = found; }, ({ status }) => {
      // A step that is not there will not come; one that did not come on the way is asked for again.
      if (status === 404) fetchedSteps[key] = { missing: true };
      else setTimeout(() => { delete fetchedSteps[key]; change(() => {}); }, 3000);
    }).then(() => change(() => {}));
  }
  return fetchedSteps[key];
}

function drawing(game, step, asked) {
  const lit = new Map(asked && now.wrong > 1 ? [[step.tap, [step.ask]]] : []);
  const node = picture(asked ? step.before : step.svg, {
    game, lit, chosen: [], about: asked || !step.tap ? [] : [step.tap], can: asked, every: true, costs: false, name: gameName(game),
  });
  // What is tapped here is no move of the game on the table.
  for (const one of node.querySelectorAll("[data-do=tap]")) one.dataset.do = "learn-tap";
  return node;
}

function tried({ words, clauses: ids }) {
  return h("div", { class: "learn-no" }, icon("scales"), h("p", null, h("strong", null, t("No.")), " ", said(words), " ", clauses(ids)));
}

function words(step, asked) {
  return [
    h("p", { class: "sentence", role: "status" }, asked ? said(step.ask) : said(step.text)),
    asked && now.wrong > 0 && h("p", { class: "note", role: "status" }, now.wrong > 1 ? t("Not there. The place is lit now.") : t("Not there. Look again.")),
    step.tried && tried(step.tried),
    !asked && h("p", { class: "learn-clauses" }, clauses(step.clauses)),
  ];
}

function ways(game, at, step, asked) {
  const go = (to, kind, name, label, off) => h("button", { type: "button", class: kind, "data-do": "learn-go", "data-step": to, disabled: off }, name && icon(name), label);
  return h("div", { class: "learn-ways" },
    go(at - 1, "second", "undo", t("Back"), at === 0),
    h("span", { class: "quiet" }, t("%(n)s of %(all)s", { n: at + 1, all: step.steps })),
    asked ? h("button", { type: "button", class: "second", "data-do": "learn-show" }, t("Show me"))
      : at + 1 < step.steps ? go(at + 1, "main", "play", t("Go on"))
        : h("a", { class: "main", href: "#", "data-do": "learn-end" }, icon("play"), t("To the table")));
}

/** Draw the room. */
export function room() {
  style("learn");
  const game = learnt();
  const at = place(game);
  const step = stepOf(game, at);
  if (now.key !== `${game}/${at}`) now = { key: `${game}/${at}`, done: false, wrong: 0 };
  const asked = Boolean(step?.tap) && !now.done;
  // The next step is here before it is wanted.
  if (step && at + 1 < step.steps) stepOf(game, at + 1);
  return [
    h("ul", { class: "games learn-games", "data-key": "learn-games", "aria-label": t("Which game?") }, gameButtons("learn-game", game)),
    h("section", { class: ["panel learn", asked && "asked"], "data-key": `learn-${game}-${at}` },
      !step ? h("p", { class: "quiet" }, t("One moment …"))
        : step.missing ? h("p", null, t("There is no guided first game for this one yet. Ask the referee whatever you like."))
          : [h("div", { class: "learn-words" }, h("h1", null, said(step.title)), words(step, asked), ways(game, at, step, asked)), drawing(game, step, asked)]),
  ];
}

function go(game, step) {
  memory.set("learn", { ...memory.get("learn", {}), [game]: step });
  change(() => {});
  document.querySelector(".learn")?.scrollIntoView({ block: innerWidth < 900 ? "start" : "nearest" });
}

export const ROOM_DO = {
  "learn-game": ({ game }) => { location.hash = `#learn/${game}`; },
  "learn-go": ({ step }) => go(learnt(), Number(step)),
  "learn-show": () => { now.done = true; change(() => {}); },
  "learn-end": () => { go(learnt(), 0); location.hash = "#"; },
  "learn-tap": ({ place: tapped }) => {
    if (tapped === stepOf(learnt(), place(learnt()))?.tap) now.done = true;
    else now.wrong += 1;
    change(() => {});
  },
};
