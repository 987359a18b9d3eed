// What the environment asks for: CASE, PEERS, RUNS. All problems are told at once.

const OURS = ['sonagi', 'bare'];
export const FULL_RUNS = 5;

/**
 * `{ cases, runs, wants(contestant), look }`; `look` is true when the figures will not be a result. Throws one Error that
 * names every problem.
 */
export function options({ CASE, PEERS, RUNS }, knownCases, knownTools) {
  const problems = [];
  const cases = list(CASE);
  const peers = list(PEERS);
  for (const name of cases) if (!knownCases.includes(name)) problems.push(`CASE: there is no case ${name}; there are ${knownCases.join(', ')}`);
  for (const name of peers) {
    if (name !== 'all' && !knownTools.includes(name)) problems.push(`PEERS: there is no tool ${name}; there are ${knownTools.join(', ')}, all`);
  }
  const runs = RUNS ? Number(RUNS) : FULL_RUNS;
  if (!Number.isInteger(runs) || runs < 1) problems.push(`RUNS: a whole number from 1 is needed, got ${RUNS}`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const all = peers.includes('all');
  return {
    cases: cases.length > 0 ? cases : knownCases,
    runs,
    wants: ({ tool, slow }) => all || (peers.length > 0 ? OURS.includes(tool) || peers.includes(tool) : !slow),
    look: runs < FULL_RUNS || (peers.length > 0 && !all),
  };
}

const list = (text) => (text ?? '').split(',').map((one) => one.trim()).filter(Boolean);
