// Every process of a stack, by what it does, with what it holds: memory, descriptors, threads.
import { readFileSync, readdirSync } from 'node:fs';
import { tree } from './processes.mjs';

/**
 * `[{ key, part, role, pid, mb, shared_mb, descriptors, threads }]` of all that lives below `pids`, which maps parts to
 * their first processes; `key` tells a process from others. Memory is what is resident and not shared: pages of
 * PostgreSQL's common buffer count for each of its processes that has touched them, and are bounded by their number.
 */
export function census(pids) {
  const all = ([part, root]) => tree(root).map((pid) => processOf(part, pid));
  return Object.entries(pids).flatMap(all).filter(Boolean);
}

function processOf(part, pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    // It is ending, and holds nothing any more.
    if (!status.includes('VmRSS:')) return undefined;
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

/** A session's title has who asks, from where and what it is at: `sonagi postgres 127.0.0.1(40000) idle`. */
const SESSION = /\S+\(\d+\)/;
/** What other titles of PostgreSQL's end with: whom they do it for. */
const WHOM = / (\d+|sonagi|postgres|template\d)\b.*$/;

/** What a process does, of what it calls itself. */
export function roleOf(part, title) {
  const postgres = title.match(/^postgres: (.*)$/)?.[1];
  if (postgres !== undefined) {
    return SESSION.test(postgres) ? 'postgres session' : `postgres ${postgres.replace(WHOM, '')}`.trim();
  }
  const nginx = title.match(/^nginx: (master|worker)/)?.[1];
  return nginx ? `nginx ${nginx}` : part;
}

/** How many there are of each role, and what they hold together. */
export function byRole(processes) {
  const all = {};
  for (const { role, ...held } of processes) {
    const sum = (all[role] ??= { processes: 0, mb: 0, shared_mb: 0, descriptors: 0, threads: 0 });
    for (const name of Object.keys(sum)) sum[name] = Number((sum[name] + (held[name] ?? 1)).toFixed(2));
  }
  return all;
}
