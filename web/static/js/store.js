// All that the page knows, in one place; whoever changes it, everything is drawn again.

export const store = {
  // The night, as /api/state gives it.
  view: null,
  me: { role: "spectator", id: null, label: "", colour: null },
  /** Whether boards are asked for as everybody may see them, whatever seat this phone has. */
  open: false,
  igloo: { igloos: [], simulated: false },
  motion: { state: null },
  count: { hidden: true, state: null },
  camera: { camera: null, table: null },
  // The vote of the table on a silent rulebook.
  ballot: { option: null, last: null },
  // What the referee's balance is at.
  balance: { hidden: false, revision: -1, now: null },
  // What is measured of an igloo in the workshop.
  calibrationRun: { hidden: false, revision: 0, sitting: null },
  // connecting | live | polling | lost
  link: "connecting",
  sending: 0,
  // Whether what was sent has had no answer for a while.
  slow: false,
  // { en, fr, clauses, problem }
  refusal: null,
  // The newest entry when the page was last left, until what came since is seen.
  away: null,
  // A game on a board, as /api/board gives it for this phone's seat.
  board: null,
  // The places tapped so far of a move that is not complete.
  path: [],
  // Whether nobody tapped that path: it goes on where the last move ended.
  guessed: false,
  // Several moves that a tap may mean.
  choices: null,
  // Where the last move ended.
  follow: null,
  // How the boards of its box may lie.
  layouts: [],
  // How many play it.
  many: null,
  // The game that is being set up.
  game: null,
  // The people of the house, once they were fetched.
  people: null,
  // Whether somebody has another name or face since.
  renamed: false,
  // The questions before a game, fetched when they are needed.
  options: null,
};

/** A page that is in sight is painted sooner. */
const PAINT_MS = 200;
const painters = [];
const lamps = [];
let waiting = false;

/** Have `paint` called after every change. */
export function onChange(paint) {
  painters.push(paint);
}

/** Change the store; what changed is drawn once for many changes: at once, or `soon` where more is about to come. */
export function change(alter, soon = queueMicrotask) {
  alter(store);
  waiting = true;
  soon(() => {
    if (!waiting) return;
    waiting = false;
    for (const paint of painters) paint(store);
  });
}

/** Have `paint` called when a command goes out or is answered: nothing else of the page is drawn for that. */
export const onSending = (paint) => lamps.push(paint);

/** So many commands are on their way. */
export function sends(count) {
  store.sending = count;
  for (const paint of lamps) paint();
}

/** Draw after so long, unless something else is drawn before; a page that nobody looks at would wait long for it. */
export const later = (ms) => (paint) => (document.hidden ? queueMicrotask(paint) : setTimeout(paint, ms));

/** Take what the balance is at; what was told later and came earlier stays. */
export function takeBalance({ hidden, revision, now }) {
  change((s) => { if (revision >= s.balance.revision) s.balance = { hidden, revision, now }; });
}

export const isHost = () => store.me.role === "host";
export const mayAct = () => store.me.role === "host" || store.me.role === "player";
export const match = () => store.view?.match ?? null;

/** Whether a round of shaking is under way: then nothing here may tell a count. */
export const liveRound = () => match()?.phase === "shaking";

/** Whether no count may be told now: in a round, and in its check until the first igloo is turned over. */
export const countHidden = () => liveRound() || Boolean(store.count.hidden);

/** Go on when what was drawn is painted; where nothing is painted, soon. */
export function painted(go) {
  const late = setTimeout(go, PAINT_MS);
  requestAnimationFrame(() => setTimeout(() => {
    clearTimeout(late);
    go();
  }));
}

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

const soundsKey = () => (store.open ? "sounds-tv" : "sounds");

/** Whether this device is heard: who only watches says so first, and a television has a wish of its own. */
export const soundsOn = () => memory.get(soundsKey(), !store.open && mayAct());

/** Have this device heard, or not. */
export const wishSounds = (on) => memory.set(soundsKey(), on);
