// Which move of Arctic is in dispute: what is done with a card, and which card it is.

import { h } from "../../dom.js";
import { t } from "../../words.js";
import { ANIMALS, animal } from "./animals.js";

function choice() {
  const animals = Object.fromEntries(ANIMALS.map((name) => [name, animal(name)]));
  const verbs = { place: t("place"), "place bottom": t("place under the pile"), "place under": t("place face down under the top card"),
    draw: t("take from the River"), "draw-penalty": t("take from Penalty"), discard: t("put away") };
  const field = (name, label, values) => h("select", { name, "aria-label": label },
    Object.entries(values).map(([id, words]) => h("option", { value: id }, words)));
  return h("form", { class: "row", "data-submit": "judge-choice", "data-key": "judge-card" },
    field("verb", t("What is done with a card?"), verbs),
    field("main", t("Main animal"), animals),
    field("value", t("Placement value"), { 1: "1", 2: "2", 3: "3", 4: "4", 5: "5" }),
    field("companion", t("Companion"), animals),
    h("button", { type: "submit", class: "second" }, t("Ask the referee")));
}

function read(data) {
  const [verb, where] = data.get("verb").split(" ");
  return [verb, `${data.get("main")}-${data.get("value")}-${data.get("companion")}`, where].filter(Boolean).join(" ");
}

export default { below: choice, read };
