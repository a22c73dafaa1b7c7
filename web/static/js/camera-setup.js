// The camera's part of the workshop: where the board lies, what the pieces look like, whether it follows the game.

import { h, style } from "./dom.js";
import { icon } from "./art.js";
import { alike, cellWindow, placeSigns, placeWords } from "./camera-cells.js";
import { CORNERS, overlay, placeOf } from "./camera-picture.js";
import { cameraPanel, chooseCamera } from "./camera-panel.js";
import { gameButtons, gameName, gameOf, games, has, orFirst } from "./games.js";
import { ask, showRefusal, tell } from "./net.js";
import { change, isHost, match, store } from "./store.js";
import { number, t, tn } from "./words.js";

const AGAIN_MS = 1200;
const LONG_MS = 60000;
const fresh = () => ({ game: null, table: null, requestedAt: 0, about: "", corners: null, chosen: 0, seen: null, busy: "", frame: 0, settle: null });
let now = fresh();

function alter(changes) {
  now = { ...now, ...changes };
  change(() => {});
}

/** Games that are played on a board have one that can be found; those of cards lie as they may. */
const onBoards = () => games().filter(({ id }) => !has(id, "play") && !has(id, "pile"));
/** The open game where it is followed by its cards, unless a board was chosen. */
const cardGame = () => (now.game === null && match() && has(match().game, "pile") ? match().game : null);
const chosen = () => now.game ?? orFirst(match()?.game, onBoards());
const path = (way = "") => `/api/camera/table/${chosen()}${way}`;

/** Do something that takes a while; what it answers is the table, and what is refused is shown. */
async function work(busy, doing) {
  alter({ busy });
  try {
    const found = await doing();
    alter({ busy: "", ...(found?.grounds ? { table: found } : {}) });
    return found;
  } catch (refused) {
    alter({ busy: "" });
    showRefusal(refused.error);
    return null;
  }
}

const post = (way, body) => tell(path(way), body, { signal: AbortSignal.timeout(LONG_MS) });

/** Ask for the table again when the camera, the record or the lessons have moved on. */
async function refresh() {
  if (cardGame()) return;
  const { follow, table } = store.camera;
  const about = [chosen(), follow?.state, follow?.note, table?.number, store.view?.state, now.table?.learning && Math.floor(Date.now() / AGAIN_MS)].join();
  if (about === now.about || Date.now() - now.requestedAt < AGAIN_MS) return;
  now.about = about;
  now.requestedAt = Date.now();
  try {
    const found = await ask(path());
    if (found.game === chosen()) alter({ table: found, frame: store.camera.table?.number ?? now.frame });
  } catch (refused) {
    if (refused.error) showRefusal(refused.error);
  }
}

let clock = null;
function ticking() {
  clock ??= setInterval(() => {
    if (location.hash.startsWith("#workshop/camera")) refresh();
    else { clearInterval(clock); clock = null; }
  }, AGAIN_MS / 2);
}

// --- where the board lies

const size = () => {
  const { camera } = store.camera;
  return now.table?.board?.size ?? (camera?.width ? [camera.width, camera.height] : null);
};

function how(board) {
  return { markers: t("Found by its four markers."), lines: t("Found by its own lines."), corners: t("Found by the corners that were tapped.") }[board.how] ?? t("Known from before.");
}

function standing(table) {
  const { board } = table;
  if (!board) return h("p", { class: "note" }, t("The camera does not know yet where the board lies."));
  return [
    h("p", { role: "status" }, how(board), " ",
      t("The grid may be off by %(part)s of a place (%(px)s pixels).", { part: `${number(board.error_place, 1)}\u00a0%`, px: number(board.error_px, 1) })),
    board.moved && h("p", { class: "note", role: "status" }, t("The board or the camera has moved. It is being followed; if the grid does not fit, find the board again.")),
  ];
}

function cells(table) {
  if (now.corners || !table.board) return {};
  return table.board.cells;
}

const read = () => now.seen ?? now.table?.seen ?? null;

function describe(name) {
  const seen = read();
  if (!seen) return {};
  const place = seen[name];
  const wrong = now.table.record && !alike(place, now.table.record[name]);
  return { words: placeSigns(chosen(), place), unsure: place?.unsure, wrong, tap: "camera-cell",
    label: t("%(name)s: %(what)s. Put it right.", { name, what: placeWords(chosen(), place) }) };
}

function finding(table) {
  const wide = size();
  if (!wide) return h("p", { class: "quiet" }, t("There is no picture yet."));
  return [
    overlay(`/api/camera/frame.jpg?n=${now.frame || store.camera.table?.number || 0}`, wide,
      { cells: cells(table), describe, corners: now.corners, chosen: now.chosen, alt: t("The newest picture") }),
    now.corners && h("p", { role: "status" }, t("Tap the board’s corner: %(where)s.", { where: CORNERS()[now.chosen] }),
      gameOf(chosen()).corners && [" ", gameOf(chosen()).corners()]),
    isHost() && h("div", { class: "row" },
      now.corners
        ? [h("button", { type: "button", class: "main", "data-do": "camera-corners-use", disabled: Boolean(now.busy) }, icon("check"), t("Use these corners")),
          h("button", { type: "button", class: "second", "data-do": "camera-corners-leave" }, t("Leave it"))]
        : [h("button", { type: "button", class: table.board ? "second" : "main", "data-do": "camera-find", disabled: Boolean(now.busy) }, icon("camera"), t("Find the board")),
          h("button", { type: "button", class: "second", "data-do": "camera-corners" }, t("Tap the four corners"))]),
  ];
}

// --- what the pieces look like

function teaching(table) {
  if (!table.board) return null;
  const seen = read();
  return h("section", { class: "panel", "data-key": "teach" },
    h("h2", null, t("What the pieces look like")),
    h("p", { role: "status" }, table.learning ? t("The camera is learning. This takes some seconds.")
      : table.lessons ? tn("%(n)s photo was taught.", "%(n)s photos were taught.", table.lessons) : t("Nothing has been taught yet.")),
    table.note && h("p", { class: "note" }, t(table.note)),
    h("div", { class: "row" },
      table.record && h("button", { type: "button", class: table.lessons ? "second" : "main", "data-do": "camera-teach", disabled: Boolean(now.busy) }, icon("check"),
        t("The board is as the record says: learn it")),
      table.taught && h("button", { type: "button", class: "second", "data-do": "camera-read", disabled: Boolean(now.busy) }, icon("camera"), t("Read the board"))),
    !table.record && h("p", { class: "quiet" }, t("Open a game and lay it out as it is drawn: the set-up teaches the most. Without a game, read the board and tap what is wrong.")),
    seen && h("p", { class: "quiet" }, t("Tap a place in the picture that was read wrongly: it is put right and learnt.")),
    seen && reading(table, seen));
}

function reading(table, seen) {
  const odd = Object.entries(seen).filter(([name, place]) => place.unsure || (table.record && !alike(place, table.record[name])));
  if (!odd.length) return h("p", { role: "status" }, t("Everything was read for sure."));
  return h("ul", { class: "plain readings" }, odd.map(([name, place]) => h("li", { "data-key": `read-${name}` },
    h("button", { type: "button", class: "small-button", "data-do": "camera-cell", "data-place": name }, h("b", null, name), " ", placeWords(chosen(), place),
      place.unsure ? ` (${t("unsure")})` : ""))));
}

// --- following

function byCards() {
  return h("section", { class: "panel", "data-key": "by-cards" },
    h("h2", null, gameName(cardGame())),
    h("p", null, t("The camera follows this game by its cards. They are taught from photos: no board has to be found.")),
    h("p", null, h("a", { href: "#photo" }, t("Score by photo"))));
}

function following() {
  const { follow } = store.camera;
  if (!follow) return null;
  return h("section", { class: "panel", "data-key": "following" },
    h("h2", null, t("Follow the game")),
    h("p", { role: "status" }, t(follow.note)),
    isHost() && h("div", { class: "row" },
      h("button", { type: "button", class: follow.following ? "second" : "main", "data-do": "camera-follow", "aria-pressed": String(follow.following) },
        icon(follow.following ? "pause" : "play"), follow.following ? t("Stop following") : t("Follow the game with the camera"))),
    isHost() && h("form", { "data-submit": "camera-settle", class: "row" },
      h("label", { for: "settle" }, t("Seconds the board must lie still before a move counts")),
      h("input", { id: "settle", name: "settle", type: "number", min: 0.3, max: 10, step: 0.1, required: true, inputmode: "decimal", value: (follow.settle_tenths ?? 4) / 10 }),
      h("button", { type: "submit", class: "second" }, t("Keep it"))));
}

/** Draw the part. */
export function part() {
  style("camera");
  ticking();
  refresh();
  const { table } = now;
  if (cardGame()) return [cameraPanel(match()), byCards(), following()];
  return [
    cameraPanel(match()),
    h("section", { class: "panel", "data-key": "finding" },
      h("h2", null, t("Where the board lies")),
      h("ul", { class: "games" }, gameButtons("camera-game", chosen(), onBoards())),
      table ? standing(table) : h("p", { class: "quiet" }, t("One moment …")),
      now.busy && h("p", { role: "status" }, now.busy),
      table && finding(table)),
    table && teaching(table),
    following(),
  ];
}

export function opened() {
  now = { ...fresh(), game: now.game };
}

function place(point) {
  const [wide, high] = size();
  const corners = now.corners.map((corner, n) => (n === now.chosen ? [Math.min(wide, Math.max(0, point[0])), Math.min(high, Math.max(0, point[1]))] : corner));
  return { corners };
}

document.addEventListener("click", (event) => {
  if (!now.corners || event.target.closest("[data-corner]")) return;
  const point = placeOf(event);
  if (point) alter({ ...place(point), chosen: (now.chosen + 1) % 4 });
});

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
document.addEventListener("keydown", (event) => {
  const corner = event.target.dataset?.corner;
  if (!now.corners || corner === undefined || !ARROWS[event.key]) return;
  event.preventDefault();
  const step = event.shiftKey ? 20 : 2;
  now.chosen = Number(corner);
  const [x, y] = now.corners[now.chosen];
  alter(place([x + step * ARROWS[event.key][0], y + step * ARROWS[event.key][1]]));
});

export const PART_DO = {
  "camera-game": ({ game }) => { now = { ...fresh(), game }; alter({}); },
  "camera-find": () => work(t("Looking for the board …"), () => post("/calibrate", {})),
  "camera-corners": () => {
    const [wide, high] = size() ?? [0, 0];
    if (!wide) return;
    const known = now.table?.board?.corners;
    alter({ corners: known ?? [[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.2, 0.8]].map(([x, y]) => [x * wide, y * high]), chosen: 0 });
  },
  "camera-corner": ({ corner }) => alter({ chosen: Number(corner) }),
  "camera-corners-leave": () => alter({ corners: null }),
  "camera-corners-use": async () => {
    if (await work(t("Looking for the board …"), () => post("/calibrate", { corners: now.corners }))) alter({ corners: null });
  },
  "camera-teach": () => work(t("Teaching …"), () => post("/teach", {})),
  "camera-read": async () => {
    const found = await work(t("Reading the board …"), () => ask(path("/look"), { signal: AbortSignal.timeout(LONG_MS) }));
    if (found) alter({ seen: found.places, frame: store.camera.table?.number ?? now.frame });
  },
  "camera-cell": async ({ place: name }) => {
    const right = await cellWindow(chosen(), now.table, name, read()?.[name] ?? now.table.record?.[name]);
    if (!right) return;
    if (await work(t("Teaching …"), () => post("/teach", { places: { [name]: right } })) && now.seen) alter({ seen: { ...now.seen, [name]: { ...right, p: 1, unsure: false } } });
  },
  "camera-follow": () => work("", () => tell("/api/camera/follow", { on: !store.camera.follow.following })),
};

export const PART_SUBMIT = {
  camera: chooseCamera,
  "camera-settle": (form) => work("", () => tell("/api/settings", { camera_settle_tenths: Math.round(10 * Number(new FormData(form).get("settle"))) })),
};
