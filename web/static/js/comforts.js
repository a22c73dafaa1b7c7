// What a browser gives to a page under TLS only: the screen stays on, a place on the home screen, a word while hidden.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { change, match, memory, onChange, store } from "./store.js";
import { t } from "./words.js";

const WORKER = new URL("./comforts-worker.js", import.meta.url);
let lock = null;
let asking = null; // the browser's own question whether the page may be put on the home screen
let before = null;

addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  asking = event;
  change(() => {});
});
document.addEventListener("visibilitychange", keepAwake);

/** Have the screen as it is wished: a browser lets go of it by itself whenever the page is hidden. */
async function keepAwake() {
  const wanted = memory.get("awake", false) && !document.hidden;
  if (!wanted) await lock?.release();
  if (!wanted || lock) return;
  try {
    lock = await navigator.wakeLock.request("screen");
    lock.addEventListener("release", () => { lock = null; change(() => {}); });
  } catch {
    lock = null; // a low battery
  }
  change(() => {});
}

const notifies = () => memory.get("notify", false) && Notification.permission === "granted";

/** Whatever is to be said now of a game: each is said once, when it comes about. */
function news(game) {
  const mine = store.me.colour !== null && game?.players.some((one) => one.turn && one.colour === store.me.colour);
  return { turn: Boolean(mine), shaking: game?.phase === "shaking", over: Boolean(game?.over), vote: Boolean(store.ballot.option) };
}

const sentences = () => ({
  turn: t("It is your turn."),
  shaking: t("A round has begun: shake!"),
  over: t("The game is over."),
  vote: t("The table votes."),
});

async function say(body) {
  const options = { body, tag: "companion" };
  try {
    // Chrome on Android knows no notifications but those of a worker, and says so by throwing.
    return void new Notification(document.title, options);
  } catch {
    const { active } = await navigator.serviceWorker.getRegistration(WORKER) ?? {};
    active?.postMessage({ title: document.title, options });
  }
}

/** Say what has come about, while nobody looks at this page. */
function tellNews() {
  const now = news(match());
  const fresh = before && Object.keys(now).filter((what) => now[what] && !before[what]);
  before = now;
  if (fresh?.length && document.hidden && notifies()) say(fresh.map((what) => sentences()[what]).join(" "));
}

/** Draw what this phone can do; nothing where its browser can none of it. */
export function panel() {
  const button = (what, pressed, words) =>
    h("button", { type: "button", class: "second", "data-do": "comfort", "data-what": what, "aria-pressed": pressed === null ? null : String(pressed) }, pressed && icon("check"), words);
  return h("section", { class: "panel comforts", "data-key": "comforts" },
    h("h2", null, t("This phone")),
    h("div", { class: "row" },
      "wakeLock" in navigator && button("awake", Boolean(lock), t("The screen stays on")),
      "Notification" in window && button("notify", notifies(), t("Tell me when it is my turn")),
      asking && button("home", null, t("Put it on the home screen"))),
    "Notification" in window && Notification.permission === "denied" && h("p", { class: "quiet" }, t("This browser does not allow notifications of this page.")),
    h("p", null, h("a", { href: "/trust" }, t("The certificate, for other phones"))));
}

const WISHES = {
  awake: async () => {
    memory.set("awake", !lock);
    await keepAwake();
  },
  notify: async () => {
    const wanted = !notifies();
    if (wanted) {
      await Notification.requestPermission();
      await navigator.serviceWorker?.register(WORKER).catch(() => null);
    }
    memory.set("notify", wanted);
  },
  home: async () => {
    const question = asking;
    asking = null;
    await question.prompt();
  },
};

/** Do what was tapped. */
export async function comfort({ what }) {
  await WISHES[what]();
  change(() => {});
}

onChange(() => { if (store.view) tellNews(); });
keepAwake();
