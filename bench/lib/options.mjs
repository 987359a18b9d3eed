// What the environment asks for: CASE, PEERS, RUNS, BEFORE. All problems are told at once.
import { accessSync, constants } from 'node:fs';

const OURS = ['sonagi', 'bare'];
export const FULL_RUNS = 5;

/**
 * `{ cases, runs, wants(contestant), look, before }`; `look` is true when the figures will not be a result; `before` is
 * another build of Sonagi that is to run beside this one, or undefined. Throws one Error that names every problem.
 */
export function options({ CASE, PEERS, RUNS, BEFORE }, knownCases, knownTools) {
  const problems = [];
  const cases = list(CASE);
  const peers = list(PEERS);
  for (const name of cases) if (!knownCases.includes(name)) problems.push(`CASE: there is no case ${name}; there are ${knownCases.join(', ')}`);
  for (const name of peers) {
    if (name !== 'all' && !knownTools.includes(name)) problems.push(`PEERS: there is no tool ${name}; there are ${knownTools.join(', ')}, all`);
  }
  const runs = RUNS ? Number(RUNS) : FULL_RUNS;
  if (!Number.isInteger(runs) || runs < 1) problems.push(`RUNS: a whole number from 1 is needed, got ${RUNS}`);
  if (BEFORE && !runnable(BEFORE)) problems.push(`BEFORE: a program that can be run is needed, got ${BEFORE}`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const all = peers.includes('all');
  return {
    cases: cases.length > 0 ? cases : knownCases,
    runs,
    wants: ({ tool, slow }) => all || (peers.length > 0 ? OURS.includes(tool) || peers.includes(tool) : !slow),
    look: runs < FULL_RUNS || (peers.length > 0 && !all) || Boolean(BEFORE),
    before: BEFORE || undefined,
  };
}

function runnable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const list = (text) => (text ?? '').split(',').map((one) => one.trim()).filter(Boolean);
