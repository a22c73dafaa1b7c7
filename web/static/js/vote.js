// The vote of the table on a silent rulebook: each player on a phone of their own, above the game and the rulebook.

import { h } from "./dom.js";
import { ask, fetched, tell } from "./net.js";
import { change, isHost, mayAct, store } from "./store.js";
import { said, t, tn } from "./words.js";

let mine = { option: null, value: null };
let requested = null;

const take = (answer) => {
  if (!answer) return;
  mine = { option: answer.option, value: answer.mine };
  change((s) => { s.ballot = answer; });
};

/** What this phone voted for before it was opened anew. */
async function recall() {
  const { option } = store.ballot;
  if (requested === option || !mayAct()) return;
  requested = option;
  if (option && mine.option !== option) take(await fetched(() => ask("/api/ballot")));
}

function state({ votes, of, tied }) {
  if (tied.length) return isHost() ? t("A tie: decide between the two, or leave it as it was.") : t("A tie: the host decides.");
  return of ? t("%(votes)s of %(of)s have voted.", { votes, of }) : tn("%(n)s has voted.", "%(n)s have voted.", votes);
}

/** The open vote: question, values, how far it is. */
function openVote() {
  const { ballot } = store;
  recall();
  const { option, question, values, tied } = ballot;
  const settles = tied.length > 0;
  const open = (one) => (settles ? isHost() && tied.includes(one.value) : mayAct());
  const chosen = mine.option === option ? mine.value : null;
  return h("fieldset", { class: "choice vote", "data-key": `ballot-${option}` },
    h("legend", null, t("The rulebook is silent: the table votes."), " ", said(question)),
    values.map((one, i) => h("button", { type: "button", class: "toggle", "data-do": settles ? "ballot-decide" : "ballot-cast", "data-option": option, "data-value": JSON.stringify(one.value),
      "data-key": `ballot-${option}-${i}`, "aria-pressed": String(one.value === chosen), disabled: !open(one) },
      said(one), i === 0 ? h("em", null, ` (${t("usual")})`) : null)),
    h("p", { class: "quiet", role: "status" }, state(ballot), " ", mayAct() && !settles && (chosen === null ? t("Your vote is missing.") : t("Your vote is in; another tap changes it."))),
    isHost() && (settles
      ? h("button", { type: "button", class: "second", "data-do": "ballot-decide", "data-option": option, "data-value": "null" }, t("Leave it as it was"))
      : h("button", { type: "button", class: "second", "data-do": "ballot-close", "data-option": option }, t("Close the vote"))));
}

/** The open vote. */
export const panel = () => h("section", { class: "panel ballot", "data-key": "ballot", "aria-label": t("The table votes") }, openVote());

const send = async (way, body) => take(await fetched(() => tell(`/api/ballot${way}`, body)));

export const VOTE_DO = {
  "ballot-cast": ({ option, value }) => send("/vote", { option, value: JSON.parse(value) }),
  "ballot-close": ({ option }) => send("/close", { option }),
  "ballot-decide": ({ option, value }) => send("/decide", { option, value: JSON.parse(value) }),
};
