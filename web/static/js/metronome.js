// The metronome of the guided count: something that goes up and down, and a tick that leads the hand.

const AHEAD_S = 0.25;
const LOOK_MS = 80;

let sound = null;
let timer = null;
let next = 0;

function tick(at) {
  const tone = sound.createOscillator();
  const loud = sound.createGain();
  tone.frequency.value = 1100;
  loud.gain.setValueAtTime(0.0001, at);
  loud.gain.exponentialRampToValueAtTime(0.25, at + 0.004);
  loud.gain.exponentialRampToValueAtTime(0.0001, at + 0.05);
  tone.connect(loud).connect(sound.destination);
  tone.start(at);
  tone.stop(at + 0.06);
}

/** Whether the beat is heard. */
export const metronomeRuns = () => timer !== null;

/** Let the beat be heard, `hz` times a second; call it when a finger went down, or the browser stays silent. */
export function startMetronome(hz) {
  stopMetronome();
  sound ??= new AudioContext();
  sound.resume();
  next = sound.currentTime + 0.1;
  timer = setInterval(() => {
    // After the tab slept there is nothing to catch up with.
    if (next < sound.currentTime - 1) next = sound.currentTime;
    while (next < sound.currentTime + AHEAD_S) {
      tick(Math.max(next, sound.currentTime));
      next += 1 / hz;
    }
  }, LOOK_MS);
}

/** Be silent. */
export function stopMetronome() {
  clearInterval(timer);
  timer = null;
}
