// The television: the board as large as the screen, scores and the last move beside it. Nothing here is tapped.

import { h, patch } from "./dom.js";
import { icon, playerName, playerOf, token, useSprite } from "./art.js";
import { keepAwake } from "./awake.js";
import { syncBoard, takeBoard } from "./board.js";
import { gameOf, has, offer, part } from "./games.js";
import { lazy } from "./lazy.js";
import { ask } from "./net.js";
import { LONG, picture } from "./picture.js";
import { GAMES } from "./registry.js";
import { toggleSounds } from "./sounds.js";
import { listen } from "./stream.js";
import { change, isHost, match, onChange, soundsOn, store } from "./store.js";
import { canSpeak, voiceOn, wishVoice } from "./voice.js";
import { learn, said, t } from "./words.js";

const page = JSON.parse(document.getElementById("page").textContent);
const slot = (id) => document.getElementById(id);
/** What is read from four metres, in pixels of the screen. */
const LEAST_PX = 24;
/** Lines stand out of the boxes of what they go round, in units of a drawing. */
const RIM = 2;

let lively = null;
const enliven = lazy(() => import("./lively.js"), "lively", (found) => { lively = found; });
let invitation = null;

function loudness() {
  if (!soundsOn()) return t("Sounds are off; the OK key or a click turns them on.");
  if (!canSpeak()) return t("Sounds are on; the OK key or a click turns them off.");
  return voiceOn() ? t("Sounds and voice are on; the OK key or a click turns them off.") : t("Sounds are on; the OK key or a click adds a voice.");
}

/** The way to the table, as a code too; the PIN, in the code or in figures, is for a television that the host opened. */
function invite() {
  if (isHost() && invitation === null) {
    invitation = {};
    ask("/api/table").then((table) => { invitation = table; change(() => {}); }).catch(() => { invitation = null; });
  }
  return h("section", { class: "tv-invite", "data-key": "invite" },
    h("h1", null, t("Nobody is playing yet")),
    h("img", { class: "code", src: invitation?.pin ? "/api/join.svg" : "/api/address.svg", alt: t("Code that opens this table on another phone") }),
    invitation?.pin && h("p", { class: "pin", role: "group", "aria-label": t("PIN of this table") }, invitation.pin),
    h("p", null, t("Others join at %(address)s", { address: invitation?.address ?? location.host })),
    h("p", { class: "tv-sounds", role: "status" }, icon(soundsOn() ? "sound" : "silent"), " ", loudness()));
}

/** What lies on the table, as everybody may see it: a television has no hand. */
function table(game) {
  if (has(game.game, "play")) return part(game.game, "play")?.television(game) ?? null;
  const { board } = store;
  if (board?.match !== game.id || board.seat !== null) return h("p", null, t("Drawing the board …"));
  return picture(board.svg, { game: game.game, lit: new Map(), chosen: [], about: board.about, can: false, costs: false, name: said(game.title) });
}

function now(game) {
  if (game.over) {
    const winners = (game.ranking[0] ?? []).map((colour) => playerName(playerOf(game, colour)));
    return [h("h1", null, icon("crown"), " ", winners.join(", ")), h("p", null, said(game.ranking_why))];
  }
  const player = game.players.find((one) => one.turn);
  return [
    h("h1", null, player ? t("%(who)s plays", { who: playerName(player) }) : game.round ? t("Round %(n)s", { n: game.round }) : said(game.title)),
    store.view.night.paused ? h("p", null, t("The night is paused.")) : null,
  ];
}

function scores(game) {
  const order = game.over ? game.ranking.flat().map((colour) => playerOf(game, colour)) : game.players;
  return h("ol", { class: "tv-scores", "aria-label": t("The score") }, order.map((player) =>
    h("li", { class: player.turn && !game.over && "on", "data-key": player.colour },
      token(player.colour, "large", game.game), h("span", { class: "name" }, playerName(player)), h("b", null, player.score),
      player.notes?.length ? h("small", null, player.notes.map((note) => h("span", null, said(note)))) : null)));
}

function beside(game) {
  const last = store.view.log.findLast((entry) => !entry.undone);
  return [
    h("div", { class: "tv-now", role: "status" }, now(game)),
    scores(game),
    last && h("p", { class: "tv-last", "data-key": "last" }, said(last)),
  ];
}

/** The newest whole sentences that there is room for: who looked away wants the end of what happened, not its beginning. */
function newest(node) {
  const sentences = node.textContent.match(/.+?(?:[.!?…](?=\s)\s*|$)/gs) ?? [];
  const tell = (from) => { node.textContent = (from ? "… " : "") + sentences.slice(from).join(""); };
  const fits = () => node.scrollHeight <= node.clientHeight + 1;
  if (fits()) return;
  let [cut, enough] = [0, sentences.length - 1];
  while (enough - cut > 1) {
    const middle = (cut + enough) >> 1;
    tell(middle);
    if (fits()) enough = middle;
    else cut = middle;
  }
  tell(enough);
}

/**
 * Of the rules' drawing leave out its paper, for the table is the paper here, and the rows above and below in which nothing stands;
 * where the screen is too narrow for a long board, the empty edges beside it as well. Tells how wide it is for its height.
 */
function crop(drawing) {
  const { x, y, width, height } = drawing.viewBox.baseVal;
  const parts = [...drawing.querySelectorAll(":scope > g:not(.spots) > *")];
  const paper = parts.find((one) => one.nodeName === "rect" && one.width.baseVal.value >= width);
  if (paper) paper.style.display = "none";
  const { a, e, f } = drawing.getScreenCTM() ?? { a: 0, e: 0, f: 0 };
  const boxes = parts.filter((one) => one !== paper && !one.classList.contains("place")).map((one) => one.getBoundingClientRect()).filter((box) => box.width || box.height);
  if (!a || !boxes.length) return width / height;
  const edge = (side, from, sign) => Math.max(...boxes.map((box) => sign * (box[side] - from) / a)) * sign + sign * RIM;
  const [top, bottom] = [Math.max(y, edge("top", f, -1)), Math.min(y + height, edge("bottom", f, 1))];
  const long = width > LONG * (bottom - top);
  const [left, right] = long ? [Math.max(x, edge("left", e, -1)), Math.min(x + width, edge("right", e, 1))] : [x, x + width];
  drawing.setAttribute("viewBox", [left, top, right - left, bottom - top].map((one) => one.toFixed(1)).join(" "));
  return (right - left) / (bottom - top);
}

/** What lies round a letter that is larger than its piece, so that it can be read beside it, too: light round dark ones. */
function rimOf(fill) {
  const [red, green, blue] = fill.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0];
  return red + green + blue > 384 ? "#10263a" : "#ffffff";
}

/** The box of a line of letters is so much higher than what is written in it. */
const AIR_PX = 5;

/** Letters that were made larger make room where they meet others now: those of two lines up and down, those of one to the side. */
function makeRoom(letters, larger) {
  const boxes = new Map(letters.map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => box.width));
  // Asked for behind a change, it would have the whole drawing laid out anew.
  const scales = new Map([...boxes.keys()].map((one) => [one, one.getScreenCTM().a]));
  const shove = (one, x, y) => {
    const a = scales.get(one);
    const { left, top, width, height } = boxes.get(one);
    boxes.set(one, new DOMRect(left + x, top + y, width, height));
    const [before = 0, above = 0] = one.style.translate.split(" ").map(parseFloat).filter(Number.isFinite);
    one.style.translate = `${(before + x / a).toFixed(2)}px ${(above + y / a).toFixed(2)}px`;
  };
  for (const one of larger) {
    for (const other of boxes.keys()) {
      const [a, b] = [boxes.get(one), boxes.get(other)];
      if (one === other || !a) continue;
      const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) - AIR_PX;
      if (x <= 0 || y <= 0) continue;
      if (x > y) {
        const [upper, lower] = a.top < b.top ? [one, other] : [other, one];
        shove(upper, 0, -y / 2);
        shove(lower, 0, y / 2);
      } else shove(a.left < b.left ? other : one, x + 1, 0);
    }
  }
}

/**
 * Letters of a drawing that are too small for a room are made as large as can be read; a folded one's have no size.
 * All are looked at before the first is changed: after a change the browser would lay the whole drawing out anew for each.
 */
function enlarge() {
  const letters = [...document.querySelectorAll("#board svg:not(.source, .slice) > * text, #board svg:not(.source, .slice) > text, #beside svg text")];
  const small = letters.flatMap((one) => {
    const { a, b } = one.getScreenCTM() ?? { a: 0, b: 0 };
    const scale = Math.hypot(a, b);
    const { fontSize, fill, stroke } = getComputedStyle(one);
    const rim = stroke === "none" && rimOf(fill);
    return scale && parseFloat(fontSize) * scale < LEAST_PX ? [[one, LEAST_PX / scale, rim]] : [];
  });
  for (const [{ style }, size, rim] of small) {
    style.fontSize = `${size.toFixed(2)}px`;
    if (rim) Object.assign(style, { stroke: rim, strokeWidth: `${(size / 6).toFixed(2)}px`, strokeLinejoin: "round", paintOrder: "stroke" });
  }
  if (small.length) makeRoom(letters, small.map(([one]) => one));
}

function draw() {
  const { view } = store;
  const game = match();
  slot("lost").hidden = store.link !== "lost";
  enliven();
  if (!view) return;
  lively?.before();
  patch(slot("board"), [game ? table(game) : invite()]);
  patch(slot("beside"), game ? beside(game) : []);
  const drawing = game && document.querySelector("#board [data-key=board] > svg, #board > svg");
  const box = drawing?.viewBox.baseVal;
  const ratio = !drawing ? 1 : drawing.matches(".board") ? crop(drawing) : box.width / box.height;
  document.body.style.setProperty("--ratio", ratio.toFixed(3));
  document.body.classList.toggle("flat", ratio > LONG);
  document.body.classList.toggle("sea", game ? gameOf(game.game).around === "sea" : false);
  document.body.classList.toggle("idle", !game);
  enlarge();
  const last = document.querySelector(".tv-last");
  if (last) newest(last);
  lively?.moved();
  lively?.after();
  if (game?.board) syncBoard();
}

await learn(page.language, page.words, () => change(() => {}));
useSprite(document.querySelector("link[rel=icon]").href.replace(/[^/]*$/, "icons.svg"));
// What a whole room looks at is nobody's seat, whoever's phone it hangs on.
store.me = { ...page.me, colour: null };
store.open = true;
offer(GAMES);
onChange(draw);
addEventListener("resize", draw);
draw();

/** Quiet, then sounds, then a voice too where there is one, then quiet again. */
function louder() {
  if (soundsOn() && canSpeak() && !voiceOn()) wishVoice(true);
  else {
    if (voiceOn()) wishVoice(false);
    toggleSounds();
  }
  change(() => {});
}

// Nothing is tapped here: the key OK of a remote control, or a click anywhere, is for sound and voice.
for (const event of ["click", "keydown"]) {
  addEventListener(event, ({ key }) => { if (!key || key === "Enter" || key === " ") louder(); });
}
window.speechSynthesis?.addEventListener("voiceschanged", () => change(() => {}));
listen(page, () => {}, takeBoard);
keepAwake(true);
