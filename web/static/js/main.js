// Where it all comes together: learn the words, listen to the table, draw, and do what is tapped.

import { h, patch } from "./dom.js";
import { useSprite, icon } from "./art.js";
import { act, ask, caughtUp, chosenFile, fetched, tell, upload } from "./net.js";
import { cameraHere, iglooPanel } from "./devices.js";
import { agreed, clauseWindow, closeDialog, inviteWindow, prepareDialog, readSettings, settingsWindow, takeOffered } from "./dialogs.js";
import { ending, scores } from "./scores.js";
import { BOARD_DO, boardAhead, boardPlay, DRAG, goesRound, passedTo, syncBoard, takeBoard } from "./board.js";
import { doors } from "./doors.js";
import { followDragging } from "./drag.js";
import { lazy } from "./lazy.js";
import { gameOf, games, has, offer, part } from "./games.js";
import { face, fetchPeople, owner, seatPerson } from "./faces.js";
import { entitle } from "./my-turn.js";
import { press, tableButtons } from "./table-buttons.js";
import { onTurn } from "./narrow.js";
import { GAMES } from "./registry.js";
import { listen } from "./stream.js";
import { log, refusal, undoIsMine } from "./rulings.js";
import { arranges } from "./seats.js";
import { chosenGame, readSetup, setup } from "./setup.js";
import { toggleSounds } from "./sounds.js";
import { change, countHidden, isHost, match, mayAct, memory, onChange, onSending, painted, soundsOn, store } from "./store.js";
import { learn, said, t, withWords } from "./words.js";

const PHOTO_MS = 60000;
const page = JSON.parse(document.getElementById("page").textContent);
const slot = (id) => document.getElementById(id);

function linkWords() {
  return { connecting: t("connecting"), live: t("live"), polling: t("nearly live"), lost: t("no connection") }[store.link];
}

function statusBar() {
  const role = { host: t("Host"), player: t("Player"), spectator: t("Watching") }[store.me.role];
  return [
    h("span", { class: ["link", store.link], title: linkWords() },
      h("span", { class: "lamp", "aria-hidden": "true" }),
      h("span", { class: "link-words", "aria-busy": String(store.sending > 0) }, store.sending ? t("sending") : linkWords())),
    h("button", { type: "button", class: "me", "data-do": "who-am-i" }, owner() && face(owner(), "small"),
      h("span", { class: "role" }, store.me.label || role), h("span", { class: "unseen" }, `. ${t("This phone")}`)),
    h("button", { type: "button", class: "round-button", "data-do": "sounds", "aria-pressed": String(soundsOn()), "aria-label": t("Sounds"), title: t("Sounds") }, icon(soundsOn() ? "sound" : "silent")),
    !mayAct() && h("a", { class: "second", href: "/join" }, icon("people"), t("Join")),
  ];
}

const LAMP_MS = 100;
let lamp = null;

/** What is answered at once needs no words; whoever listens to the page knows it all the same. */
function lightLamp() {
  slot("status-bar").querySelector(".link-words")?.setAttribute("aria-busy", String(store.sending > 0));
  clearTimeout(lamp);
  lamp = setTimeout(() => patch(slot("status-bar"), statusBar()), LAMP_MS);
}

/** The rooms' doors, and beside them what a host has more. */
const ways = () => [
  (isHost() || !mayAct()) && h("a", { class: "second for-screens", href: "/tv", "data-key": "/tv" }, t("Television")),
  doors(inReferee() || inWorkshop() ? named() : elsewhere() ? "" : "#"),
  isHost() && h("button", { type: "button", class: "second", "data-do": "invite", "data-key": "invite" }, icon("people"), h("span", null, t("Invite"))),
];

function settingsButton() {
  return isHost() && h("p", { class: "settings-link", "data-key": "settings-link" },
    h("button", { type: "button", class: "second", "data-do": "settings" }, icon("gear"), t("Settings")));
}

/** The words beside the lamp are for wide screens; that nothing has come back is said on every one. */
const stillSending = () => h("div", { class: "refusal slow", role: "status", "data-key": "slow" },
  h("p", null, t("The table does not answer yet. What you tapped is kept and sent again by itself.")));

const ROOMS = {
  "#referee": lazy(() => import("./referee.js"), "referee"),
  "#score": lazy(() => import("./score.js"), "score"),
  "#learn": lazy(() => import("./learn.js"), "learn"),
  "#album": lazy(() => import("./album.js"), "album"),
  "#photo": lazy(() => import("./photo-cards.js"), "photo"),
  "#workshop": lazy(() => import("./workshop.js"), "workshop"),
};

/** The room that the address names beside the game; each has a module of its own, fetched when it is first entered. */
const named = () => location.hash.split("/")[0];
const roomHere = () => ROOMS[named()]?.();
const elsewhere = () => named() in ROOMS;

const enter = () => roomHere()?.room() ?? h("p", { class: "quiet" }, t("One moment …"));

const inReferee = () => named() === "#referee";
/** Whoever lays a position by hand looks at nothing of the table. */
const laying = () => location.hash === "#referee/hand";
const inWorkshop = () => named() === "#workshop";

const camera = lazy(() => import("./camera-question.js"));

/** What the camera asks stands above the game; its module is fetched when it asks for the first time. */
function asking() {
  if (!store.camera.follow?.asking || elsewhere()) return null;
  return camera()?.panel();
}

const ballot = lazy(() => import("./vote.js"));

/** The open vote of the table, above the game and in the referee's room, where it was called. */
function voting() {
  if (!store.ballot.option || (elsewhere() && !inReferee())) return null;
  return ballot()?.panel();
}

const ownPhone = lazy(() => import("./own-phone.js"), "own-phone");

/** Whoever waits at the table without a name is asked for one. */
const whoseIsIt = () => ownPhone()?.question();

const comforts = lazy(() => import("./comforts.js"), "own-phone");

/** At the first game of a phone that many look at, the host's or one that goes round: whether its screen stays on. */
function staysOn(game) {
  const many = isHost() || goesRound();
  if (!game || game.over || elsewhere() || !many || memory.get("awake", null) !== null) return null;
  return comforts()?.askStaysOn();
}

const passing = lazy(() => import("./pass-on.js"));

/** Where one phone goes round, nothing of a hand is drawn until the next one has taken it. */
const passOn = (game, next) => passing()?.cover(game, next) ?? h("p", { class: "quiet" }, t("One moment …"));

/** Whether a game is played on a board here, and nothing else is in its place. */
const onTable = (game) => !elsewhere() && !passedTo(game) && !game.problem && !game.over && !has(game.game, "play");

function stage() {
  const next = (!elsewhere() || inReferee()) && passedTo(match());
  if (next) return passOn(match(), next);
  if (elsewhere()) return enter();
  const { view } = store;
  if (!view) return h("p", { class: "quiet" }, t("Looking for the table …"));
  const game = match();
  if (!game) return setup(view.series, mayAct() && !isHost() && !store.me.label && whoseIsIt());
  if (onTable(game)) return boardPlay(game);
  if (game.problem) return h("section", { class: "panel" }, h("h1", null, t("This game cannot be shown")), h("p", null, said(game.problem)));
  if (game.over) return ending(game, view.series);
  return own()?.draw(game) ?? h("p", { class: "quiet" }, t("One moment …"));
}

/** What the game that is open, or that is set up, has of its own while it is played. */
const own = () => part(match()?.game ?? chosenGame(), "play");

/** Igloos that feel are shown where the game is played with them. */
const withIgloo = (game) => gameOf(game?.game ?? chosenGame()).igloos;

/** What the card lost or changed, above everything, until it is restored or the service starts without it. */
const damaged = () => store.view?.damage?.length > 0 && h("section", { class: "panel", role: "alert", "data-key": "damage" },
  h("h2", null, t("The memory card has damaged entries")),
  h("ul", null, store.view.damage.map((one) => h("li", null, said(one)))),
  isHost() && h("p", null, h("a", { href: "#workshop" }, t("To the backups"))));

let lively = null;

/** What moves and sounds; it comes behind the first drawing. */
const enliven = lazy(() => import("./lively.js"), "lively", (found) => { lively = found; });

let house = document.title;

let shown = null;

/** Whoever scrolled through the set-up, or through the end of the last game, sees a game that begins from its top. */
function fromTheTop(game) {
  if (store.view && shown !== game?.id) {
    if (game && shown !== null && !elsewhere()) scrollTo(0, 0);
    shown = game?.id ?? 0;
  }
}

/** What is still to be drawn of the last drawing. */
let rest = null;
let last = {};

function draw() {
  rest?.();
  const game = match();
  const focused = document.activeElement;
  lively?.before();
  const { board, path } = store;
  const played = board !== last.board;
  const first = game?.board && (played || path !== last.path) && !document.hidden;
  last = { board, path };
  // Whoever tapped waits for the board: it is painted before all else is drawn. What is chosen on it comes with its buttons.
  const ahead = first && played && onTable(game) && boardAhead(game);
  if (!ahead) drawStage(game);
  lively?.moved();
  rest = () => {
    rest = null;
    if (ahead) drawStage(game);
    drawRest(game, focused);
  };
  if (first) painted(() => rest?.());
  else rest();
}

function drawStage(game) {
  patch(slot("stage"), [damaged(), asking(), voting(), stage(), staysOn(game)]);
  document.body.classList.toggle("passing", Boolean(slot("stage").querySelector(":scope > .pass-on")));
  fromTheTop(game);
}

function drawRest(game, focused) {
  patch(slot("status-bar"), statusBar());
  patch(slot("doors"), ways());
  patch(slot("side"), store.view && !elsewhere() ? [game ? scores(game) : null, page.panel && tableButtons(game), withIgloo(game) && iglooPanel(), cameraHere(game), (game || store.view.log.length > 0) && log(store.view), settingsButton()] : []);
  patch(slot("refusal"), [refusal(store.refusal), store.slow && stillSending()]);
  entitle(house);
  lively?.after();
  // What had the focus is gone (a button of the phase before): the next Tab goes on in the game, not at the top.
  if (focused && focused !== document.body && !focused.isConnected) slot("stage").focus({ preventScroll: true });
  if (store.view && !game && !elsewhere() && isHost() && store.options === null) fetchOptions();
  // What the game has of its own is here before it begins; a room beside it needs none of it.
  if (store.view && !elsewhere()) own();
  if (store.view && !lively && (game ? !laying() : !elsewhere())) enliven();
  if (store.view && (store.people === null || store.renamed)) fetchPeople(store.renamed);
  // Whoever fills in a score sheet, or lays a position, does not see the table's board.
  if (game?.board && named() !== "#score" && !laying()) syncBoard();
}

async function fetchOptions() {
  change((s) => { s.options = []; });
  try {
    const { options, layouts } = await ask(`/api/rules/${chosenGame()}/options`);
    change((s) => { s.options = options; s.layouts = layouts; });
  } catch {
    setTimeout(() => change((s) => { s.options = null; }), 2000);
  }
}

function announce(entries) {
  const last = entries.at(-1);
  if (last) slot("announcer").textContent = entries.slice(-3).map(said).join(" ");
}

const simulate = ({ action, count }) => fetched(() => tell("/api/simulate", { action, ...(count ? { count: Number(count) } : {}) }));

async function takeBack() {
  await caughtUp();
  const way = match()?.can_undo;
  if (!way) return;
  const sentence = t("Take back: %(what)s", { what: said(way) });
  if (undoIsMine(way)) await act("undo", { to: way.to });
  else if (await agreed(sentence, t("The table agrees: take it back"))) await act("undo", { to: way.to, agreed: true });
}

let takingBack = null;

/** A second tap, before the first is through, is the same wish. */
function undo() {
  takingBack ??= takeBack().finally(() => { takingBack = null; });
}

/** Have one more play, where the game has room; tells whether it has. */
function oneMore() {
  const now = document.querySelectorAll("form.setup .seat-choice").length;
  if (now >= gameOf(chosenGame()).seats.most) return false;
  change((s) => { s.many = now + 1; });
  return true;
}

/** The same players play the same game once more; where a series was won, another one begins. */
async function again() {
  const { game, players, options, draw } = match() ?? {};
  const anew = store.view.series?.winner && { game, options, draw, players: players.map(({ colour, name }) => ({ colour, name })) };
  if (!(await act(anew ? "open-match" : "next-game", anew || {}))?.ok) return;
  // Who draws was settled with the first game; the new match may not have arrived on the stream yet.
  const answer = await ask("/api/state").catch(() => null);
  const next = answer?.view?.match;
  if (next?.draw || (next?.arrange && arranges())) act("deal");
}

/** The game ends at once, for its end can be taken back; where that would bring a hidden count to light, it is asked first. */
async function endNow() {
  const sentence = t("The game ends as it stands. The ranking so far is kept, but nobody has won.");
  if (!countHidden() || await agreed(sentence, t("End it"))) act("end-early");
}

const corrections = () => withWords(import("./corrections.js"));

const DO = {
  share: async () => (await withWords(import("./share.js"))).shareWindow(),
  "print-result": async () => (await withWords(import("./share.js"))).printResult(),
  looked: () => change((s) => { s.away = null; }),
  ...BOARD_DO,
  "choose-game": ({ game }) => change((s) => { s.game = game; s.options = null; s.many = null; }),
  "table-button": press,
  "seat-person": (data) => seatPerson(data, elsewhere() ? () => false : oneMore),
  may: async () => (await withWords(import("./may.js"))).mayWindow(match()),
  "who-am-i": async () => (await ownPhone.come()).askOwner(),
  "i-am": async (data) => (await ownPhone.come()).iAm(data),
  clock: async (data) => (await withWords(import("./pace.js"))).clock(data),
  deal: () => act("deal"),
  pause: () => act("pause"),
  resume: () => act("resume"),
  undo,
  "next-game": again,
  "new-players": () => act("close-match"),
  "close-dialog": endNow,
  "correct-dialog": async () => { const body = await (await corrections()).correctionWindow(match()); if (body) act("correct", body); },
  "fault-dialog": async () => { const body = await (await corrections()).faultWindow(match(), own().faults()); if (body) act("fault", body); },
  "dismiss-fault": async ({ seq }) => {
    if (await agreed(t("The fault stays in the log."), t("Let it pass"))) act("dismiss-fault", { fault: Number(seq), agreed: true });
  },
  box: async ({ game }) => (await withWords(import("./boxes.js"))).boxWindow(game),
  "forget-box": async ({ game }) => (await withWords(import("./boxes.js"))).forgetBox(game),
  "close-refusal": () => change((s) => { s.refusal = null; }),
  "close-dialog-window": () => closeDialog(null),
  "dialog-yes": () => closeDialog(true),
  clause: ({ id }) => {
    const game = games().find((one) => one.clauses === id.split("-")[0]);
    return fetched(async () => clauseWindow(await ask(`/api/rules/${encodeURIComponent(game?.id)}/clauses/${encodeURIComponent(id)}`)));
  },
  sounds: toggleSounds,
  invite: () => fetched(async () => inviteWindow(await ask("/api/table"))),
  settings: () => fetched(async () => settingsWindow(await ask("/api/settings"))),
  "take-offered": takeOffered,
  simulate,
  comfort: async (data) => (await ownPhone.come()).comfort(data),
  "stays-on": async (data) => (await comforts.come()).staysOn(data),
  keep: () => fetched(() => tell("/api/evidence", {})),
};

const SUBMIT = {
  box: async (form) => (await withWords(import("./boxes.js"))).saveBox(form),
  "open-match": async (form) => {
    const { body, complaint, arrange } = readSetup(form);
    slot("setup-complaint").textContent = complaint ?? "";
    if (!body) return;
    const opened = await act("open-match", body);
    if (opened?.ok && (body.draw || arrange)) act("deal");
  },
  settings: async (form) => {
    try {
      const { settings } = await tell("/api/settings", readSettings(form));
      const name = settings.find((one) => one.name === "house_name").value || t("Tabletop Companion");
      house = document.querySelector(".brand span").textContent = name;
      entitle(house);
      closeDialog(null);
    } catch (refused) {
      slot("settings-complaint").textContent = refused.error ? said(refused.error)
        : t("The table did not answer. Nothing is lost: try again.");
    }
  },
  "dialog-form": (form) => closeDialog(new FormData(form)),
  "i-am": async (form) => (await ownPhone.come()).iAm({ name: new FormData(form).get("name") }),
};

async function sendPhoto(input) {
  const file = chosenFile(input);
  const answer = file && await fetched(() => upload("/api/photo", file, PHOTO_MS));
  if (answer) change((s) => { s.camera = { ...s.camera, table: answer.table }; });
}

/** Close the menu; what had the focus in it leaves it to the menu's own button. */
function closeMenu(menu) {
  if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  menu.removeAttribute("open");
}

const DOUBLE_TAP_MS = 400;
let tapped = { element: null, at: 0 };

/** Whether this click is the second of a double tap; not every browser counts the taps of a finger. */
function doubled(element, { detail, timeStamp }) {
  const twice = detail > 1 || (element === tapped.element && timeStamp - tapped.at < DOUBLE_TAP_MS);
  tapped = { element, at: timeStamp };
  return twice;
}

function run(element, twice = false) {
  const data = { ...element.dataset };
  // In the referee's room a place is tapped to ask, not to play.
  if (inReferee() && data.do === "tap") roomHere()?.judgeTap(data.place);
  else (DO[data.do] ?? own()?.does?.[data.do] ?? camera.here()?.ASK_DO[data.do] ?? ballot.here()?.VOTE_DO[data.do] ?? roomHere()?.ROOM_DO[data.do])?.(data, twice);
}

/** Who comes back to the page, or opens it anew, is shown what happened in the meantime. */
function rememberLook() {
  let left = null;
  let last = memory.get("looked", null);
  onChange(({ view }) => {
    if (!view) return;
    const before = last;
    last = null;
    // Another journal, as after a restore, may be behind what was seen here.
    if (before !== null && before < view.seq && view.log.some((entry) => entry.seq > before)) change((s) => { s.away = s.away ?? before; });
    else if (document.visibilityState === "visible") memory.set("looked", store.away ?? view.seq);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") left = store.view?.seq ?? null;
    else if (left !== null) change((s) => { s.away = s.away ?? left; });
  });
}

function follow() {
  addEventListener("hashchange", () => {
    closeDialog(null);
    if (!inWorkshop()) ROOMS["#workshop"].here()?.left();
    change((s) => { s.refusal = null; });
    scrollTo(0, 0);
    slot("stage").focus({ preventScroll: true });
  });
  document.addEventListener("input", (event) => roomHere()?.ROOM_INPUT?.[event.target.dataset?.input]?.(event.target));
  document.addEventListener("click", (event) => {
    const element = event.target.closest?.("[data-do]");
    const menu = document.querySelector("details.menu[open]");
    if (menu && (element || !menu.contains(event.target))) closeMenu(menu);
    if (element && !element.disabled) run(element, doubled(element, event));
  });
  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector("details.menu[open]");
    if (menu && event.key === "Escape") closeMenu(menu);
    // Drawn cards are buttons too: Enter and Space press them.
    const element = event.target.closest?.("svg [role=button][data-do]");
    if (!element || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    run(element);
  });
  document.addEventListener("submit", (event) => {
    const known = SUBMIT[event.target.dataset.submit] ?? roomHere()?.ROOM_SUBMIT[event.target.dataset.submit];
    if (!known) return;
    event.preventDefault();
    known(event.target);
  });
  document.addEventListener("change", (event) => {
    roomHere()?.ROOM_CHANGE?.[event.target.dataset?.change]?.(event.target);
    if (event.target.dataset?.change === "photo") sendPhoto(event.target);
    // The line above what is folded away says what was chosen there.
    if (event.target.form?.dataset.submit === "open-match") change(() => {});
    if (event.target.dataset?.change === "count") change((s) => { s.many = Number(event.target.value); });
  });
}

await learn(page.language, page.words, () => change(() => {}));
useSprite(document.querySelector("link[rel=icon]").href.replace(/[^/]*$/, "icons.svg"));
store.me = page.me;
offer(GAMES);
prepareDialog();
follow();
followDragging({ ".spot.draggable": DRAG, ".who.draggable": { lift: (data) => own()?.lift?.(data), drop: (data) => own()?.drop?.(data) } });
rememberLook();
onChange(draw);
onSending(lightLamp);
onTurn(() => change(() => {}));
draw();
listen(page, announce, takeBoard);
