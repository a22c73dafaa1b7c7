// A packed shake as sound, at any speed: the band of the knocks is moved up to where the ear is good
// (companion/practice/sonify.py, which packs it, and which the table itself plays).

const SIZE = 8192;
const BEFORE_S = 0.1;

/** The samples of a packed band, between -1 and 1. */
export function unpacked(text, mu) {
  const codes = atob(text);
  return Float64Array.from(codes, (code) => {
    const level = (code.charCodeAt(0) - 128) / 127;
    return (Math.sign(level) * ((1 + mu) ** Math.abs(level) - 1)) / mu;
  });
}

/** The discrete Fourier transform in place; the length is a power of two, `way` is -1, or 1 for the way back. */
function transform(re, im, way) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i += 1) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k += 1) {
      const wr = Math.cos((2 * Math.PI * k) / size);
      const wi = way * Math.sin((2 * Math.PI * k) / size);
      for (let i = k; i < n; i += size) {
        const j = i + half;
        const tr = wr * re[j] - wi * im[j];
        const ti = wr * im[j] + wi * re[j];
        re[j] = re[i] - tr;
        im[j] = im[i] - ti;
        re[i] += tr;
        im[i] += ti;
      }
    }
  }
}

/** The sound of a shake, `{samples, rate}`; `how` says what the band is: `rate_hz`, `heard_hz`, `mu`. */
export function sounded({ sound, gain, pitch }, speed, how) {
  const band = unpacked(sound, how.mu);
  const re = new Float64Array(SIZE);
  const im = new Float64Array(SIZE);
  re.set(band.subarray(0, SIZE));
  transform(re, im, -1);
  // Four samples for one at full speed, more when it is slow: the rate stays the same.
  const times = Math.round(4 / speed);
  const length = SIZE * times;
  const up = Math.round(((pitch * how.heard_hz - (speed * how.rate_hz) / 4) * SIZE) / how.rate_hz / speed);
  const movedRe = new Float64Array(length);
  const movedIm = new Float64Array(length);
  for (let k = 0; k < SIZE / 2; k += 1) {
    if (k + up < 0 || k + up >= length / 2) continue;
    movedRe[k + up] = re[k];
    movedIm[k + up] = im[k];
  }
  transform(movedRe, movedIm, 1);
  const samples = new Float64Array(band.length * times);
  // Only the bins above 0 are filled: the real part is half of the sound.
  for (let i = 0; i < samples.length; i += 1) samples[i] = Math.tanh((2 * gain * movedRe[i]) / SIZE);
  return { samples, rate: how.rate_hz * times * speed };
}

/** Samples as a WAV file (16 bit, mono), with silence before it: players swallow the first moment. */
export function wav({ samples, rate }) {
  const before = Math.round(BEFORE_S * rate);
  const bytes = 2 * (samples.length + before);
  const view = new DataView(new ArrayBuffer(44 + bytes));
  const text = (at, letters) => [...letters].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  text(0, "RIFF");
  view.setUint32(4, 36 + bytes, true);
  text(8, "WAVEfmt ");
  [[16, 16, 4], [20, 1, 2], [22, 1, 2], [24, rate, 4], [28, 2 * rate, 4], [32, 2, 2], [34, 16, 2]].forEach(([at, value, size]) =>
    (size === 4 ? view.setUint32(at, value, true) : view.setUint16(at, value, true)));
  text(36, "data");
  view.setUint32(40, bytes, true);
  samples.forEach((one, i) => view.setInt16(44 + 2 * (before + i), Math.round(32767 * one), true));
  return new Blob([view.buffer], { type: "audio/wav" });
}
