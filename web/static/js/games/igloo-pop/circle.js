// The circle of nine cards round the village, as it lies on the table.

import { s } from "../../dom.js";
import { colourName, playerName, thaler } from "../../art.js";
import { list, t, tn } from "../../words.js";
import { cardName, igloo } from "./cards.js";

const RADIUS = 383;
const WIDTH = 190;
const HEIGHT = 220;

/** The middle of the nth of nine places, clockwise from the top, in a square from -500 to 500. */
function middle(index, stretch) {
  const angle = (index / 9) * 2 * Math.PI - Math.PI / 2;
  return [stretch * RADIUS * Math.cos(angle), RADIUS * Math.sin(angle)];
}

const placeNumber = (place) => Number(place.replace("card", ""));

const ROOM = WIDTH - 26;

/** A card's numbers: as large as fits; long ones are squeezed a little rather than made too small to read. */
function numbers(text) {
  const digits = text.replaceAll("/", "").length;
  // The widest serif digits that a reader may have (DejaVu Serif Bold).
  const ems = digits * 0.71 + (text.length - digits) * 0.38;
  const size = Math.min(88, (ROOM / ems) * 1.35);
  const squeeze = size * ems > ROOM ? { textLength: ROOM, lengthAdjust: "spacingAndGlyphs" } : {};
  return s("text", { class: "numbers", "text-anchor": "middle", y: (-58 + size * 0.36).toFixed(1),
    "font-size": size.toFixed(1), ...squeeze }, text);
}

function figures(points, y) {
  const wide = 54;
  return Array.from({ length: points }, (_, i) =>
    s("g", { class: "figure", transform: `translate(${(i - (points - 1) / 2) * wide - 26.4} ${y}) scale(2.2)` },
      s("circle", { cx: 12, cy: 7.6, r: 5 }),
      s("circle", { cx: 12, cy: 7.8, r: 2.3 }),
      s("path", { d: "M7.6 11.2 4.2 16.4M16.4 11.2l3.4 5.2M7.4 12.4 6 21.5h12l-1.4-9.1" })));
}

/** Lay igloos in up to three rows at the foot of a card; more of them are drawn smaller. */
function placeIgloos(igloos) {
  const many = igloos.length;
  const rows = many <= 3 ? 1 : many <= 8 ? 2 : 3;
  const columns = Math.ceil(many / rows);
  const scale = [1.5, 1.05, 0.76][rows - 1] * (columns > 4 ? 0.86 : 1);
  return igloos.map((one, i) => {
    const row = Math.floor(i / columns);
    const inRow = Math.min(columns, many - row * columns);
    const x = ((i % columns) - (inRow - 1) / 2) * 43 * scale;
    const y = HEIGHT / 2 - 18 - (rows - 1 - row) * 48 * scale;
    return igloo(one, x, y, scale);
  });
}

function describe(card, result, names) {
  const place = t("Place %(n)s", { n: placeNumber(card.place) });
  const parts = [place];
  if (card.numbers) {
    parts.push(t("card %(card)s", { card: cardName(card.numbers) }));
    parts.push(tn("worth %(n)s point", "worth %(n)s points", card.points));
  } else parts.push(card.unnamed ? t("a card that nobody named") : t("no card"));
  if (card.igloos.length) {
    const standing = card.igloos.map((one) => {
      const who = names[one.colour] ?? colourName(one.colour);
      return one.number === null ? who : t("%(who)s with number %(n)s", { who, n: one.number });
    });
    parts.push(t("igloos of %(players)s", { players: list(standing) }));
  }
  if (result) parts.push(result.winner ? t("won by %(who)s", { who: names[result.winner] }) : t("nobody wins it"));
  return parts.join(", ");
}

function oneCard(card, { action, picked, current, currentIgloo, result, fresh, names, stretch }) {
  const [x, y] = middle(placeNumber(card.place) - 1, stretch);
  const igloos = card.igloos.map((one, i) => ({ ...one, current: current && i === currentIgloo }));
  const button = action
    ? { role: "button", tabindex: 0, "data-do": action, "data-place": card.place, "aria-pressed": picked ? "true" : null }
    : { role: "img" };
  return s("g", {
      ...button,
      "data-key": card.place,
      "aria-label": describe(card, result, names),
      class: ["card", card.numbers ? `worth${card.points}` : "empty", picked && "picked", current && "now", fresh && "fresh", action && "live"],
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
    },
    card.numbers && s("rect", { class: "shadow", x: 3 - WIDTH / 2, y: 9 - HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: 18 }),
    s("rect", { class: "paper", x: -WIDTH / 2, y: -HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: 16 }),
    s("rect", { class: "frame", x: -WIDTH / 2 + 8, y: -HEIGHT / 2 + 8, width: WIDTH - 16, height: HEIGHT - 16, rx: 10 }),
    card.numbers
      ? [
          numbers(cardName(card.numbers)),
          !igloos.length && !result && figures(card.points, 18),
        ]
      : !result && s("text", { class: "place", "text-anchor": "middle", y: 16 }, placeNumber(card.place)),
    result && badge(result),
    placeIgloos(igloos));
}

function badge(result) {
  return s("g", { class: "badge" },
    result.winner
      ? thaler(result.winner, 0, HEIGHT / 2 - 62, 3.2)
      : s("path", { class: "none", d: `M-24 ${HEIGHT / 2 - 86}l48 48m0-48l-48 48` }));
}

/** An igloo of the village; `away`: where one stood. */
function home(away) {
  const dome = s("path", { class: ["home", away && "away"], d: "M-26 0v-7a26 26 0 0 1 52 0v7z" });
  return away ? dome : [
    s("ellipse", { class: "shadow", cx: 3, cy: 2, rx: 30, ry: 6 }), dome,
    s("path", { class: "bricks", d: "M-25-11h50M-18-22h36M0-33v11M-9-22v11M9-22v11M-17-11v11M17-11v11" }),
    s("path", { class: "door", d: "M-8 0v-4a8 8 0 0 1 16 0v4z" })];
}

function village(left, lines) {
  const igloos = Array.from({ length: 12 }, (_, i) => {
    const angle = (i / 12) * 2 * Math.PI - Math.PI / 2;
    return s("g", { transform: `translate(${(Math.cos(angle) * 172).toFixed(1)} ${(Math.sin(angle) * 168 + 16).toFixed(1)})` },
      home(i >= left));
  });
  return s("g", { class: "village", "aria-hidden": "true" },
    s("circle", { class: "edge", cy: 12, r: 216 }), s("circle", { class: "ground", r: 216 }),
    igloos,
    lines.map((line, i) =>
      s("text", { class: i ? "small" : "large", "text-anchor": "middle", y: i ? 42 : 6 }, line)));
}

const shown = (card, result) => (card.igloos.length ? null : result);

/**
 * Draw the table. `action` names what a tap on a card does (null: nothing), `picked` is the chosen place, `current`
 * the place and igloo whose number is wanted, `results` those of this check by place; `stretch` makes it wider than high.
 */
export function circle(match, { action = null, may = () => true, picked = null, current = null, lines = [], stretch = 1 }) {
  const names = Object.fromEntries(match.players.map((player) => [player.colour, playerName(player)]));
  const results = Object.fromEntries(match.results.map((result) => [result.place, result]));
  return s("svg", { class: "circle", viewBox: `${-500 * stretch} -500 ${1000 * stretch} 1000`, role: "group", "aria-label": t("The table") },
    village(match.village_left, lines),
    match.cards.map((card) =>
      oneCard(card, {
        action: may(card) ? action : null,
        picked: picked === card.place,
        current: current?.place === card.place,
        currentIgloo: current?.index,
        result: match.phase === "checking" || match.phase === "deal" ? shown(card, results[card.place]) : null,
        // Cards that were won last and laid anew: these are to be found in the box and put on the table.
        fresh: match.phase === "ready" && Boolean(results[card.place]?.winner),
        names,
        stretch,
      })));
}
