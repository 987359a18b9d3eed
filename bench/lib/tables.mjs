// Results as Markdown: a table per case, the table of all claims. Pure: documents in, text out.
import { markdown } from './markdown.mjs';
import { judge } from './claims.mjs';
import { readable } from './measures.mjs';
import { summaries } from './statistics.mjs';

/** A case's table with what belongs under it. */
export function caseText(result) {
  const rows = rowsOf(result);
  const lines = [`## ${result.title}`, '', result.about, '', table(result, rows), ''];
  const notes = notesOf(result);
  if (notes.length > 0) lines.push(...notes.map((note) => `- ${note}`), '');
  if (result.stale) lines.push('**Stale**: the code that every case measures (wire, measure, transport, engine) has changed since.', '');
  lines.push(`${result.date} UTC, commit ${result.commit}, ${result.rounds} rounds, load average before: ${result.machine.load_before.toFixed(2)}.`, '');
  lines.push('<details><summary>commands</summary>', '', '```', ...commandsOf(result), '```', '', '</details>', '');
  return lines.join('\n');
}

/** The claims of all cases: `| target | says | verdict | figure |`. */
export function claimsText(results) {
  const lines = ['| case | target | verdict | figure |', '|---|---|---|---|'];
  for (const result of results) for (const claim of judged(result)) lines.push(claimLine(result, claim));
  return lines.join('\n');
}

/** Each claim of a case with its verdict. */
export function judged(result) {
  const [rows, counts] = [rowsOf(result), countsOf(result)];
  return result.claims.map((claim) => ({ ...claim, ...judge(claim, rows, result.columns, counts) }));
}

function claimLine(result, { says, measure, worst: isWorst, verdict, figure, of, against, why, short, capped }) {
  const column = result.columns[measure];
  const worst = isWorst ? ' in the worst run' : '';
  const value = against ? `${capped ? '≥ ' : ''}${readable(figure)} × (${of} ÷ ${against})` : readable(figure, column?.unit);
  const shown = figure === undefined ? why : [value + worst, short].filter(Boolean).join('; ');
  return `| ${linkOf(result)} | ${says} | ${verdict === 'met' ? 'met' : `**${verdict}**`} | ${shown} |`;
}

/** Of each row, by name: how many runs it had, how many of them failed, and how many fell short. */
export const countsOf = ({ rows, runs }) =>
  Object.fromEntries(
    rows.map(({ name }) => {
      const own = runs.filter((run) => run.contestant === name);
      return [name, { runs: own.length, failed: own.filter((run) => run.error).length, short: own.filter((run) => run.falls_short).length }];
    }),
  );

/** Medians by contestant's name, as judged. */
export const rowsOf = (result) => Object.fromEntries(result.rows.map(({ name }) => [name, summaries(result.runs.filter((run) => run.contestant === name))]));

function table({ rows: contestants, columns, headline, advantage: better = 'sonagi is better by' }, rows) {
  const measured = Object.entries(columns).filter(([name]) => contestants.some((row) => rows[row.name][name]));
  const foreign = contestants.some(({ target }) => target !== contestants[0].target);
  const head = ['tool', ...(foreign ? ['target'] : []), ...measured.map(([, { label }]) => label), better];
  const lines = contestants.map(({ name, target }) => {
    const cells = measured.map(([measure, { unit }]) => cell(rows[name][measure], unit) + (measure === 'target_cpu' ? busy(rows[name][measure]) : ''));
    return [name, ...(foreign ? [target] : []), ...cells, advantage(rows, contestants, name, headline, columns)];
  });
  return markdown({ head, right: head.slice(1) }, lines);
}

/** `median (min–max)`; the range is left out where every run gave the same. */
function cell(summary, unit) {
  if (!summary) return '–';
  const [middle, least, most] = [summary.median, summary.min, summary.max].map((value) => readable(value, unit));
  return least === most ? middle : `${middle} (${least}–${most})`.replaceAll(' %–', '–');
}

/**
 * How many times better the row it stands `beside` is in the headline, or without one the first row of Sonagi on the same
 * target; below 1 that is worse.
 */
function advantage(rows, contestants, name, headline, columns) {
  const ours = rivalOf(contestants, contestants.find((one) => one.name === name));
  if (!ours || ours.name === name) return '';
  const [mine, theirs] = [rows[ours.name][headline]?.median, rows[name][headline]?.median];
  if (mine === undefined || theirs === undefined) return '–';
  return `${readable(columns[headline].better === 'higher' ? mine / theirs : theirs / mine)} ×`;
}

/** The row that a row is compared with, itself maybe; undefined where there is none. */
export const rivalOf = (contestants, { target, beside }) =>
  contestants.find((one) => (beside ? one.name === beside : one.tool === 'sonagi' && one.target === target));

/** From this share of its core on, it is the target that is measured; from the other on it has its part in what is. */
const TARGET_LIMIT = 0.95;
const TARGET_BUSY = 0.7;

/** What the row says of the target's share beside the figure. */
function busy(summary) {
  if (!summary || summary.median < TARGET_BUSY) return '';
  return summary.median < TARGET_LIMIT ? ', busy' : ', the limit';
}

/** What a reader must know beside the figures: rows left out, missing peers, failed runs, runs that fell short, a busy target. */
function notesOf(result) {
  const { unavailable, runs, rows, left_out = [] } = result;
  const reasons = [...new Set(unavailable.map(({ reason }) => reason))];
  const notes = reasons.map((reason) => {
    const names = unavailable.filter((one) => one.reason === reason).map(({ name }) => `**${name}**`);
    return `${names.join(', ')}: not available: ${reason.replaceAll(/\s*\n\s*/g, '; ')}`;
  });
  if (left_out.length > 0) notes.push(`not run by default: ${left_out.map((name) => `**${name}**`).join(', ')} (PEERS=all)`);
  const medians = rowsOf(result);
  for (const { name } of rows) {
    const own = runs.filter((run) => run.contestant === name);
    const failed = own.filter((run) => run.error);
    if (failed.length > 0) notes.push(`**${name}**: ${failed.length} of ${own.length} runs failed: ${failed[0].error}`);
    const short = own.filter((run) => run.falls_short);
    if (short.length > 0) notes.push(`**${name}** fell short in ${short.length} of ${own.length} runs: ${short[0].falls_short}`);
    const target = medians[name].target_cpu?.median;
    if (target >= TARGET_LIMIT) notes.push(`**${name}**: the target was the limit (${readable(target, 'share')} of its core)`);
    notes.push(...disturbances(name, own));
    const fewer = own.length > 0 && rows.find((row) => row.name === name).rounds;
    if (fewer && fewer < result.rounds) notes.push(`**${name}**: in ${fewer} of ${result.rounds} rounds only`);
  }
  return notes;
}

/** How many runs of a row were made again, and how much was stolen at most in those that count; nothing where none was. */
function disturbances(name, runs) {
  const again = runs.reduce((sum, run) => sum + (run.again ?? 0), 0);
  if (again === 0) return [];
  const most = Math.max(...runs.map(({ stolen = 0 }) => stolen));
  return [`**${name}**: ${again} ${again === 1 ? 'run' : 'runs'} made again, as others took the machine’s time; of those that count at most ${readable(most, 'share')}`];
}

/** Of every target and of every row: each once. */
function commandsOf({ rows, runs }) {
  const first = (key) => rows.map(({ name }) => runs.find((run) => run.contestant === name && run[key])?.[key]).filter(Boolean);
  return [...new Set(first('target_command')), ...first('command')];
}

/** Of a case, to its table; says of figures that are of older code that they are. */
export const linkOf = ({ case: name, title, stale }) => `[${name}](#${anchor(title)})${stale ? ' *(stale)*' : ''}`;

/** As GitHub makes it of a heading. */
export const anchor = (title) => title.toLowerCase().replace(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-');
