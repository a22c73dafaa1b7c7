// A position of Arctic that is laid by hand: landscape, River, power cards, and what each player has.

import { h } from "../../dom.js";
import { icon } from "../../art.js";
import { edit, group, number, toggle, whole } from "../../position-editor.js";
import { clauses } from "../../rulings.js";
import { said, t } from "../../words.js";
import { ANIMALS, LANDS, animal } from "./animals.js";

const MOST_PILE = 60;
const RIVER = [1, 2, 3, 4, 5, 6];
const SIDES = { fox: [11, 12], moose: [9, 10], walrus: [1, 2], orca: [7, 8], puffin: [3, 4], bear: [5, 6] };
const PACK = 30;

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
      group(t("Which side of it is up?"), SIDES[kind].map((n) => toggle("side", kind, n, (p.powers?.[kind] ?? SIDES[kind][0]) === n, `P.${n}`))),
      h("p", null, clauses(SIDES[kind].map((n) => `ARC-P.${n}`))),
    ];
  }
  return h("p", null, t("The companion counts this pile by itself."));
}

function arcticName(place, ctx) {
  const { p, words } = ctx;
  const target = arcticPlace(place, ctx);
  const river = t("The River");
  if (target.kind === "river") return cardIn(p, target.slot) ? t("%(name)s: %(what)s", { name: river, what: cardWords(cardIn(p, target.slot), words) }) : t("An empty place in the River");
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

const EDITOR = {
  choose: "count",
  hint: () => t("Tap what matters: a pile, a hand, a token, a card in the River, a power. Cards in the River that nobody has named are examples."),
  dock: arcticDock,
  turn: ({ p }) => [
    group(t("Whose turn is it?"), p.players.map((one, seat) => toggle("turn", seat + 1, null, p.to_move === seat + 1, one.name))),
    group(t("What is going on?"), [["A", t("A: cards are placed")], ["B", t("B: tokens move")], ["C", t("C: cards are drawn")], ["D", t("The turn ends")]].map(([id, words]) => toggle("phase", id, null, p.phase === id, words))),
  ],
  more: ({ p }) => [t("Cards placed or drawn already, the last round"), [
    ["A", "C"].includes(p.phase) ? number("count", "", p.count ?? 0, 12, t("cards placed or drawn in this phase")) : null,
    group(t("How far along is the game?"), [["normal", t("in the middle")], ["final", t("the Reserve is in play")], ["last", t("the last round")]].map(([id, words]) => toggle("stage", id, null, (p.stage ?? "normal") === id, words))),
  ]],
  name: arcticName,
  named: (position) => Object.keys(position.places).filter((name) => name.startsWith("river")),
  settle: examples,
  closes: ["river"],
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
for (const op of Object.keys(EDITOR.ops)) {
  const alter = EDITOR.ops[op];
  EDITOR.ops[op] = (p, ...facts) => { recount(p); alter(p, ...facts); };
}

export default EDITOR;
