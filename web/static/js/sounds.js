// Sounds, made in the browser: no file is fetched, and none is heard where they are off.

import { change, soundsOn, wishSounds } from "./store.js";

let audio = null;

/** A browser lets a page be heard once somebody has tapped on it. */
export function awakenSound() {
  if (!soundsOn() || !window.AudioContext) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}

function fading(at, long, loud) {
  const gain = audio.createGain();
  gain.gain.setValueAtTime(0.0001, at);
  gain.gain.exponentialRampToValueAtTime(loud, at + 0.012);
  gain.gain.exponentialRampToValueAtTime(0.0001, at + long);
  gain.connect(audio.destination);
  return gain;
}

function tone(at, hz, long = 0.18, { to = hz, type = "sine", loud = 0.16 } = {}) {
  const voice = audio.createOscillator();
  voice.type = type;
  voice.frequency.setValueAtTime(hz, at);
  voice.frequency.exponentialRampToValueAtTime(to, at + long);
  voice.connect(fading(at, long, loud));
  voice.start(at);
  voice.stop(at + long + 0.02);
}

/** Beads on plastic, or a breath of wind: noise through a band. */
function noise(at, long, hz, loud = 0.12) {
  const samples = audio.createBuffer(1, Math.ceil(long * audio.sampleRate), audio.sampleRate);
  const data = samples.getChannelData(0);
  for (let i = 0; i < data.length; i += 1) data[i] = 2 * Math.random() - 1;
  const source = audio.createBufferSource();
  const band = audio.createBiquadFilter();
  source.buffer = samples;
  band.type = "bandpass";
  band.frequency.value = hz;
  source.connect(band).connect(fading(at, long, loud));
  source.start(at);
}

const chord = (at, notes, step = 0.11, long = 0.3) => notes.forEach((hz, i) => tone(at + i * step, hz, long, { type: "triangle" }));

const SOUNDS = {
  count: (at) => tone(at, 660, 0.14),
  go: (at) => { tone(at, 990, 0.35); for (let i = 0; i < 7; i += 1) noise(at + 0.08 + i * 0.09, 0.07, i % 2 ? 2600 : 1900); },
  turn: (at) => noise(at, 0.35, 900),
  number: (at) => tone(at, 520, 0.22, { to: 780 }),
  won: (at) => chord(at, [523, 659, 784, 1047]),
  lost: (at) => tone(at, 233, 0.45, { to: 147, type: "triangle" }),
  gain: (at) => chord(at, [784, 1047], 0.09, 0.2),
  move: (at) => { noise(at, 0.05, 1400, 0.2); tone(at, 330, 0.06, { loud: 0.08 }); },
  leap: (at) => tone(at, 300, 0.4, { to: 620, loud: 0.09 }),
  melt: (at) => tone(at, 880, 0.6, { to: 180, loud: 0.09 }),
  drift: (at) => noise(at, 0.6, 420),
  mine: (at) => chord(at, [587, 784], 0.16, 0.32),
  end: (at) => chord(at, [523, 659, 784, 1047, 784, 1047], 0.15, 0.45),
};

/** Let a sound be heard, `later` seconds from now. */
export function sound(name, later = 0) {
  if (!soundsOn()) return;
  awakenSound();
  if (audio?.state === "running" && SOUNDS[name]) SOUNDS[name](audio.currentTime + later + 0.01);
}

/** Have this device heard, or no more; it says so itself. */
export function toggleSounds() {
  wishSounds(!soundsOn());
  change(() => {});
  sound("gain");
}
