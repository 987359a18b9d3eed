// The two pages: RESULTS.md and the section of the project's README. Pure: documents in, text out.
import { readable } from './measures.mjs';
import { caseText, claimsText, rowsOf } from './tables.mjs';

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
  lines.push('| case | figure | ours | others |', '|---|---|---|---|', ...results.map(headlineLine), '', claimsText(results).replaceAll('](#', '](bench/RESULTS.md#'));
  return lines.join('\n');
}

function headlineLine(result) {
  const rows = rowsOf(result);
  const { label, unit } = result.columns[result.headline];
  const value = (name) => readable(rows[name][result.headline]?.median, unit);
  const [ours, ...others] = result.rows;
  const rest = others.filter(({ name }) => rows[name][result.headline]).map(({ name }) => `${name} ${value(name)}`);
  return `| ${result.title} | ${label} | **${value(ours.name)}** | ${rest.join(' · ')} |`;
}

const BEGIN = '<!-- performance:begin -->';
const END = '<!-- performance:end -->';

/** `page` with what stands between the marks replaced. */
export function spliced(page, section) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the README has no ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n${section.trim()}\n${page.slice(end)}`;
}
