// Who may do what: roles and rights, the table's PIN, the phones that have joined.

import { h } from "./dom.js";
import { icon } from "./art.js";
import { agreed } from "./dialogs.js";
import { ask, fetched, tell } from "./net.js";
import { change, isHost, store } from "./store.js";
import { date, t, tn } from "./words.js";

let rights = null;
let joined = null;

/** Somebody came to this part. */
export const opened = () => fetched(async () => {
  const answer = await ask("/api/rights");
  const table = isHost() ? await ask("/api/table") : null;
  change(() => { rights = answer.rights; joined = table; });
});

const YES = "yes";
const NO = "no";

/** What each role may do: the host, players, who only watches; a name stands for what the host may set. */
const RIGHTS = () => [
  [t("Follow the game, read the rules"), YES, YES, YES],
  [t("Enter moves"), YES, "players_move", NO],
  [t("See pictures of the table"), YES, "players_pictures", "watchers_pictures"],
  [t("Train, send photos, ask the referee"), YES, YES, NO],
  [t("Open and end games, correct scores, take back what was revealed"), YES, NO, NO],
  [t("Rename and forget people, settings, backups, this page"), YES, NO, NO],
];

function cell(what, role, right) {
  if (what === YES || what === NO) return h("td", null, what === YES ? icon("check") : "–", h("span", { class: "unseen" }, what === YES ? t("yes") : t("no")));
  return h("td", null, h("label", { class: "check" },
    h("input", { type: "checkbox", "data-change": "right", name: what, checked: rights[what], disabled: !isHost(), "aria-label": `${role}: ${right}` }),
    h("span", { "aria-hidden": "true" }, rights[what] ? t("yes") : t("no"))));
}

function table() {
  const roles = [t("Host"), t("Players"), t("Those watching")];
  return h("section", { class: "panel", "data-key": "rights" },
    h("h2", null, t("Roles and rights")),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("Roles and rights") }, h("table", { class: "rights" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, t("What each may do")), roles.map((role) => h("th", { scope: "col" }, role)))),
      h("tbody", null, RIGHTS().map(([right, ...who]) =>
        h("tr", null, h("th", { scope: "row" }, right), who.map((one, i) => cell(one, roles[i], right))))))),
    h("form", { class: "row keep-days", "data-submit": "keep-days" },
      h("label", { for: "keep-days" }, t("Days to keep pictures of the table (0: for ever)")),
      h("input", { id: "keep-days", name: "days", type: "number", min: 0, max: 3650, step: 1, value: rights.keep_pictures_days, required: true, disabled: !isHost() }),
      isHost() && h("button", { type: "submit", class: "second" }, t("Keep"))));
}

function pinPanel() {
  if (!joined) return null;
  return h("section", { class: "panel", "data-key": "joining" },
    h("h2", null, t("The PIN")),
    h("p", { class: "pin" }, joined.pin),
    h("div", { class: "row" },
      h("button", { type: "button", class: "second", "data-do": "new-pin" }, t("New PIN")),
      h("button", { type: "button", class: "toggle", "data-do": "joining", "aria-pressed": String(!rights.joining) }, t("Let nobody else join"))),
    h("p", { class: "quiet" }, t("Those who have joined stay, even with a new PIN.")));
}

/** From what a phone joined, in words; of its browser no more than the family is known. */
function device({ browser, system }) {
  if (browser && system) return t("%(browser)s on %(system)s", { browser, system });
  return browser || system || t("An unknown browser");
}

const when = (at) => h("time", { datetime: new Date(at).toISOString() }, date(at, { dateStyle: "medium", timeStyle: "short" }));
const whose = (one) => one.label || (one.role === "host" ? t("Host") : t("Player"));
const mine = (one) => one.id === store.me.id;

const phone = (one) => h("li", { class: "phone", "data-key": one.id },
  icon(one.role === "host" ? "crown" : "people"),
  h("div", null,
    h("strong", null, whose(one)), mine(one) && [" ", h("span", { class: "quiet" }, t("this one"))],
    h("small", { class: "quiet" }, device(one)),
    h("small", { class: "quiet" }, t("Joined:"), " ", when(one.made)),
    h("small", { class: "quiet" }, t("Last used:"), " ", when(one.seen))),
  !mine(one) && h("button", { type: "button", class: "small-button", "data-do": "end-session", "data-id": one.id,
    "aria-label": t("Withdraw %(who)s", { who: `${whose(one)}, ${device(one)}` }) }, t("Withdraw")));

function phones() {
  if (!joined) return null;
  return h("section", { class: "panel stack", "data-key": "phones" },
    h("h2", null, t("Phones that have joined")),
    h("ul", { class: "plain phones" }, joined.joined.map(phone)),
    joined.joined.length > 1 && h("div", { class: "row" },
      h("button", { type: "button", class: "second danger", "data-do": "end-others" }, t("Withdraw all others"))),
    h("p", { class: "quiet" }, tn("A phone that is not used for %(n)s day has to join again.", "A phone that is not used for %(n)s days has to join again.", joined.session_days)));
}

/** Draw this part. */
export function part() {
  if (!rights) return h("p", { class: "quiet" }, t("One moment …"));
  return [table(), pinPanel(), phones()];
}

async function andReload(work) {
  await fetched(work);
  await opened();
}

const set = (what) => andReload(() => tell("/api/settings", what));

export const PART_DO = {
  "new-pin": async () => {
    if (await agreed(t("The codes and links already given out no longer open anything."), t("New PIN"), t("Change the PIN?"))) await andReload(() => tell("/api/pin", {}));
  },
  joining: () => set({ joining: !rights.joining }),
  "end-session": async ({ id }) => {
    if (await agreed(t("This phone can only watch from now on."), t("Withdraw"), t("Withdraw its rights?"))) await andReload(() => tell(`/api/sessions/${encodeURIComponent(id)}/end`, {}));
  },
  "end-others": async () => {
    if (await agreed(t("All phones but this one can only watch from now on. Whoever knows the PIN can join again."), t("Withdraw all others"), t("Withdraw the rights of all others?"))) await andReload(() => tell("/api/sessions/end-others", {}));
  },
};

export const PART_CHANGE = { right: (box) => set({ [box.name]: box.checked }) };

export const PART_SUBMIT = { "keep-days": (form) => set({ keep_pictures_days: Number(new FormData(form).get("days")) }) };
