// What lies in an owner's box of Ice Team.

import { h } from "../../dom.js";
import { wholeField } from "../../boxes.js";
import { t } from "../../words.js";
import { boardsEditor, drawnBoards } from "./box-boards.js";
import { faceWords as face } from "./faces.js";

const pick = (name, label, values, value) =>
  h("select", { name, "aria-label": label }, values.map((one) => h("option", { value: one, selected: one === value }, face(one))));

function fields({ data, faces, dice }) {
  return [
    h("fieldset", { class: "tiles-of-box" },
      h("legend", null, t("The 24 floes, front and back")),
      data.tiles.map((pair, i) => h("div", { class: "pair" }, h("span", null, i + 1),
        pair.map((one, side) => pick(`tile-${i}-${side}`, t("Floe %(n)s, side %(side)s", { n: i + 1, side: side + 1 }), faces, one))))),
    data.dice.map((die, d) => h("fieldset", { class: "tiles-of-box" },
      h("legend", null, t("Die %(n)s", { n: d + 1 })),
      die.map((one, i) => pick(`die-${d}-${i}`, t("Die %(n)s, face %(face)s", { n: d + 1, face: i + 1 }), dice, one)))),
    h("fieldset", { class: "counts-of-box" },
      h("legend", null, t("Fish tokens")),
      Object.entries({ stated: t("as the rulebook states"), ones: t("with one fish"), twos: t("with two fish"), threes: t("with three fish") })
        .map(([name, words]) => wholeField(`token-${name}`, words, data.fish_tokens[name], 199))),
    boardsEditor(data),
  ];
}

function read(data) {
  const all = (name, size) => Array.from({ length: size }, (_, i) => data.get(`${name}-${i}`));
  return {
    ...drawnBoards(),
    tiles: Array.from({ length: 24 }, (_, i) => all(`tile-${i}`, 2)),
    dice: [0, 1].map((d) => all(`die-${d}`, 6)),
    fish_tokens: Object.fromEntries(["stated", "ones", "twos", "threes"].map((name) => [name, Number(data.get(`token-${name}`))])),
  };
}

export default { fields, read };
