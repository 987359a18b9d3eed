// Every process of a stack, by what it does, with what it holds: memory, descriptors, threads.
import { readFileSync, readdirSync } from 'node:fs';
import { tree } from './processes.mjs';

/**
 * `[{ key, part, role, pid, mb, shared_mb, descriptors, threads }]` of all that lives below `pids`, which maps parts to their first processes. `key`
 * tells a process from others, before and behind it. Memory is what is resident and not shared: pages of PostgreSQL's common buffer count for each of its
 * processes that has touched them, and are bounded by their number.
 */
export function census(pids) {
  return Object.entries(pids).flatMap(([part, root]) => tree(root).map((pid) => processOf(part, pid)).filter(Boolean));
}

function processOf(part, pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const number = (name) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'))?.[1] ?? 0);
    const role = roleOf(part, readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim());
    return {
      key: `${role} ${pid}`,
      part,
      role,
      pid,
      mb: (number('VmRSS') - number('RssShmem')) / 1024,
      shared_mb: number('RssShmem') / 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      threads: number('Threads'),
    };
  } catch (error) {
    // It has ended meanwhile. That its descriptors may not be seen is no such thing.
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}

/** What a process does, of what it calls itself. */
export function roleOf(part, title) {
  const postgres = title.match(/^postgres: (.*)$/)?.[1];
  // A session's title has who asks, from where and what it is at: `sonagi postgres 127.0.0.1(40000) idle`.
  if (postgres !== undefined) return /\S+\(\d+\)/.test(postgres) ? 'postgres session' : `postgres ${postgres.replace(/ (\d+|sonagi|postgres|template\d)\b.*$/, '')}`.trim();
  const nginx = title.match(/^nginx: (master|worker)/)?.[1];
  return nginx ? `nginx ${nginx}` : part;
}
