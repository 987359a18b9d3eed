// One run of which every second block of seconds is disturbed: two blocks that follow one another are a pair. What differs from
// run to run (where memory lies, which core a thread got) is in both halves of it.

/** How long a block is (s), and how long after the run's start the first one begins: no row of a second lies across its edges. */
export const BLOCK_S = 4;
export const FIRST_S = 0.5;

/** The rows of `sonagi report --csv`: objects of numbers by column; an empty cell is undefined. */
export function rows(csv) {
  const [head, ...lines] = csv.trim().split('\n');
  const columns = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(columns.map((name, at) => [name, cells[at] === '' ? undefined : Number(cells[at])]));
  });
}

/** Whether a block, counted from 0, is disturbed: in every second pair the first one is. */
export const isDisturbed = (block) => [false, true, true, false][block % 4];

/** Pairs of the figures of neighbouring blocks, `[quiet, disturbed]`, of those rows that lie wholly within one. */
export function blockPairs(rows, count, figures) {
  const within = Array.from({ length: count }, (_, block) => {
    const [from, to] = [FIRST_S + BLOCK_S * block, FIRST_S + BLOCK_S * (block + 1)];
    return rows.filter((row) => row.time_s - row.interval_s >= from && row.time_s <= to);
  });
  const pairs = [];
  for (let first = 0; first + 1 < count; first += 2) {
    const two = [first, first + 1];
    if (two.some((block) => within[block].length === 0)) continue;
    const of = (wanted) => figures(within[two.find((block) => isDisturbed(block) === wanted)]);
    pairs.push([of(false), of(true)]);
  }
  return pairs;
}
