// The two pages: RESULTS.md and the section of the project's README. Pure: documents in, text out.
import { readable } from './measures.mjs';
import { anchor, caseText, claimsText, countsOf, rivalOf, rowsOf } from './tables.mjs';

export function resultsText(results) {
  const lines = ['# Results', '', '<!-- Made by bench/render.mjs from bench/results/; do not edit. -->', ''];
  lines.push('`make bench` wrote this page; [README.md](README.md) says how everything is measured, [NOTES.md](NOTES.md) what was tried.', '');
  lines.push('Medians of all rounds, in brackets the least and the greatest. A *target CPU* near 100 % means that the target was the limit.', '');
  lines.push(...machinesOf(results), '', '## Targets', '', claimsText(results), '', ...results.map(caseText));
  return `${lines.join('\n').trimEnd()}\n`;
}

function machinesOf(results) {
  const text = ({ cpu, cores, memory_gb, kernel, governor, node }) =>
    `${cpu}, ${cores} cores, ${memory_gb} GB, kernel ${kernel}, frequency governor ${governor}, Node ${node} for the harness`;
  const machines = [...new Set(results.map((result) => text(result.machine)))];
  const versions = Object.assign({}, ...results.map((result) => result.versions));
  return [...machines.map((one) => `- ${one}`), `- ${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(' · ')}`];
}

/** The section of the README: the headline of each case, and the targets. */
export function readmeText(results) {
  const lines = ['Tool on one core, target on another; medians of all rounds. Ranges, commands, machine and versions are in [bench/RESULTS.md](bench/RESULTS.md),'];
  lines.push('how it is measured in [bench/README.md](bench/README.md); `make bench` repeats it. `bare` is the floor: an epoll loop without features.', '');
  lines.push('| case | figure | ours | others |', '|---|---|---|---|', ...results.flatMap(headlineLines), '', claimsText(results));
  return lines.join('\n').replaceAll('](#', '](bench/RESULTS.md#');
}

/** A line for each row that others are compared with: like beside like, a room of 300 with rooms of 300. */
function headlineLines(result) {
  const rows = rowsOf(result);
  const { label, unit } = result.columns[result.headline];
  const measured = result.rows.filter(({ name }) => rows[name][result.headline]);
  const counts = countsOf(result);
  const short = (name) => (counts[name].short > 0 ? ` (fell short in ${counts[name].short} of ${counts[name].runs} runs)` : '');
  const shown = ({ name }) => `${name}: ${readable(rows[name][result.headline].median, unit)}${short(name)}`;
  const groups = measured.map((ours) => [ours, measured.filter((other) => other !== ours && rivalOf(result.rows, other) === ours)]);
  return groups
    .filter(([, others]) => others.length > 0)
    .map(([ours, others]) => `| [${result.case}](#${anchor(result.title)}) | ${label} | **${shown(ours)}** | ${others.map(shown).join(' · ')} |`);
}

const BEGIN = '<!-- performance:begin -->';
const END = '<!-- performance:end -->';

/** `page` with what stands between the marks replaced. */
export function spliced(page, section) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the README has no ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n${section.trim()}\n${page.slice(end)}`;
}
