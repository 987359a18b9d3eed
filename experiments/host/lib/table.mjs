// What checks came to, as text.

/** The rows of a check are made together: those of checks that were not made this time stay. */
export const TABLE = {
  head: ['check', 'what', 'asked', 'got', 'held', 'machine load', 'measured with'],
  right: ['asked', 'got', 'machine load'],
};

const WORD = { true: 'yes', false: 'NO', undefined: '' };

/** The cells of one figure of a check; what nothing is promised of is neither held nor not. */
export const rowOf = (check, { what, asked, got, isHeld, load }, where) => [check, what, asked, got, WORD[isHeld], load, where];

/** The same in a line. */
export const told = ({ what, asked, got, isHeld }) =>
  `${isHeld === false ? 'NOT HELD ' : ''}${what}: asked ${asked}, got ${got}`;
