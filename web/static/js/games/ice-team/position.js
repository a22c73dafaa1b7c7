// A position of Ice Team that is laid by hand: boards of floes.

import { h } from "../../dom.js";
import { colourName, playerName, token } from "../../art.js";
import { group, number, toggle, whole } from "../../position-editor.js";
import { said, t } from "../../words.js";

const MOST_BEARS = 4;

const bearsOn = (p, place, colour) => (p.places[place]?.things ?? []).find((one) => one.colour === colour)?.count ?? 0;

function faceName(face, words) {
  return { sea: t("open sea"), igloo: t("an igloo with its fish"), searched: t("a searched igloo"), floe: t("any floe"), start: t("Start"), village: t("Village") }[face] ?? said(words[face]);
}

function iceSpace({ p, place, words, open }) {
  const here = p.places[place];
  if (place === "start") return h("p", null, t("Bears that stand nowhere else wait here."));
  if (place === "village") {
    return p.players.map(({ colour }) => group(t("Bears at home: %(who)s", { who: colourName(colour) }),
      Array.from({ length: MOST_BEARS + 1 }, (_, n) => toggle("bears", colour, n, bearsOn(p, place, colour) === n, n))));
  }
  const built = ["igloo", "searched"].includes(here.ground);
  const faces = built ? ["igloo", "searched"] : ["floe", ...Object.keys(words), "sea"];
  const often = built ? faces : ["floe", "plain", "penguin1", "penguin2", "penguin3", "drift", "paw", "sea"].filter((face) => faces.includes(face));
  const shown = open === "faces" || !often.includes(here.ground) ? faces : often;
  return [
    group(t("Who stands on %(place)s?", { place }), p.players.map(({ colour }) => toggle("bear", colour, null, bearsOn(p, place, colour) > 0, token(colour, "", p.game), t("bear: %(colour)s", { colour: colourName(colour) })))),
    group(t("What lies on %(place)s?", { place }), [
      ...shown.map((face) => toggle("face", face, null, here.ground === face, faceName(face, words))),
      shown.length < faces.length ? toggle("open", "faces", null, false, t("More …")) : null]),
  ];
}

/** Whose bear stands on which space, and what lies there. */
function iceName(place, { p, words }) {
  const here = p.places[place];
  if (!here) return place;
  const bears = here.things.filter((one) => one.count > 0).map((one) => `${t("bear: %(colour)s", { colour: colourName(one.colour) })}${one.count > 1 ? ` ×${one.count}` : ""}`);
  return [["start", "village"].includes(place) ? faceName(place, words) : t("%(name)s: %(what)s", { name: place, what: faceName(here.ground, words) }), ...bears].join(", ");
}

/** Whose turn it is now is a new action: what was under way is over. */
function anew(p) {
  for (const field of ["to_move", "phase", "pending", "loser"]) delete p[field];
}

export default {
  hint: () => t("Tap a space to put a bear there, or to say what the floe shows. What does not matter may stay as it is."),
  dock: iceSpace,
  turn: ({ p }) => [
    group(t("Whose turn is it?"), p.players.map(({ colour }) => toggle("turn", colour, null, p.turn === colour, token(colour, "", p.game), colourName(colour)))),
    group(t("How many actions are left?"), [2, 1].map((n) => toggle("actions", n, null, p.actions === n, n))),
  ],
  more: ({ p }) => [t("Fish that were caught"), p.players.map((one) => h("fieldset", { "data-key": one.colour }, h("legend", null, token(one.colour, "", p.game), " ", playerName(one)),
    number("fresh", one.colour, one.fresh ?? 0, 99, t("fresh fish")), number("frozen", one.colour, one.frozen ?? 0, 99, t("frozen fish"))))],
  name: iceName,
  unfolded: (gestures) => gestures[0]?.text !== "stop",
  taken: (p) => { p.places.start.things = []; },
  ops: {
    bear: (p, place, colour) => {
      const there = bearsOn(p, place, colour) > 0;
      p.places[place].things = there ? [] : [{ kind: "bear", colour, count: 1 }];
      if (!there && p.places[place].ground === "sea") p.places[place].ground = "floe";
    },
    bears: (p, place, colour, n) => { p.places[place].things = [...p.places[place].things.filter((one) => one.colour !== colour), { kind: "bear", colour, count: Number(n) }]; },
    face: (p, place, face) => { p.places[place].ground = face; },
    turn: (p, place, colour) => { anew(p); p.turn = colour; },
    actions: (p, place, n) => { anew(p); p.actions = Number(n); },
    fresh: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).fresh = whole(n, 99); },
    frozen: (p, place, colour, n) => { p.players.find((it) => it.colour === colour).frozen = whole(n, 99); },
  },
};
