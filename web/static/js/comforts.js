// What a device can do for who holds it: speak, stay on, tremble; under TLS a word while hidden, a place on the home screen.

import { h, patch } from "./dom.js";
import { icon } from "./art.js";
import { awake, keepAwake } from "./awake.js";
import { change, match, memory, onChange, store } from "./store.js";
import { canSpeak, voiceOn, wishVoice } from "./voice.js";
import { t } from "./words.js";

const WORKER = new URL("./comforts-worker.js", import.meta.url);
let asking = null; // the browser's own question whether the page may be put on the home screen
let before = null;

addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  asking = event;
  change(() => {});
});
// Voices come some time after the page.
window.speechSynthesis?.addEventListener("voiceschanged", () => change(() => {}));

const trembles = () => memory.get("tremble", true);
const secure = location.protocol === "https:";
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

const button = (what, pressed, words) => h("button", { type: "button", class: "second", "data-do": "comfort", "data-what": what, "data-key": what,
  "aria-pressed": pressed === null ? null : String(pressed) }, pressed && icon("check"), words);

function contents() {
  return [
    h("div", { class: "row" },
      canSpeak() && button("voice", voiceOn(), t("It says what happens")),
      button("awake", awake(), t("The screen stays on")),
      "vibrate" in navigator && store.me.role !== "spectator" && button("tremble", trembles(), t("It vibrates when it is my turn")),
      secure && "Notification" in window && button("notify", notifies(), t("Tell me when it is my turn")),
      asking && button("home", null, t("Put it on the home screen"))),
    secure && "Notification" in window && Notification.permission === "denied" && h("p", { class: "quiet" }, t("This browser does not allow notifications from this page.")),
    secure && h("p", null, h("a", { href: "/trust" }, t("The certificate, for other phones"))),
  ];
}

/** Draw what this device can do; it is drawn anew as it changes. */
export const panel = () => h("section", { class: "comforts" }, contents());

const WISHES = {
  voice: () => wishVoice(!voiceOn()),
  tremble: () => {
    memory.set("tremble", !trembles());
    if (trembles()) navigator.vibrate(100);
  },
  awake: () => {
    memory.set("awake", !awake());
    return keepAwake(memory.get("awake", false));
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

/** Ask once whether the screen of a phone that many look at stays on; the answer is remembered, and *This phone* has it. */
export const askStaysOn = () => h("section", { class: "panel stays-on", "data-key": "stays-on", "aria-label": t("The screen stays on") },
  h("p", { class: "row" }, t("Shall the screen stay on while you play?"), " ",
    h("button", { type: "button", class: "second", "data-do": "stays-on", "data-on": "yes" }, t("Yes")),
    h("button", { type: "button", class: "second", "data-do": "stays-on" }, t("No"))));

/** Take the answer. */
export function staysOn({ on }) {
  memory.set("awake", Boolean(on));
  keepAwake(Boolean(on));
  change(() => {});
}

/** Do what was tapped. */
export async function comfort({ what }) {
  await WISHES[what]();
  change(() => {});
}

onChange(() => {
  if (store.view) tellNews();
  const shown = document.querySelector(".comforts");
  if (shown) patch(shown, contents());
});
keepAwake(memory.get("awake", false), () => change(() => {}));
