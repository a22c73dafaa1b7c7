// A game that was only counted becomes one of the night: who played, and the way to keep it.

import { h } from "./dom.js";
import { colourName, icon, token } from "./art.js";
import { nameField, whoIsHere } from "./faces.js";
import { gameOf } from "./games.js";
import { act } from "./net.js";
import { isHost, match, mayAct, memory } from "./store.js";
import { t } from "./words.js";

const recalled = (game) => memory.get(`sheet-names.${game}`, {});

/** The open game, while it goes on. */
export const openGame = () => (match() && !match().over ? match() : null);

/** Whether the open game goes on with these seats: then a sheet may end it. */
const fits = (game, seats) => {
  const open = openGame();
  return open?.game === game && open.players.length === seats.length
    && (gameOf(game).seats.numbered || open.players.every((player) => seats.includes(player.colour)));
};

/** What keeps a sheet from being kept, in a sentence; null where nothing does. */
function obstacle(now, own, checked) {
  const { game, sheet, seats } = now;
  if (!checked) return t("To keep this game, first check what is marked above.");
  const missing = own.missing?.(now);
  if (missing) return missing;
  if (sheet.problems.length) return t("To keep this game, first put right what cannot be so.");
  if (!openGame()) return null;
  if (fits(game, seats)) return isHost() ? null : t("A game is open. The host can end it with these totals.");
  return t("Another game is open. When it has ended, this one can be kept.");
}

/** Who only watches counts for himself: said at the top of the sheet. */
export function watching() {
  return mayAct() ? null : h("div", { class: "note", "data-key": "watching" },
    h("p", null, t("You are watching: count here for yourself. Anyone who joins with the table’s PIN can also keep the game, or fill the sheet from a photo.")),
    h("p", null, h("a", { class: "second", href: "/join" }, icon("people"), t("Join"))));
}

/** The way to keep what was counted, on a game's `own` sheet; nothing for who only watches. */
export function savePanel(now, own, checked) {
  const { game, seats } = now;
  if (!now.sheet || !mayAct()) return null;
  const wrong = obstacle(now, own, checked);
  if (wrong) return h("p", { class: "note", "data-key": "cannot-keep" }, wrong);
  if (openGame()) {
    return h("section", { class: "panel", "data-key": "keep-into" },
      h("h2", null, t("Keep this game")),
      h("p", null, t("The open game ends with these totals; what has been entered stays.")),
      h("button", { type: "button", class: "main", "data-do": "keep-into" }, icon("check"), t("End the open game with these totals")));
  }
  const names = recalled(game);
  return h("form", { class: "panel setup", "data-submit": "keep-sheet", "data-key": `keep-${game}-${seats.join()}`, novalidate: true },
    h("h2", null, t("Keep this game")),
    h("p", { class: "sentence" }, t("Who played? Once kept, it counts as one of tonight’s games. A name is optional.")),
    whoIsHere(seats.map((seat) => names[seat] ?? "")),
    h("ul", { class: "seat-choices" }, seats.map((seat) => h("li", { class: "seat-choice" },
      h("span", { class: "on" }, token(seat, "large", game), h("span", { class: "colour" }, colourName(seat))),
      nameField({ name: `name-${seat}`, value: names[seat] ?? "",
        autocapitalize: "words", enterkeyhint: "done", placeholder: t("Name"), "aria-label": t("Name of %(colour)s", { colour: colourName(seat) }) })))),
    h("button", { type: "submit", class: "main" }, icon("check"), t("Keep this game")));
}

/** Where seats are numbered, players sit as p1, p2 … in their order. */
const colourOf = (game, seat, index) => (gameOf(game).seats.numbered ? `p${index + 1}` : seat);

/** Keep the sheet with the names of the form; tells whether it is kept. */
export async function saveSheet(form, { game, seats }, position) {
  const data = new FormData(form);
  const names = Object.fromEntries(seats.map((seat) => [seat, (data.get(`name-${seat}`) ?? "").trim()]));
  const players = seats.map((seat, i) => ({ colour: colourOf(game, seat, i), name: names[seat] }));
  const answer = await act("keep-sheet", { position, players });
  if (answer?.ok) memory.set(`sheet-names.${game}`, names);
  return Boolean(answer?.ok);
}

/** End the open game with the totals of the sheet. */
export const saveInto = async (position) => Boolean((await act("keep-sheet", { position, into: openGame()?.id }))?.ok);
