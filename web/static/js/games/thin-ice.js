// Thin Ice on the page: nine floes, two colours, and a die.

import { s } from "../dom.js";
import { t } from "../words.js";

export default {
  seats: { least: 2, most: 2, colours: ["red", "blue"] },
  pieces: {
    red: () => s("circle", { r: 12 }),
    blue: () => s("rect", { x: -11, y: -11, width: 22, height: 22 }),
  },
  example: (say) => `${say.put} b2`,
  words: () => ({ put: t("put"), roll: t("roll"), hold: t("hold"), crack: t("crack") }),
  places: {
    grounds: () => ({ floe: t("floe"), water: t("water") }),
    things: () => ({ penguin: t("penguin") }),
  },
};
