// What a tap means: moves are paths over places and buttons; a path that is complete is played.

/** Whether a step of a path is a button of its own and no place of the picture. */
export const isKey = (step) => step.startsWith("=");

const begins = (move, path) => path.every((step, i) => move.path[i] === step);

/** The moves that go on from a path, by their next step. */
export function onwards(moves, path) {
  const found = new Map();
  for (const move of moves) {
    if (move.path.length <= path.length || !begins(move, path)) continue;
    const step = move.path[path.length];
    found.set(step, [...(found.get(step) ?? []), move]);
  }
  return found;
}

/** The moves that are complete with a path. */
export const complete = (moves, path) => moves.filter((move) => move.path.length === path.length && begins(move, path));

/**
 * What tapping `place` means after `path`: `{play}` a move, `{path}` a longer or new path, `{choices}` several moves
 * between which a button decides, or null where nothing of the kind is legal. `guessed` says that nobody tapped the path.
 */
export function tapped(moves, path, place, guessed = false) {
  if (path.at(-1) === place) return { path: path.slice(0, -1) };
  let longer = [...path, place];
  let found = moves.filter((move) => begins(move, longer));
  // Who moved a piece and did not choose it anew may mean a place by itself: an animal to hunt, not a walk to its floe.
  if (guessed && found.length && path.length && !isKey(path[0])) {
    found = [...found, ...complete(moves, [place]).filter((move) => !found.includes(move))];
  } else if (!found.length && path.length) {
    longer = [place];
    found = moves.filter((move) => begins(move, longer));
  }
  if (!found.length) {
    // A place where only one piece can go need not be told which one.
    found = moves.filter((move) => move.path.length > 1 && !move.path.some(isKey) && move.path.at(-1) === place);
    if (!found.length) return null;
    // … nor where one does it for less than all others: who means a kayak instead of a walk taps the inuit first.
    const least = Math.min(...found.map((move) => move.cost ?? 0));
    const cheap = found.filter((move) => (move.cost ?? 0) === least);
    return cheap.length === 1 ? { play: cheap[0] } : { choices: found };
  }
  // Where something must be done and only one way leads on from here, as when a floe has to drift, it is meant.
  if (found.length === 1 && longer.length === 1 && moves.every((move) => move.path.length > 1 && move.cost === null && !move.path.some(isKey))) {
    return { play: found[0] };
  }
  const done = found.filter((move) => move.path.length <= longer.length);
  if (done.length < found.length) return { path: longer };
  return done.length === 1 ? { play: done[0] } : { choices: done };
}

/** The places from which a piece goes to another place. */
export const carried = (moves) => new Set(moves.filter((move) => move.path.length > 1 && !move.path.some(isKey)).map((move) => move.path[0]));

/** The place from which the next move may go on, so that a walk of several steps is one tap a step. */
export function followed(moves, place) {
  return place && moves.some((move) => move.path.length > 1 && move.path[0] === place) ? [place] : [];
}
