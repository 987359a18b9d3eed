// Results as Markdown: a table per case, the table of all claims. Pure: documents in, text out.
import { judge } from './claims.mjs';
import { readable } from './measures.mjs';
import { summaries } from './statistics.mjs';

/** A case's table with what belongs under it. */
export function caseText(result) {
  const rows = rowsOf(result);
  const lines = [`## ${result.title}`, '', result.about, '', ...table(result, rows), ''];
  const notes = notesOf(result);
  if (notes.length > 0) lines.push(...notes.map((note) => `- ${note}`), '');
  lines.push(`${result.date} UTC, commit ${result.commit}, ${result.rounds} rounds, load average before: ${result.machine.load_before.toFixed(2)}.`, '');
  lines.push('<details><summary>commands</summary>', '', '```', ...commandsOf(result), '```', '', '</details>', '');
  return lines.join('\n');
}

/** The claims of all cases: `| target | says | verdict | figure |`. */
export function claimsText(results) {
  const lines = ['| case | target | verdict | figure |', '|---|---|---|---|'];
  for (const result of results) {
    const rows = rowsOf(result);
    for (const claim of result.claims) lines.push(claimLine(result, claim, judge(claim, rows, result.columns)));
  }
  return lines.join('\n');
}

function claimLine(result, claim, { verdict, figure, of, against, why }) {
  const column = result.columns[claim.measure];
  const shown = figure === undefined ? why : against ? `${readable(figure)} × (${of} ÷ ${against})` : readable(figure, column?.unit);
  return `| [${result.case}](#${anchor(result.title)}) | ${claim.says} | ${verdict === 'met' ? 'met' : `**${verdict}**`} | ${shown} |`;
}

/** Medians by contestant's name, as judged. */
export const rowsOf = (result) => Object.fromEntries(result.rows.map(({ name }) => [name, summaries(result.runs.filter((run) => run.contestant === name))]));

function table({ rows: contestants, columns, headline, advantage: better = 'sonagi is better by' }, rows) {
  const measured = Object.entries(columns).filter(([name]) => contestants.some((row) => rows[row.name][name]));
  const foreign = contestants.some(({ target }) => target !== contestants[0].target);
  const head = ['tool', ...(foreign ? ['target'] : []), ...measured.map(([, { label }]) => label), better];
  const lines = contestants.map(({ name, target }) => {
    const cells = measured.map(([measure, { unit }]) => cell(rows[name][measure], unit));
    return [name, ...(foreign ? [target] : []), ...cells, advantage(rows, contestants, name, headline, columns)];
  });
  return [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
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

/** What a reader must know beside the figures: missing peers, failed runs, runs that fell short. */
function notesOf({ unavailable, runs, rows }) {
  const reasons = [...new Set(unavailable.map(({ reason }) => reason))];
  const notes = reasons.map((reason) => {
    const names = unavailable.filter((one) => one.reason === reason).map(({ name }) => `**${name}**`);
    return `${names.join(', ')}: not available: ${reason.replaceAll(/\s*\n\s*/g, '; ')}`;
  });
  for (const { name } of rows) {
    const own = runs.filter((run) => run.contestant === name);
    const failed = own.filter((run) => run.error);
    if (failed.length > 0) notes.push(`**${name}**: ${failed.length} of ${own.length} runs failed: ${failed[0].error}`);
    const short = own.filter((run) => run.falls_short);
    if (short.length > 0) notes.push(`**${name}** fell short in ${short.length} of ${own.length} runs: ${short[0].falls_short}`);
  }
  return notes;
}

function commandsOf({ rows, runs }) {
  return rows.map(({ name }) => runs.find((run) => run.contestant === name && run.command)?.command).filter(Boolean);
}

/** As GitHub makes it of a heading. */
export const anchor = (title) => title.toLowerCase().replace(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-');
