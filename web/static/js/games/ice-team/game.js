// Ice Team on the page: two teams of bears on a long board of floes.

import { s } from "../../dom.js";
import { t, tn } from "../../words.js";
import { faceWords } from "./faces.js";

const EARS = () => [s("circle", { cx: -9, cy: -10, r: 4.5 }), s("circle", { cx: 9, cy: -10, r: 4.5 })];

export default {
  seats: { least: 2, most: 2, colours: ["green", "red"] },
  sentence: () => t("Two teams of bears. A name is optional."),
  scene: new URL("./scene.svg", import.meta.url).href,
  around: "sea",
  pieces: {
    green: () => [EARS(), s("circle", { r: 13 })],
    red: () => [EARS(), s("path", { d: "M0-15.5L15.5 0 0 15.5-15.5 0z" })],
  },
  box: () => t("Your box of Ice Team"),
  layouts: () => ({ line: t("In a line"), bend: t("With a bend"), squares: t("In a line, if the spaces are squares") }),
  left: (n) => tn("action left", "actions left", n),
  narrow: "upright",
  spot: (name) => ({ start: t("Start"), village: t("Village") })[name],
  corners: () => t("These are the outer corners of Start and Village."),
  example: (say) => `${say.leap} a1 a3`,
  words: () => ({
    walk: t("walk"), leap: t("leap"), swim: t("swim"), stop: t("stop"), freeze: t("freeze"), drift: t("drift"), push: t("push"), take: t("take"), move: t("move"),
    pass: t("pass"), end: t("end"), fish: t("fish"), bear: t("bear"),
  }),
  places: {
    grounds: () => ({ floe: t("floe"), sea: t("open sea"), igloo: t("igloo with its fish"), searched: t("searched igloo"), start: t("Start"), village: t("Village"), plain: t("plain floe"), "plain-fragile": `${t("plain floe")}, ${t("cracked")}` }),
    ground: faceWords,
    things: () => ({ bear: t("bear") }),
  },
  parts: {
    sheet: () => import("./sheet.js"),
    position: () => import("./position.js"),
    box: () => import("./box.js"),
  },
};
