// What a figure depends on beside the code: the machine, how busy it was, and what was built.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { ROOT } from './cache.mjs';

export function machine() {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    governor: governor(),
    load_before: loadavg()[0],
    node: process.version,
  };
}

/** The commit, and whether the tree differs from it where it matters. */
export function commit() {
  const git = (...args) => execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', 'crates', 'Cargo.toml', 'Cargo.lock', 'bench', ':!bench/results', ':!bench/*.md') !== '';
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' and uncommitted changes' : '');
  } catch {
    return 'no repository';
  }
}

function governor() {
  try {
    return readFileSync('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor', 'utf8').trim();
  } catch {
    return 'not readable';
  }
}
