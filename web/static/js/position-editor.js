// What is laid by hand, game by game: what a tap on a place offers, what it alters in the position, how places are called.

import { h } from "./dom.js";
import { COLOURS, cardName, colourName, icon, playerName, token } from "./art.js";
import { circle } from "./circle.js";
import { cardPicker } from "./play.js";
import { ANIMALS, animal } from "./score.js";
import { layoutName } from "./seats.js";
import { clauses } from "./rulings.js";
import { said, t } from "./words.js";

const IGLOOS = 12;
const THALERS = 10;
const MOST_BEARS = 4;
const MOST_PILE = 60;
const RIVER = [1, 2, 3, 4, 5, 6];
const LANDS = [0, 1, 3, 6, 10, 15];
const SIDES = { fox: [11, 12], moose: [9, 10], walrus: [1, 2], orca: [7, 8], puffin: [3, 4], bear: [5, 6] };
const PACK = 30;

/** A button that alters the position: `op` with up to two facts. */
const edit = (op, a, b, attributes, ...words) => h("button", { type: "button", class: "second", "data-do": "edit", "data-op": op, "data-a": a, "data-b": b,
  "data-key": `${op}-${a}-${b}`, ...attributes }, words);
const toggle = (op, a, b, on, ...words) => edit(op, a, b, { class: "toggle", "aria-pressed": String(on) }, ...words);
const group = (label, ...children) => h("div", { class: "editor-group", role: "group", "aria-label": label, "data-key": `group-${label}` },
  h("p", { class: "quiet" }, label), h("div", { class: "steps many" }, children));
const number = (op, a, value, most, words) => h("label", { class: "count-field" }, h("span", null, words),
  h("input", { type: "number", min: 0, max: most, step: 1, value: value ?? "", inputmode: "numeric", "data-input": "edit", "data-op": op, "data-a": a, "data-key": `${op}-${a}` }));
const whole = (text, most) => Math.min(most, Math.max(0, Math.trunc(Number(text) || 0)));

// --- Igloo Pop: the circle of cards

const numbersOf = (text) => (text && text !== "empty" ? text.split("/").map(Number) : null);

/** The cards as the circle draws them. */
function popCards(p) {
  return Object.entries(p.places).map(([place, here]) => {
    const numbers = numbersOf(here?.ground);
    return { place, numbers, unnamed: !here?.ground, points: numbers ? 4 - numbers.length : 0,
      igloos: (here?.things ?? []).map((one) => ({ colour: one.colour, number: one.value ?? null })) };
  });
}

const popPlayers = (p) => p.players.map((one) => ({ ...one, cards: (one.cards ?? []).map((card) => ({ numbers: numbersOf(card) })) }));

function popCard({ p, place, open }) {
  const card = popCards(p).find((one) => one.place === place);
  const n = place.replace("card", "");
  const used = new Set(popCards(p).flatMap((one) => one.igloos.map((it) => it.number)));
  return [
    group(t("Whose igloo is placed on card %(n)s?", { n }), p.players.map((one) => edit("igloo", one.colour, null, null, token(one.colour, "", p.game), colourName(one.colour)))),
    card.igloos.length ? h("ul", { class: "editor-list" }, card.igloos.map((one, i) => h("li", { "data-key": `igloo-${i}` },
      token(one.colour, "", p.game), h("span", null, colourName(one.colour)),
      h("select", { "data-change": "edit", "data-op": "number", "data-a": i, "aria-label": t("Which number is under this igloo?") },
        h("option", { value: "" }, "?"),
        Array.from({ length: IGLOOS }, (_, at) => at + 2).map((it) => h("option", { value: it, selected: it === one.number, disabled: used.has(it) && it !== one.number }, it))),
      edit("no-igloo", i, null, { class: "round-button", "aria-label": t("Take this igloo away") }, icon("close"))))) : null,
    toggle("open", "card", null, open === "card", card.numbers ? t("Card %(n)s: %(card)s", { n, card: cardName(card.numbers) }) : t("Which card?")),
    open === "card" ? [
      cardPicker({ cards: popCards(p), players: popPlayers(p) }, place, "editor-card"),
      h("div", { class: "steps many" }, edit("ground", "", null, null, t("a card that nobody named")), edit("ground", "empty", null, null, t("no card"))),
    ] : null,
  ];
}

/** A thaler goes from its owner onto the card, or comes back; where nobody said how many are left, they are counted. */
function staked(p, colour, n) {
  const one = p.players.find((it) => it.colour === colour);
  if (one.own !== undefined) one.own = Math.min(THALERS, Math.max(0, one.own - n));
}

const POP = {
  seats: { all: COLOURS, least: 2 },
  hint: () => t("Tap a card to lay igloos on it. Cards that do not matter need no numbers."),
  drawing: ({ p, place }) => circle({ players: popPlayers(p), results: [], cards: popCards(p), phase: "shaking",
    village_left: IGLOOS - Object.values(p.places).reduce((sum, one) => sum + (one?.things.length ?? 0), 0) - p.players.filter((one) => one.in_hand).length },
  { action: "tap", picked: place, lines: [t("The village"), ""] }),
  dock: popCard,
  turn: ({ p }) => [
    group(t("What is going on?"), [["shaking", t("All shake")], ["checking", t("The check")], ["ready", t("Before the count to three")]].map(([id, words]) =>
      toggle("phase", id, null, p.phase === id, words))),
    p.phase === "shaking" ? group(t("Who has an igloo in hand?"), p.players.map((one) => toggle("hand", one.colour, null, one.in_hand === true, token(one.colour, "", p.game), colourName(one.colour)))) : null,
    p.phase === "shaking" ? group(t("Who has passed?"), p.players.map((one) => toggle("passed", one.colour, null, one.passed === true, token(one.colour, "", p.game), colourName(one.colour)))) : null,
  ],
  more: ({ p }) => [t("Thalers"), p.players.map((one) => h("fieldset", { "data-key": one.colour }, h("legend", null, token(one.colour, "", p.game), " ", playerName(one)),
    number("own", one.colour, one.own ?? THALERS - Object.values(p.places).reduce((sum, here) => sum + (here?.things ?? []).filter((it) => it.colour === one.colour).length, 0), THALERS, t("own thalers left")),
    number("captured", one.colour, one.captured ?? 0, 50, t("thalers won from others"))))],
  name: () => null,
  ops: {
    igloo: (p, place, colour) => {
      p.places[place] ??= { ground: null, things: [] };
      p.places[place].things.push({ kind: "igloo", colour, count: 1 });
      staked(p, colour, 1);
    },
    "no-igloo": (p, place, i) => {
      const [gone] = p.places[place].things.splice(Number(i), 1);
      staked(p, gone.colour, -1);
    },
    number: (p, place, i, n) => {
      const thing = p.places[place].things[Number(i)];
      if (n) thing.value = Number(n);
      else delete thing.value;
      if (n) p.phase = "checking";
    },
    ground: (p, place, text) => {
      p.places[place] = { things: [], ...p.places[place], ground: text || null };
      delete p.piles;
    },
    phase: (p, place, phase) => {
      p.phase = phase;
      for (const field of ["ended_by", "results"]) delete p[field];
      for (const one of p.players) if (phase !== "shaking") [one.in_hand, one.passed] = [false, false];
    },
    hand: (p, place, colour) => { const one = p.players.find((it) => it.colour === colour); one.in_hand = !one.in_hand; },
    passed: (p, place, colour) => { const one = p.players.find((it) => it.colour === colour); one.passed = !one.passed; },
    own: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).own = whole(n, THALERS); },
    captured: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).captured = whole(n, 50); },
    seat: (p, place, colour) => {
      const on = new Set(p.players.map((one) => one.colour));
      if (on.has(colour) && on.size > POP.seats.least) on.delete(colour);
      else on.add(colour);
      p.players = COLOURS.filter((one) => on.has(one)).map((one) => p.players.find((it) => it.colour === one) ?? { name: playerName({ colour: one }), colour: one });
      for (const here of Object.values(p.places).filter(Boolean)) here.things = here.things.filter((one) => on.has(one.colour));
    },
  },
};

// --- Ice Team: boards of floes

const bearsOn = (p, place, colour) => (p.places[place]?.things ?? []).find((one) => one.colour === colour)?.count ?? 0;

function faceName(face, words) {
  return { sea: t("open sea"), igloo: t("an igloo with its fish"), searched: t("a searched igloo"), floe: t("any floe"), start: t("Start"), village: t("Village") }[face] ?? said(words[face]);
}

function iceSpace({ p, place, words, open }) {
  const here = p.places[place];
  if (place === "start") return h("p", null, t("Bears that stand nowhere else wait here."));
  if (place === "village") {
    return p.players.map(({ colour }) => group(t("Bears at home: %(who)s", { who: colourName(colour) }),
      Array.from({ length: MOST_BEARS + 1 }, (_, n) => toggle("bears", colour, n, bearsOn(p, place, colour) === n, n))));
  }
  const built = ["igloo", "searched"].includes(here.ground);
  const faces = built ? ["igloo", "searched"] : ["floe", ...Object.keys(words), "sea"];
  const often = built ? faces : ["floe", "plain", "penguin1", "penguin2", "penguin3", "drift", "paw", "sea"].filter((face) => faces.includes(face));
  const shown = open === "faces" || !often.includes(here.ground) ? faces : often;
  return [
    group(t("Who stands on %(place)s?", { place }), p.players.map(({ colour }) => toggle("bear", colour, null, bearsOn(p, place, colour) > 0, token(colour, "", p.game), t("bear: %(colour)s", { colour: colourName(colour) })))),
    group(t("What lies on %(place)s?", { place }), [
      ...shown.map((face) => toggle("face", face, null, here.ground === face, faceName(face, words))),
      shown.length < faces.length ? toggle("open", "faces", null, false, t("More …")) : null]),
  ];
}

/** Whose bear stands on which space, and what lies there. */
function iceName(place, { p, words }) {
  const here = p.places[place];
  if (!here) return place;
  const bears = here.things.filter((one) => one.count > 0).map((one) => `${t("bear: %(colour)s", { colour: colourName(one.colour) })}${one.count > 1 ? ` ×${one.count}` : ""}`);
  return [["start", "village"].includes(place) ? faceName(place, words) : t("%(name)s: %(what)s", { name: place, what: faceName(here.ground, words) }), ...bears].join(", ");
}

/** Whose turn it is now is a new action: what was under way is over. */
function anew(p) {
  for (const field of ["to_move", "phase", "pending", "loser"]) delete p[field];
}

const ICE = {
  hint: () => t("Tap a space to put a bear there, or to say what the floe shows. What does not matter may stay as it is."),
  dock: iceSpace,
  turn: ({ p }) => [
    group(t("Whose turn is it?"), p.players.map(({ colour }) => toggle("turn", colour, null, p.turn === colour, token(colour, "", p.game), colourName(colour)))),
    group(t("How many actions are left?"), [2, 1].map((n) => toggle("actions", n, null, p.actions === n, n))),
  ],
  more: ({ p }) => [t("Fish that were caught"), p.players.map((one) => h("fieldset", { "data-key": one.colour }, h("legend", null, token(one.colour, "", p.game), " ", playerName(one)),
    number("fresh", one.colour, one.fresh ?? 0, 99, t("fresh fish")), number("frozen", one.colour, one.frozen ?? 0, 99, t("frozen fish"))))],
  name: iceName,
  taken: (p) => { p.places.start.things = []; },
  ops: {
    bear: (p, place, colour) => {
      const there = bearsOn(p, place, colour) > 0;
      p.places[place].things = there ? [] : [{ kind: "bear", colour, count: 1 }];
      if (!there && p.places[place].ground === "sea") p.places[place].ground = "floe";
    },
    bears: (p, place, colour, n) => { p.places[place].things = [...p.places[place].things.filter((one) => one.colour !== colour), { kind: "bear", colour, count: Number(n) }]; },
    face: (p, place, face) => { p.places[place].ground = face; },
    turn: (p, place, colour) => { anew(p); p.turn = colour; },
    actions: (p, place, n) => { anew(p); p.actions = Number(n); },
    fresh: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).fresh = whole(n, 99); },
    frozen: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).frozen = whole(n, 99); },
  },
};

// --- Arctic: landscape, River, power cards, and what each player has

const cardIn = (p, slot) => { const [one] = p.places[`river${slot}`]?.things ?? []; return one ? `${one.kind}-${one.value}-${one.companion}` : null; };
const laidCard = (name) => { const [kind, value, companion] = name.split("-"); return { kind, value: Number(value), companion, count: 1 }; };
const ownerOf = (p, kind) => p.players.findIndex((one) => one.powers?.includes(kind));
const zone = (cards) => (Array.isArray(cards) ? cards : Array.from({ length: cards ?? 0 }, () => "?"));
const PARTS = ["pile", "hand", "penalty", "totem"];

/** What a place of the picture is: a part of the table, and which. */
function arcticPlace(place, { p, things }) {
  const [, kind, n] = /^([a-z]+?)(\d*)$/.exec(place);
  if (kind === "card") return { kind: "river", slot: RIVER.find((slot) => cardIn(p, slot) === things[Number(n)].id) };
  if (kind === "gap") return { kind: "river", slot: RIVER.find((slot) => !cardIn(p, slot)) };
  if (["player", "top", "hand", "penalty", "totem"].includes(kind)) return { kind: "player", seat: Number(n), part: { player: "pile", top: "pile" }[kind] ?? kind };
  return { kind, n: Number(n) };
}

const cardWords = (name, words) => (name === "?" ? t("a card that nobody named") : name === "down:?" ? t("face down") : said(words[name]) || animal(name) || name);

/** Twice a tap names a card: its animal, then the card. */
function chooseCard(op, { open, things }) {
  const kind = (open ?? "").startsWith("of-") ? open.slice(3) : null;
  return [
    group(t("Which animal is on the card?"), ANIMALS.map((one) => toggle("open", `of-${one}`, null, one === kind, animal(one)))),
    kind ? group(t("Which card: its value, and its companion?"), things.filter((one) => one.id.startsWith(`${kind}-`)).sort((a, b) => b.id.split("-")[1] - a.id.split("-")[1]).map((one) => {
      const [, value, companion] = one.id.split("-");
      return edit(op, one.id, null, null, h("b", null, value), " ", animal(companion));
    })) : null,
  ];
}

const inZone = (op, cards, words) => cards.length ? h("ul", { class: "editor-list" }, cards.map((name, i) => h("li", { "data-key": `${op}-${i}-${name}` },
  h("span", null, cardWords(name, words)), edit(op, i, null, { class: "round-button", "aria-label": t("Take away: %(what)s", { what: cardWords(name, words) }) }, icon("close"))))) : h("p", { class: "quiet" }, t("no card"));

function arcticPlayer(ctx, { seat, part }) {
  const { p, words } = ctx;
  const one = p.players[seat];
  const names = { pile: t("Pile"), hand: t("Hand"), penalty: t("Penalty"), totem: t("Totem") };
  const cards = zone(one[part === "totem" ? "pile" : part]);
  const within = {
    pile: () => [inZone("unpile", cards, words), chooseCard("pile", ctx), h("div", { class: "steps many" }, edit("pile", "down:?", null, null, t("face down")))],
    hand: () => [h("div", { class: "steps many" }, edit("hand", "?", null, null, t("One more card that nobody named"))), inZone("unhand", cards, words), chooseCard("hand", ctx)],
    penalty: () => [h("div", { class: "steps many" }, edit("penalty", "?", null, null, t("One more card that nobody named"))), inZone("unpenalty", cards, words)],
    totem: () => group(t("Which totem?"), [toggle("totem", "?", null, (one.totem ?? "?") === "?", t("secret")), ...ANIMALS.map((name) => toggle("totem", name, null, one.totem === name, animal(name)))]),
  }[part]();
  return [
    group(one.name, PARTS.map((name) => h("button", { type: "button", class: "toggle", "data-do": "editor-place", "data-place": `${name === "pile" ? "top" : name}${seat}`, "data-key": `part-${name}`, "aria-pressed": String(name === part) }, names[name]))),
    within,
  ];
}

function arcticDock(ctx) {
  const { p, place } = ctx;
  const target = arcticPlace(place, ctx);
  if (target.kind === "player") return arcticPlayer(ctx, target);
  if (target.kind === "river") {
    return [chooseCard("river", ctx), h("div", { class: "steps many" }, cardIn(p, target.slot) ? edit("river", "", null, null, t("No card lies there")) : null)];
  }
  if (target.kind === "land") {
    return group(t("Which tokens stand on %(n)s?", { n: target.n }), ANIMALS.map((name) => toggle("token", name, null, p.places[place].things.some((one) => one.kind === name), animal(name))));
  }
  if (target.kind === "power") {
    const kind = ANIMALS[target.n];
    const owner = ownerOf(p, kind);
    return [
      group(t("Who has the power of the %(animal)s?", { animal: animal(kind) }), [toggle("owner", kind, -1, owner < 0, t("nobody")), ...p.players.map((one, seat) => toggle("owner", kind, seat, owner === seat, one.name))]),
      group(t("Which side of it lies up?"), SIDES[kind].map((n) => toggle("side", kind, n, (p.powers?.[kind] ?? SIDES[kind][0]) === n, `P.${n}`))),
      h("p", null, clauses(SIDES[kind].map((n) => `ARC-P.${n}`))),
    ];
  }
  return h("p", null, t("The companion counts this pile by itself."));
}

function arcticName(place, ctx) {
  const { p, words } = ctx;
  const target = arcticPlace(place, ctx);
  const river = t("The River");
  if (target.kind === "river") return cardIn(p, target.slot) ? t("%(name)s: %(what)s", { name: river, what: cardWords(cardIn(p, target.slot), words) }) : t("An empty place of the River");
  if (target.kind === "land") return [t("Landscape %(n)s", { n: target.n }), ...p.places[place].things.map((one) => animal(one.kind))].join(", ");
  if (target.kind === "power") return t("Power of the %(animal)s", { animal: animal(ANIMALS[target.n]) });
  if (target.kind === "player") {
    const { name } = p.players[target.seat];
    return { pile: t("Pile of %(who)s", { who: name }), hand: t("Hand of %(who)s", { who: name }), penalty: t("Penalty of %(who)s", { who: name }), totem: t("Totem of %(who)s", { who: name }) }[target.part];
  }
  return { pile: t("The pile"), reserve: t("The Reserve"), phase: t("Whose turn is it?") }[place] ?? place;
}

/** River cards that nobody named make room: they are of the packs that were named, and lie nowhere else. */
function examples(p, { things, named }) {
  const index = Object.fromEntries(things.map((one, i) => [one.id, i]));
  const bare = (name) => name.replace("down:", "");
  const used = new Set([...p.players.flatMap((one) => [...one.pile, ...zone(one.hand), ...zone(one.penalty)].map(bare)),
    ...RIVER.filter((slot) => named.includes(`river${slot}`)).map((slot) => cardIn(p, slot))].filter((name) => name in index));
  const packs = [...new Set([...used].map((name) => Math.floor(index[name] / PACK)))].sort();
  const [pack] = packs.length ? packs : [0];
  for (const slot of RIVER) {
    if (named.includes(`river${slot}`)) continue;
    const best = PACK * pack + 5 * (slot - 1) + ((slot - 1) % 5);
    const all = Array.from({ length: PACK }, (_, i) => PACK * pack + ((best + i) % PACK));
    const name = things[all.find((i) => !used.has(things[i].id))].id;
    used.add(name);
    p.places[`river${slot}`] = { ground: "river", things: [laidCard(name)] };
  }
}

/** What follows from the cards is counted anew. */
function recount(p) {
  for (const field of ["value", "held", "used", "pile_left", "reserve", "packs"]) delete p[field];
}

const seatOf = (place) => Number(/\d+$/.exec(place)[0]);
const add = (part) => (p, place, name) => { const one = p.players[seatOf(place)]; one[part] = [...zone(one[part]), name].slice(0, MOST_PILE); };
const away = (part) => (p, place, i) => { const one = p.players[seatOf(place)]; one[part] = zone(one[part]).filter((_, at) => at !== Number(i)); };

const ARCTIC = {
  count: { least: 2, most: 4 },
  hint: () => t("Tap what matters: a pile, a hand, a token, a card of the River, a power. Cards of the River that nobody named are examples."),
  dock: arcticDock,
  turn: ({ p }) => [
    group(t("Whose turn is it?"), p.players.map((one, seat) => toggle("turn", seat + 1, null, p.to_move === seat + 1, one.name))),
    group(t("What is going on?"), [["A", t("A: cards are placed")], ["B", t("B: tokens move")], ["C", t("C: cards are drawn")], ["D", t("The turn ends")]].map(([id, words]) => toggle("phase", id, null, p.phase === id, words))),
  ],
  more: ({ p }) => [t("Cards placed or drawn already, the last round"), [
    ["A", "C"].includes(p.phase) ? number("count", "", p.count ?? 0, 12, t("cards placed or drawn in this phase")) : null,
    group(t("How far is the game?"), [["normal", t("in the middle")], ["final", t("the Reserve is in play")], ["last", t("the last round")]].map(([id, words]) => toggle("stage", id, null, (p.stage ?? "normal") === id, words))),
  ]],
  name: arcticName,
  settle: examples,
  ops: {
    token: (p, place, kind) => {
      for (const value of LANDS) p.places[`land${value}`].things = p.places[`land${value}`].things.filter((one) => one.kind !== kind);
      p.places[place].things.push({ kind, count: 1 });
    },
    river: (p, place, name, b, ctx) => {
      const { slot } = arcticPlace(place, ctx);
      p.places[`river${slot}`] = { ground: "river", things: name ? [laidCard(name)] : [] };
      ctx.named.push(`river${slot}`);
    },
    pile: add("pile"), unpile: away("pile"), hand: add("hand"), unhand: away("hand"), penalty: add("penalty"), unpenalty: away("penalty"),
    totem: (p, place, name) => { p.players[seatOf(place)].totem = name; },
    owner: (p, place, kind, seat) => {
      for (const one of p.players) one.powers = (one.powers ?? []).filter((it) => it !== kind);
      if (Number(seat) >= 0) p.players[Number(seat)].powers.push(kind);
    },
    side: (p, place, kind, n) => { p.powers = { ...p.powers, [kind]: Number(n) }; },
    turn: (p, place, seat) => { p.to_move = Number(seat); delete p.count; },
    phase: (p, place, phase) => { p.phase = phase; delete p.count; },
    stage: (p, place, stage) => { p.stage = stage; },
    count: (p, place, a, n) => { p.count = whole(n, 12); },
    many: (p, place, n) => {
      p.players = Array.from({ length: Number(n) }, (_, i) => p.players[i] ?? { name: `P${i + 1}`, pile: [], hand: ["?", "?", "?"], penalty: 0, powers: [] });
      p.to_move = Math.min(p.to_move ?? 1, Number(n));
    },
  },
};
for (const op of Object.keys(ARCTIC.ops)) {
  const alter = ARCTIC.ops[op];
  ARCTIC.ops[op] = (p, ...facts) => { recount(p); alter(p, ...facts); };
}

export const EDITORS = { "igloo-pop": POP, arctic: ARCTIC, "ice-team": ICE };

/** Who plays, or how many, where it is not settled by the box; or how its boards lie. */
export function whoPlays({ p, layouts }) {
  const { seats, count } = EDITORS[p.game];
  if (seats) return group(t("Who plays?"), seats.all.map((colour) => toggle("seat", colour, null, p.players.some((one) => one.colour === colour), token(colour, "", p.game), colourName(colour))));
  if (layouts.length > 1) return group(t("How do the boards lie?"), layouts.map((name) =>
    h("button", { type: "button", class: "toggle", "data-do": "position-layout", "data-layout": name, "data-key": `layout-${name}`, "aria-pressed": String(p.layout === name) }, layoutName(name))));
  if (!count) return null;
  return group(t("How many play?"), Array.from({ length: count.most - count.least + 1 }, (_, i) => count.least + i).map((n) => toggle("many", n, null, p.players.length === n, n)));
}

