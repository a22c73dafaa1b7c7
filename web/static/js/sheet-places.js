// Places as a score sheet holds them (things by `kind which`, with their count), and in the one form of a board.

/** A place of a board as the sheet holds it. */
export const held = (place) => ({ ground: place.ground, things: Object.fromEntries(place.things.map((one) => [`${one.kind} ${one.colour ?? one.value ?? 4}`, one.count ?? 1])) });

/** A place of the sheet in the one form of a board. */
export const onBoard = ({ ground, things }) => ({ ground, things: Object.entries(things).filter(([, count]) => count > 0).map(([what, count]) => {
  const [kind, which] = what.split(" ");
  return Number(which) ? { kind, value: Number(which), count } : { kind, colour: which, count };
}) });

export const boards = (squares) => Object.fromEntries(Object.entries(squares).map(([name, square]) => [name, onBoard(square)]));
