// The score sheet of Iglu Iglu: the board, by a tool and taps; and what the trophies come to.

import { h, s } from "../../dom.js";
import { colourName, letters, playerName } from "../../art.js";
import { onBoard } from "../../sheet-places.js";
import { t } from "../../words.js";

const COLUMNS = "abcdefgh";
const CORNERS = ["a1", "h1", "a8", "h8"];

const TOOLS = (seats) => [
  ["floe", t("floe")], ["pack", t("pack")], ["water", t("water")], ["clear", t("clear")],
  ...seats.flatMap((seat) => [[`inuit ${seat}`, t("inuit: %(colour)s", { colour: colourName(seat) })], [`igloo ${seat}`, t("igloo: %(colour)s", { colour: colourName(seat) })]]),
  ...[1, 2, 3].map((n) => [`fish ${n}`, t("fish %(n)s", { n })]), ...[1, 2, 3].map((n) => [`fox ${n}`, `${t("fox")} ${n}`]), ["bear 4", t("bear")],
];

const squareOf = (now, name) => now.squares[name] ?? { ground: CORNERS.includes(name) ? "land" : "water", things: {} };

function tapped(now, name) {
  const here = squareOf(now, name);
  const [kind, which] = now.tool.split(" ");
  let { ground } = here;
  let things = { ...here.things };
  if (kind === "clear") [ground, things] = [CORNERS.includes(name) ? "land" : "water", {}];
  else if (which === undefined) ground = CORNERS.includes(name) ? "land" : kind;
  else if (kind === "igloo") things[now.tool] = things[now.tool] ? 0 : 1;
  else things[now.tool] = ((things[now.tool] ?? 0) + 1) % 6;
  return { squares: { ...now.squares, [name]: { ground, things } }, unsure: now.unsure.filter((one) => one !== name) };
}

/** What is written on a piece: tribes by their letter, so that colour never stands alone; igloos are square. */
function mark(kind, which, count) {
  if (kind === "fish" || kind === "fox") return (kind === "fox" ? t("fox") : t("fish")).charAt(0) + which;
  if (kind === "bear") return "4";
  return kind === "inuit" && count > 1 ? `${letters(which)}${count}` : letters(which);
}

function thingWords(kind, which) {
  if (kind === "inuit" || kind === "igloo") return `${kind === "inuit" ? t("inuit") : t("igloo")} ${colourName(which)}`;
  return kind === "fish" ? t("fish %(n)s", { n: which }) : `${{ fox: t("fox"), bear: t("bear") }[kind] ?? kind} ${which}`;
}

function square(now, name, x, y) {
  const here = squareOf(now, name);
  const things = Object.entries(here.things).filter(([, count]) => count > 0);
  const words = things.map(([what, count]) => `${thingWords(...what.split(" "))}${count > 1 ? ` ×${count}` : ""}`);
  const ground = { land: t("land"), floe: t("floe"), pack: t("pack"), water: t("water") }[here.ground];
  // What is written on the pieces belongs to the name, for who calls a square by what is seen there.
  const written = things.map(([what, count]) => mark(...what.split(" "), count)).join("");
  return s("g", { class: ["square", here.ground, now.unsure.includes(name) && "unsure"], role: "button", tabindex: 0, "data-do": "square", "data-square": name, "data-key": name,
      "aria-label": [`${name}: ${ground}`, ...words].join(", ") + (written && `, ${written}`), transform: `translate(${x} ${y})` },
    s("rect", { width: 60, height: 60 }),
    things.map(([what, count], i) => {
      const [kind, which] = what.split(" ");
      const [cx, cy] = [16 + 28 * (i % 2), 22 + 24 * Math.floor(i / 2)];
      return s("g", { class: ["thing", kind, which], transform: `translate(${cx} ${cy})`, "aria-hidden": "true" },
        kind === "igloo" ? s("path", { d: "M-13 11V1a13 13 0 0 1 26 0v10z" }) : s("circle", { r: 12 }),
        s("text", { y: 5, "text-anchor": "middle" }, mark(kind, which, count)));
    }));
}

function editor(now) {
  return [
    h("div", { class: "steps tools-of-board", role: "group", "aria-label": t("What is put on a square") }, TOOLS(now.seats).map(([id, words]) =>
      h("button", { type: "button", class: "toggle", "data-do": "board-tool", "data-tool": id, "data-key": id, "aria-pressed": String(now.tool === id) }, words))),
    h("div", { class: "sheet-of-board", "data-key": "editor" },
      s("svg", { class: "board editor", viewBox: "-22 0 506 504", role: "group", "aria-label": "Iglu Iglu" },
        Array.from({ length: 64 }, (_, i) => square(now, `${COLUMNS[i % 8]}${8 - Math.floor(i / 8)}`, 60 * (i % 8), 60 * Math.floor(i / 8))),
        Array.from({ length: 8 }, (_, i) => [s("text", { class: "name", x: 60 * i + 30, y: 500, "text-anchor": "middle" }, COLUMNS[i]),
          s("text", { class: "name", x: -12, y: 60 * i + 36, "text-anchor": "middle" }, 8 - i)]))),
  ];
}

/** The box's tokens; foxes come last, for only with them the rules ask where their packs are. */
const TOKENS = [["fish", 3, 8], ["bear", 4, 4], ["fish", 2, 12], ["fish", 1, 8], ["fox", 3, 3], ["fox", 2, 4], ["fox", 1, 3]];

/** Trophies that make up each sum, out of one box, by seat; `missing` is what no token was left for. */
function trophies(now) {
  const left = TOKENS.map(([kind, value, count]) => ({ kind, value, count }));
  let missing = 0;
  const by = Object.fromEntries(now.seats.map((seat) => {
    let sum = now.values[seat].trophies ?? 0;
    const taken = [];
    for (const one of left) {
      const count = Math.min(one.count, Math.floor(sum / one.value));
      if (!count) continue;
      one.count -= count;
      sum -= count * one.value;
      taken.push({ kind: one.kind, value: one.value, count });
    }
    missing += sum;
    return [seat, taken];
  }));
  return { by, missing };
}

function position(now) {
  const places = {};
  for (const row of "12345678") for (const column of COLUMNS) places[column + row] = onBoard(squareOf(now, column + row));
  return { places, players: now.seats.map((seat) => ({ name: playerName({ colour: seat }), colour: seat })), trophies: trophies(now).by };
}

export default {
  start: () => ({ tool: "floe" }),
  photo: true,
  fields: () => [["trophies", t("sum of the trophies"), 85]],
  editor,
  position,
  wrong: (now) => (trophies(now).missing > 0 ? t("The trophies of one box do not make up these sums.") : null),
  does: {
    // What was reckoned stays while only another tool is taken.
    "board-tool": (now, { tool }) => ({ tool, sheet: now.sheet }),
    square: (now, { square: name }) => tapped(now, name),
  },
};
