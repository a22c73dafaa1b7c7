// The score sheet of Ice Team: fish and bears, counted or read from a photo of the board.

import { h } from "../../dom.js";
import { colourName, playerName } from "../../art.js";
import { boards } from "../../sheet-places.js";
import { t } from "../../words.js";

const BEARS = 4;
const home = (now, colour) => now.values[colour].home ?? 0;

function position(now) {
  const bears = (place, count) => ({ ground: place, things: now.seats.map((colour) => ({ kind: "bear", colour, count: count(colour) })).filter((one) => one.count > 0) });
  const read = now.photo ? boards(now.squares) : { start: bears("start", (colour) => BEARS - home(now, colour)) };
  return {
    places: { ...read, village: bears("village", (colour) => home(now, colour)) },
    players: now.seats.map((colour) => ({ name: playerName({ colour }), colour, fresh: now.values[colour].fresh ?? 0, frozen: now.values[colour].frozen ?? 0 })),
    phase: "over", ...(now.blocked ? { loser: now.blocked } : {}),
  };
}

/** Teams that have not four bears on the board, as it was read and put right. */
function oddTeams(now) {
  const places = Object.values(position(now).places);
  const count = (seat) => places.flatMap((place) => place.things).filter((one) => one.colour === seat).reduce((sum, one) => sum + one.count, 0);
  return now.seats.map((seat) => [seat, count(seat)]).filter(([, n]) => n !== BEARS).map(([seat, n]) => h("p", { class: "note", role: "status", "data-key": `bears-${seat}` },
    t("%(colour)s has %(n)s bears here, not four: look again.", { colour: colourName(seat), n })));
}

/** The game ends when a team is home, or when one cannot move any more: that one has lost. */
function blocked(now) {
  if (now.seats.some((seat) => now.values[seat].home === BEARS)) return null;
  return h("label", { class: "count-field" }, h("span", null, t("A team that could not move any more, and so has lost")),
    h("select", { "data-change": "blocked" }, h("option", { value: "" }, t("none")),
      now.seats.map((seat) => h("option", { value: seat, selected: now.blocked === seat }, colourName(seat)))));
}

export default {
  start: () => ({ blocked: null }),
  photo: true,
  fields: () => [["fresh", t("fresh fish"), 99], ["frozen", t("frozen fish"), 99], ["home", t("bears in the Village"), BEARS, "village"]],
  position,
  doubts: oddTeams,
  below: blocked,
  // How many bears of a team stand in the Village, in a photo that was read.
  read: (now, squares) => ({
    values: { ...now.values, ...Object.fromEntries(now.seats.map((seat) => [seat, { ...now.values[seat], home: squares.village.things[`bear ${seat}`] ?? 0 }])) },
  }),
  changes: { blocked: (now, { value }) => ({ blocked: value || null }) },
};
