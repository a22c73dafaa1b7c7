// The screen stays on: by the browser's lock where it has one, over plain HTTP by a film that goes on and on.

import { h } from "./dom.js";

const FRAME_MS = 1000;
let film = null;
let frames = null;
let lock = null;
let wanted = false;
let told = () => {};

/** Whether the screen is kept on now. */
export const awake = () => Boolean(lock) || film?.paused === false;

/** A film of two pixels, made here. Chromium keeps the screen on for a stream of any size that is in sight. */
function show() {
  if (!film) {
    const canvas = h("canvas", { width: 2, height: 2 });
    const paint = canvas.getContext("2d");
    film = h("video", { "aria-hidden": "true", playsinline: true });
    Object.assign(film.style, { position: "fixed", left: 0, bottom: 0, width: "2px", height: "2px", opacity: 0.01, pointerEvents: "none" });
    film.muted = true;
    film.srcObject = canvas.captureStream();
    document.body.append(film);
    frames ??= setInterval(() => { paint.fillStyle = paint.fillStyle === "#000000" ? "#000001" : "#000000"; paint.fillRect(0, 0, 2, 2); }, FRAME_MS);
  }
  return film.play();
}

function end() {
  clearInterval(frames);
  frames = null;
  film?.remove();
  film = null;
}

async function keep() {
  const on = wanted && !document.hidden;
  if (!on) {
    await lock?.release();
    end();
  } else if (!awake()) {
    try {
      lock = await navigator.wakeLock.request("screen");
      lock.addEventListener("release", () => { lock = null; told(); });
    } catch {
      await show().catch(() => {}); // there is no lock, or a low battery; and a browser may wait for a tap
    }
  }
  told();
}

/** Keep the screen on from now on, or no more; `tell` hears when it changes. A hidden page lets go of it by itself. */
export function keepAwake(on, tell = told) {
  wanted = on;
  told = tell;
  return keep();
}

document.addEventListener("visibilitychange", keep);
addEventListener("pointerdown", () => { if (wanted && !awake()) keep(); }, { passive: true });
