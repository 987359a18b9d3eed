// What runs came to, as text.
import { markdown, range } from '../../../bench/lib/markdown.mjs';
import { accused, judged, place } from './judge.mjs';

const TABLE = {
  head: ['planted', 'rule', 'runs', 'named first', 'second', 'not', 'named instead', 'healthy runs', 'accused', 'machine load'],
};

/** One run in a line; with details also why. */
export function told(plant, { planted, seed, load, diagnosis, error }, details) {
  const which = `${plant.name.padEnd(20)} ${planted ? 'planted' : 'healthy'} seed ${seed}, load ${load.toFixed(1)}:`;
  if (error !== undefined) return `${which} FAILED: ${error}`;
  const named = diagnosis.findings.map(({ id, confidence }) => `${id} (${confidence})`).join(', ') || 'nothing';
  const verdict = planted ? place(diagnosis, plant.expects) : accused(diagnosis) ? 'ACCUSED' : 'not accused';
  const lines = [`${which} ${verdict}: ${named}`];
  if (details) {
    lines.push(...diagnosis.story.symptoms.map(({ kind, onset_s, text }) => `     ${kind} at ${onset_s} s: ${text}`));
    for (const { id, evidence } of diagnosis.findings) lines.push(...evidence.map(({ text }) => `     ${id}: ${text}`));
    lines.push(...diagnosis.ruled_out.filter(({ id }) => id === plant.expects).map(({ id, why }) => `     ${id} ruled out: ${why}`));
    lines.push(...diagnosis.changed.map(({ text }) => `     changed: ${text}`));
  }
  return lines.join('\n');
}

/** The table of all plants, and the sums under it. */
export function page(results) {
  const lines = [markdown(TABLE, results.map(row))];
  const done = results.filter(({ runs }) => runs.length > 0).map((result) => judged(result));
  const sum = (of) => done.reduce((sum, result) => sum + of(result), 0);
  const kinds = done.filter(({ planted, first }) => planted > 0 && first === planted).length;
  lines.push('', `Named first in all runs: ${kinds} of ${results.length} kinds. Healthy runs accused: ${sum(({ wrongly }) => wrongly.length)} of ${sum(({ healthy }) => healthy)}.`);
  if (sum(({ failed }) => failed) > 0) lines.push(`Runs that failed: ${sum(({ failed }) => failed)}.`);
  return lines.join('\n');
}

function row({ plant, runs, impossible }) {
  const name = `${plant.name}: ${plant.about}`;
  if (impossible) return [name, plant.expects, 'not run', '', '', '', impossible, '', '', ''];
  const { planted, first, second, not, instead, healthy, wrongly } = judged({ plant, runs });
  const load = range(runs.map(({ load }) => load), (load) => load.toFixed(1));
  const accusation = wrongly.length === 0 ? '0' : `${wrongly.length} (${[...new Set(wrongly)].join(', ')})`;
  return [name, plant.expects, planted, first, second, not, instead.join(', '), healthy, accusation, load];
}
