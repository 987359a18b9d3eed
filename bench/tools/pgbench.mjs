// pgbench: PostgreSQL's own load generator, with statements of ours. It says what the database can, whoever asks.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../../experiments/stack/lib/stack.mjs';

export const name = 'pgbench';
export const install = async () => void program(name);
export const version = () => execFileSync(program(name), ['--version'], { encoding: 'utf8' }).match(/\d+\.\d+/)[0];

/**
 * `writers` connections that send `statement` for `seconds`, each as soon as the last is answered, prepared once.
 * `variables(writer, context)` are the values of its `:names`, texts without spaces, which become the parameters of the
 * prepared statement. Each writer is a program of its own, because each has values of its own.
 */
export const prepared = (statement, { writers, seconds, variables }) => ({
  tool: name,
  command: (context) => {
    const { target, folder } = context;
    const at = new URL(target.addresses.postgres);
    writeFileSync(join(folder, 'statement.sql'), statement);
    // Results show commands and their environments, and are to show no password.
    writeFileSync(join(folder, 'pgpass'), `*:*:*:*:${at.password}\n`, { mode: 0o600 });
    at.password = '';
    const all = Array.from({ length: writers }, (_, index) => index + 1);
    for (const writer of all) {
      writeFileSync(join(folder, `variables-${writer}`), definitions(variables(writer, context)));
    }
    const flags = `-n -M prepared -c 1 -j 1 -T ${seconds} -f statement.sql $(cat variables-$writer)`;
    const side_by_side = `for writer in ${all.join(' ')}; do ${program(name)} ${flags} "$1" & done; wait`;
    return {
      argv: ['sh', '-c', side_by_side, 'sh', at.href],
      env: { PGPASSFILE: join(folder, 'pgpass') },
      cwd: folder,
    };
  },
  report: (outcome) => report(outcome, writers),
});

/** As flags, for a shell that splits them at spaces and would take patterns for file names. */
function definitions(values) {
  const texts = Object.entries(values).map(([key, value]) => `${key}=${value}`);
  const bad = texts.find((text) => /[\s*?[]/.test(text));
  if (bad) throw new Error(`a shell would take this variable apart: ${bad}`);
  return texts.map((text) => `-D ${text}`).join(' ');
}

/** What all writers did together: `{ transactions, per_s, latency_ms }`; the latency is the mean of their averages. */
export function report({ stdout, stderr }, writers) {
  const all = (pattern) => [...stdout.matchAll(pattern)].map(([, figure]) => Number(figure));
  const rates = all(/^tps = ([\d.]+) /gm);
  const failed = all(/^number of failed transactions: (\d+)/gm).reduce(sum, 0);
  if (rates.length !== writers || failed > 0) {
    const said = stderr.trim().slice(-300);
    throw new Error(`${rates.length} of ${writers} writers came to an end, ${failed} transactions failed: ${said}`);
  }
  return {
    transactions: all(/^number of transactions actually processed: (\d+)/gm).reduce(sum, 0),
    per_s: rates.reduce(sum, 0),
    latency_ms: all(/^latency average = ([\d.]+) ms/gm).reduce(sum, 0) / writers,
  };
}

const sum = (one, other) => one + other;
