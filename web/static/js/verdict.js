// A ruling, large: yes or no, one sentence, the clauses it stands on, the picture with the reason marked.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { statusWords } from "./dialogs.js";
import { still } from "./picture.js";
import { said, t } from "./words.js";

/** What a ruling stands on; what is weaker than the text of the rulebook stands out. */
export function ground(status) {
  return h("small", { class: ["ground", status === "text" ? "sure" : "weaker"] }, statusWords()[status] ?? status);
}

/** Draw a ruling on a move of a game; `more` follows its clauses. */
export function verdict(game, one, more = null) {
  return h("div", { class: ["verdict", one.legal ? "yes" : "no"], "data-key": `verdict-${one.move}`, role: "status" },
    h("p", { class: "answer" }, icon(one.legal ? "check" : "close"), one.legal ? t("Yes, that is allowed") : t("No, that is not allowed")),
    h("p", { class: "sentence" }, said(one)),
    one.status !== "text" && h("p", null, ground(one.status)),
    h("ul", { class: "cited" }, one.cited.map((clause) =>
      h("li", null, h("b", { class: "id" }, clause.id), " ", said(clause), " ",
        h("small", { class: "quiet" }, said(clause.book), ": ", said(clause.heading))))),
    more,
    one.svg ? still(one.svg, t("The picture with the reason marked"), game) : null);
}
