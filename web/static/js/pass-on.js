// One phone that goes round: between two turns it shows to whom it is passed, and nothing that lies in a hand.

import { h } from "./dom.js";
import { playerName, token } from "./art.js";
import { faceOf } from "./faces.js";
import { t } from "./words.js";

/** Draw the cover: whose turn it is takes the phone, and with it the seat. */
export function cover(match, player) {
  const who = playerName(player);
  return h("section", { class: "pass-on", "data-key": `pass-on-${player.colour}` },
    h("div", { class: "pass-face" }, faceOf(player) ?? token(player.colour, "large")),
    h("h1", null, t("Pass the phone to %(who)s", { who })),
    match.draw && match.hands && h("p", { class: "sentence" }, t("Until then all hands stay hidden.")),
    h("button", { type: "button", class: "main", "data-do": "seat", "data-colour": player.colour }, t("It’s me, %(who)s", { who })),
    h("button", { type: "button", class: "second", "data-do": "pass-not", "data-colour": player.colour }, t("%(who)s has another phone", { who })));
}
