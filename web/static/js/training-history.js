// All shakes that somebody has answered, newest first, to be heard again; fetched when they are asked for.

import { h } from "./dom.js";
import { ask } from "./net.js";
import { pastShake } from "./training-parts.js";
import { t, tn } from "./words.js";

let now = { person: null, shakes: [], stored: 0, more: null };

/** Another shake was answered: what is shown here is asked for anew. */
export function forgetHistory() {
  now = { person: null, shakes: [], stored: 0, more: null };
}

/** Fetch the first of them where none are known, or those that follow. */
export async function moreHistory(person, doing, alter, first = false) {
  if (first && now.person === person) return;
  const before = now.person === person ? now.more : null;
  const answer = await doing(() => ask(`/api/training/people/${person}/shakes${before === null ? "" : `?before=${before}`}`));
  if (!answer) return;
  now = { person, shakes: before === null ? answer.shakes : [...now.shakes, ...answer.shakes], stored: answer.kept, more: answer.more };
  alter({});
}

/** The list; `without` is the shake that stands above it. */
export function historyList(person, without, playing) {
  const mine = now.person === person;
  const shakes = mine ? now.shakes.filter((one) => one.id !== without) : [];
  const gone = shakes.some((one) => !one.sound);
  return h("details", { class: "past", "data-key": "past" },
    h("summary", { "data-do": "past-open" }, t("Hear the last ones again")),
    mine && shakes.length === 0 && h("p", { class: "quiet" }, t("None yet.")),
    h("ul", { class: "row" }, shakes.map((one) => h("li", { "data-key": one.id },
      one.sound ? pastShake(one, playing) : h("span", { class: "quiet discarded" }, t("%(truth)s, said %(guess)s", one), ": ", t("no longer kept"))))),
    gone && h("p", { class: "quiet" }, tn("Only the last %(n)s shake of the igloo is kept; older ones gave way.", "Only the last %(n)s shakes of the igloo are kept; older ones gave way.", now.stored)),
    mine && now.more !== null && h("button", { type: "button", class: "second", "data-do": "past-more" }, t("Older ones")));
}
