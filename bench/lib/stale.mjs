// Which results are of code that has changed since: what a message goes through, whatever the script and the target.
import { execFileSync } from 'node:child_process';
import { ROOT } from './cache.mjs';

/** Below `crates/`: what cases measure, YAML and k6 scripts alike. */
const HOT = ['wire', 'measure', 'transport', 'engine', 'artillery', 'k6'];
const PATHS = HOT.flatMap((name) => [`crates/${name}/src`, `crates/${name}/Cargo.toml`]);

/** `results`, each with `stale: true` where the hot crates differ from those it was measured with; so is one of a commit nobody knows. */
export const marked = (results, changed = changedSince) => results.map((result) => (changed(result.commit) ? { ...result, stale: true } : result));

/** Of a result measured with uncommitted changes, what was measured is not known. */
function changedSince(commit) {
  if (!known(commit)) return true;
  return !succeeds('diff', '--quiet', commit, '--', ...PATHS);
}

/** Whether this repository has the commit's code: a clone without history has not. */
export const known = (commit) => /^[0-9a-f]+$/.test(commit) && succeeds('cat-file', '-e', `${commit}^{commit}`);

function succeeds(...args) {
  try {
    execFileSync('git', ['-C', ROOT, ...args], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
