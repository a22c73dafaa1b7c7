// Whose turn it is, for who does not look at the table: the title says it, and a phone whose turn comes sounds and trembles.

import { playerName } from "./art.js";
import { awakenSound, sound } from "./sounds.js";
import { match, memory, onChange, store } from "./store.js";
import { t } from "./words.js";

const turnOf = (game) => (game?.over === false && game.players.find((one) => one.turn)) || null;

/** Another tab, or a phone among others, shows nothing of the table but the title of its page. */
export function entitle(house) {
  const player = turnOf(match());
  const turn = player && (player.colour === store.me.colour ? t("It is your turn.") : t("%(who)s plays", { who: playerName(player) }));
  document.title = [turn, house].filter(Boolean).join(" · ");
}

/** It is the turn of who has this phone; a page that nobody has tapped on may not tremble. */
export function mine() {
  sound("mine");
  if (memory.get("tremble", true) && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
}

// Nothing is known until the table was seen once: `known` tells that from a table without a game.
let known = false;
let last = null;

/** Say it when a turn comes, in whatever room, by a move or with a game that begins; what was taken back is no turn that came. */
function follow() {
  if (!store.view) return;
  const game = match();
  const turn = turnOf(game)?.colour ?? null;
  const comes = game?.id === last?.id ? turn !== last?.turn && game?.moves > last?.moves : known && game?.moves === 0;
  if (turn && comes && turn === store.me.colour) mine();
  known = true;
  last = game && { id: game.id, moves: game.moves, turn };
}

onChange(follow);
for (const event of ["pointerdown", "keydown"]) addEventListener(event, awakenSound, { passive: true });
