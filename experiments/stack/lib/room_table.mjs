// A search for the size of a room, as text. Pure.
import { markdown, number } from '../../../bench/lib/markdown.mjs';

const FIGURES = ['people', 'copies a second', 'delivered', 'p50', 'p99'];
const TABLE = { head: [...FIGURES, 'trials that held'], right: FIGURES };

const ms = (value) => (value === null ? '–' : `${value < 10 ? value.toFixed(1) : number(value)} ms`);

/** The answer, and a row a size: all trials of it, the figures of its worst one. */
export function curve({ found, trials, limited_by, until, version }) {
  const sizes = [...new Set(trials.map(({ load }) => load))].sort((a, b) => a - b);
  const rows = sizes.map((size) => row(size, trials.filter(({ load }) => load === size)));
  return [markdown(TABLE, rows), '', answer(found, limited_by), `\`${until}\`, Sonagi ${version}.`].join('\n');
}

function row(size, trials) {
  const worst = trials.toSorted((a, b) => (b.p99_ms ?? Infinity) - (a.p99_ms ?? Infinity))[0];
  const delivered = Math.min(...trials.map(({ delivered }) => delivered ?? 0));
  const held = trials.filter(({ outcome }) => outcome === 'held').length;
  const doubtful = trials.filter(({ outcome }) => outcome === 'unreliable').length;
  const beside = doubtful > 0 ? `, ${doubtful} limited by the generator` : '';
  const share = delivered === 1 ? '100 %' : `${Math.min(99.99, delivered * 100).toFixed(2)} %`;
  const latencies = [ms(worst.p50_ms), ms(worst.p99_ms)];
  return [number(size), number(size * size), share, ...latencies, `${held} of ${trials.length}${beside}`];
}

function answer({ lower, upper }, limitedBy) {
  if (!lower) return 'No size was confirmed to hold.';
  const above = upper ? `${number(upper.load)} do not` : 'no size above it was confirmed not to';
  return `A room of ${number(lower.load)} people holds, ${above}.${limitedBy ? ` ${limitedBy}` : ''}`;
}
