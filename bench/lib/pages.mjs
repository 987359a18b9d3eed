// The two pages: RESULTS.md and the section of the project's README. Pure: documents in, text out.
import { readable } from './measures.mjs';
import { caseText, claimsText, countsOf, judged, linkOf, rivalOf, rowsOf } from './tables.mjs';

export function resultsText(results) {
  const lines = ['# Results', '', '<!-- Made by bench/render.mjs from bench/results/; do not edit. -->', ''];
  lines.push('`make bench` wrote this page; [README.md](README.md) says how everything is measured, [NOTES.md](NOTES.md) what was tried.', '');
  lines.push('Medians of all rounds, in brackets the least and the greatest. A target above 70 % of its core is *busy*, and has its part in the figures of that row; above 95 % it was *the limit*.', '');
  lines.push(...machinesOf(results), '', '## Headlines', '', ...headlineTable(results.flatMap(headlines)), '');
  lines.push('## Targets', '', claimsText(results), '', ...results.map(caseText));
  return `${lines.join('\n').trimEnd()}\n`;
}

function machinesOf(results) {
  const text = ({ cpu, cores, memory_gb, kernel, governor, node }) =>
    `${cpu}, ${cores} cores, ${memory_gb} GB, kernel ${kernel}, frequency governor ${governor}, Node ${node} for the harness`;
  const machines = [...new Set(results.map((result) => text(result.machine)))];
  const versions = Object.assign({}, ...results.map((result) => result.versions));
  return [...machines.map((one) => `- ${one}`), `- ${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(' · ')}`];
}

const STALE = '*Stale* figures are of code that has changed since, in wire, measure, transport or engine.';

/** The rows that the README shows: a case, and the row of ours in it. The others stand in RESULTS.md. */
const IN_README = [['http-closed', 'sonagi'], ['ws-fanout', 'sonagi, N=500'], ['idle', 'sonagi, 10k'], ['k6-http', 'sonagi'], ['k6-held', 'sonagi, 10k']];

/** The section of the README: a few headlines, and how many targets were met. */
export function readmeText(results, chosen = IN_README) {
  const all = results.flatMap(headlines);
  const shown = chosen.flatMap(([name, ours]) => all.filter((headline) => headline.case === name && headline.ours === ours));
  const lines = ['One core for the tool, another for the target; medians of all rounds. `bare` is the floor: an epoll loop without features.', ''];
  lines.push(...headlineTable(shown), '');
  if (chosen.some(([name]) => results.find((result) => result.case === name)?.stale)) lines.push(STALE);
  lines.push(`All ${all.length} comparisons, commands and versions are in [bench/RESULTS.md](bench/RESULTS.md). ${targetsText(results)}`);
  lines.push('[bench/README.md](bench/README.md) says how everything is measured; `make bench` repeats it.');
  return lines.join('\n').replaceAll('](#', '](bench/RESULTS.md#');
}

function targetsText(results) {
  const verdicts = results.flatMap(judged).map(({ verdict }) => verdict);
  const met = verdicts.filter((verdict) => verdict === 'met').length;
  return `Sonagi meets ${met} of the ${verdicts.length} [targets](#targets) it set itself.`;
}

function headlineTable(shown) {
  return ['| case | figure | Sonagi | others |', '|---|---|---|---|', ...shown.map(({ line }) => line)];
}

/** One for each row that others are compared with: like beside like, a room of 300 with rooms of 300. */
function headlines(result) {
  const rows = rowsOf(result);
  const { label, unit } = result.columns[result.headline];
  const measured = result.rows.filter(({ name }) => rows[name][result.headline]);
  const counts = countsOf(result);
  const short = (name) => (counts[name].short > 0 ? ` (fell short in ${counts[name].short} of ${counts[name].runs} runs)` : '');
  const shown = ({ name }) => `${name}: ${readable(rows[name][result.headline].median, unit)}${short(name)}`;
  const groups = measured.map((ours) => [ours, measured.filter((other) => other !== ours && rivalOf(result.rows, other) === ours)]);
  return groups
    .filter(([, others]) => others.length > 0)
    .map(([ours, others]) => {
      const line = `| ${linkOf(result)} | ${label} | **${shown(ours)}** | ${others.map(shown).join(' · ')} |`;
      return { case: result.case, ours: ours.name, line };
    });
}

const BEGIN = '<!-- performance:begin -->';
const END = '<!-- performance:end -->';

/** `page` with what stands between the marks replaced. */
export function spliced(page, section) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the README has no ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n${section.trim()}\n${page.slice(end)}`;
}
