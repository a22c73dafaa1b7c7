// All that the page knows, in one place; whoever changes it, everything is drawn again.

export const store = {
  view: null, // the night, as /api/state gives it
  me: { role: "spectator", id: null, label: "", colour: null },
  igloo: { igloos: [], simulated: false },
  motion: { state: null },
  count: { hidden: true, state: null },
  camera: { camera: null, table: null },
  ballot: { option: null, last: null }, // the vote of the table on a silent rulebook
  bench: { hidden: false, revision: 0, sitting: null }, // what is measured of an igloo in the workshop
  link: "connecting", // connecting | live | polling | lost
  sending: 0,
  refusal: null, // { en, fr, clauses, problem }
  pick: { colour: null, card: null, cap: null },
  away: null, // the newest entry when the page was last left, until what came since is seen
  board: null, // a game on a board, as /api/board gives it for this phone's seat
  path: [], // the places tapped so far of a move that is not complete
  guessed: false, // whether nobody tapped that path: it goes on where the last move ended
  choices: null, // several moves that a tap may mean
  follow: null, // where the last move ended
  layouts: [], // how the boards of its box may lie
  many: null, // how many play it
  game: null, // the game that is being set up
  people: null, // the people of the house, once they were fetched
  renamed: false, // whether somebody has another name or face since
  options: null, // the questions before a game, fetched when they are needed
};

const painters = [];
let waiting = false;

/** Have `paint` called after every change. */
export function onChange(paint) {
  painters.push(paint);
}

/** Change the store; what changed is drawn soon, once for many changes. */
export function change(alter) {
  alter(store);
  if (waiting) return;
  waiting = true;
  queueMicrotask(() => {
    waiting = false;
    for (const paint of painters) paint(store);
  });
}

export const isHost = () => store.me.role === "host";
export const mayAct = () => store.me.role === "host" || store.me.role === "player";
export const match = () => store.view?.match ?? null;

/** Whether a round of shaking is under way: then nothing here may tell a count. */
export const liveRound = () => match()?.phase === "shaking";

/** A random name for one action, without crypto.randomUUID, which plain HTTP does not have. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What this device remembers from one evening to the next; nothing where the browser forbids it. */
export const memory = {
  get(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(`companion.${name}`)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`companion.${name}`, JSON.stringify(value));
    } catch {
      // A browser that keeps nothing only means typing the names again.
    }
  },
};
