// One run that is disturbed for blocks of seconds: quiet, disturbed, disturbed, quiet, and so on, so that a drift cancels out.
// Two blocks that follow one another are a pair; what differs from run to run (where memory lies, which core a thread got) is in
// both halves of it.

export const BLOCK_S = 4;
/** Edges lie in the middle of a row of a second, and that row is left out: who begins or ends late reaches no other one. */
export const EDGE_S = 0.5;

/** Whether a block, counted from 0, is disturbed. */
export const isDisturbed = (block) => [false, true, true, false][block % 4];

/** When a block begins, in seconds from the run's start; before the first one the run settles for whole seconds. */
export const begin = (settled, block) => settled + EDGE_S + BLOCK_S * block;

/** The rows of `sonagi report --csv` of a run without tags: numbers by column; an empty cell and what is no number are undefined. */
export function rows(csv) {
  if (csv.includes('"')) throw new Error('the table has quoted cells, which nobody reads here');
  const [head, ...lines] = csv.trim().split('\n');
  const columns = head.split(',');
  const number = (cell) => (cell === '' || Number.isNaN(Number(cell)) ? undefined : Number(cell));
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [columns[at], number(cell)])));
}

/** Pairs of the figures of neighbouring blocks, `[quiet, disturbed]`, of the rows that lie wholly within one. */
export function blockPairs(seconds, { settled, count }, figures) {
  const of = (block) => {
    const inside = seconds.filter((row) => row.time_s - row.interval_s >= begin(settled, block) && row.time_s <= begin(settled, block + 1));
    const found = figures(inside);
    const missing = Object.entries(found).find(([, value]) => !Number.isFinite(value));
    if (missing) throw new Error(`block ${block} has no ${missing[0]}: its ${inside.length} rows say ${missing[1]}`);
    return found;
  };
  const pairs = Array.from({ length: count >> 1 }, (_, pair) => [2 * pair, 2 * pair + 1]);
  return pairs.map((two) => [false, true].map((wanted) => of(two.find((block) => isDisturbed(block) === wanted))));
}
