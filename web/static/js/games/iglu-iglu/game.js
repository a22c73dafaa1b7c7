// Iglu Iglu on the page: an eight by eight board of floes.

import { s } from "../../dom.js";
import { t } from "../../words.js";

const PIECES = {
  red: () => s("circle", { r: 11.5 }),
  blue: () => s("rect", { x: -10.5, y: -10.5, width: 21, height: 21 }),
  yellow: () => s("path", { d: "M0-14L13 10H-13z" }),
  green: () => s("path", { d: "M0-14L14 0 0 14-14 0z" }),
};

export default {
  // Two tribes are red and blue (IGLU-S.5).
  seats: { least: 2, most: 4, colours: ["red", "blue", "yellow", "green"], choose: true, of: (count) => (count === 2 ? ["red", "blue"] : null) },
  sentence: () => t("In the order you sit, clockwise; the first one begins. A name is optional."),
  scene: new URL("./scene.svg", import.meta.url).href,
  around: "sea",
  pieces: PIECES,
  box: () => t("Your box of Iglu Iglu"),
  laidOnSheet: true,
  example: (say) => `${say.walk} b2 b3`,
  words: () => ({
    place: t("place"), draw: t("draw"), melt: t("melt"), take: t("take"), reveal: t("reveal"), drift: t("drift"), push: t("push"), thaw: t("thaw"), move: t("move"),
    stop: t("stop"), flee: t("flee"), walk: t("walk"), kayak: t("kayak"), swim: t("swim"), hunt: t("hunt"), harpoon: t("harpoon"), build: t("build"), pass: t("pass"), end: t("end"),
    fish: t("fish"), fox: t("fox"), bear: t("bear"),
  }),
  places: {
    grounds: () => ({ water: t("water"), floe: t("floe"), pack: t("pack"), land: t("land") }),
    things: () => ({ inuit: t("inuit"), igloo: t("igloo"), fish: t("fish"), fox: t("fox"), bear: t("bear") }),
  },
  parts: {
    sheet: () => import("./sheet.js"),
    box: () => import("./box.js"),
  },
};
