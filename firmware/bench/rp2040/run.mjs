// Runs an igloo's image in rp2040js, the sensor in another process; what the igloo sends goes to the standard output.
//
//   node run.mjs IMAGE.bin SECONDS TO_SENSOR_FD FROM_SENSOR_FD [{"unit": 7, "feed": [[0.5, "h"]]}]
//
// `unit` lies in the flash as the igloo stores it; `feed` are words that the host sends, with their seconds.
// At the end: what was counted, as JSON on the standard error. Simulated are the processor's cycles, the timer, the clock
// tree and the pins. Not simulated: how long a byte takes on SPI and UART, and electricity.
import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.cwd() + "/package.json");
const { RP2040, GPIOPinState, LogLevel, ConsoleLogger } = require("rp2040js");

const [image, seconds, toSensor, fromSensor] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const { unit = 0, feed = [] } = JSON.parse(process.argv[6] ?? "{}");
const CS = 17;
const mcu = new RP2040();
mcu.logger = new ConsoleLogger(LogLevel.Error);
mcu.flash.fill(0xff);
mcu.flash.set(fs.readFileSync(image), 0);

if (unit) {
  const place = (2 << 20) - 4096;
  mcu.flashView.setUint16(place, unit, true);
  mcu.flashView.setUint16(place + 2, ~unit & 0xffff, true);
}

const request = Buffer.alloc(10);
const answer = Buffer.alloc(1);
function tell(what, byte) {
  request[0] = what.charCodeAt(0);
  request.writeBigUInt64LE(BigInt(Math.round(mcu.clock.nanos)) * 1000n, 1);
  request[9] = byte;
  fs.writeSync(toSensor, request);
}
let selected = false;
mcu.gpio[CS].addListener((state) => {
  const low = state === GPIOPinState.Low;
  if (low !== selected) tell((selected = low) ? "S" : "D", 0);
});
let spiBytes = 0;
mcu.spi[0].onTransmit = (byte) => {
  spiBytes++;
  tell("X", byte);
  fs.readSync(fromSensor, answer, 0, 1);
  mcu.spi[0].completeTransmit(answer[0]);
};

let sent = [];
let uartBytes = 0;
let window = 0;
let inWindow = 0;
let burst = 0;
mcu.uart[0].onByte = (byte) => {
  uartBytes++;
  sent.push(byte);
  const now = Math.floor(mcu.clock.nanos / 1e6);
  inWindow = now === window ? inWindow + 1 : 1;
  window = now;
  burst = Math.max(burst, inWindow);
  if (sent.length >= 4096) flush();
};
function flush() {
  if (sent.length) fs.writeSync(1, Buffer.from(sent));
  sent = [];
}

mcu.core.PC = 0x10000000;
const began = Date.now();
const end = seconds * 1e9;
let cycles = 0;
let asleep = 0;
while (mcu.clock.nanos < end) {
  const nanos = 1e9 / mcu.clkSys;
  while (feed.length && mcu.clock.nanos >= feed[0][0] * 1e9) {
    for (const byte of Buffer.from(feed.shift()[1], "latin1")) mcu.uart[0].feedByte(byte);
  }
  if (mcu.core.waiting) {
    const next = mcu.clock.nanosToNextAlarm;
    if (!(next > 0)) {
      mcu.clock.tick(nanos);
      continue;
    }
    asleep += next;
    mcu.clock.tick(next);
  } else {
    const taken = mcu.core.executeInstruction();
    cycles += taken;
    mcu.clock.tick(taken * nanos);
  }
}
flush();
const counted = {
  simulated_s: mcu.clock.nanos / 1e9,
  wall_s: (Date.now() - began) / 1000,
  clk_sys: mcu.clkSys,
  baud: mcu.uart[0].baudRate,
  spi_hz: mcu.spi[0].clockFrequency,
  cycles,
  busy_percent: 100 * (1 - asleep / mcu.clock.nanos),
  spi_bytes: spiBytes,
  uart_bytes: uartBytes,
  most_bytes_a_ms: burst,
};
fs.writeSync(2, JSON.stringify(counted) + "\n");
