// What this process has started or made and must not leave behind when it is interrupted: processes and scratch folders.
import { rmSync } from 'node:fs';
import { killTree } from './processes.mjs';

/** Each with what ends it. */
const pids = new Map();
const folders = new Set();

/**
 * Notes a process started here; call what comes back when it has ended, before its number can be another's. `end(pid)`
 * ends it and all below it.
 */
export function remember(pid, end = killTree) {
  if (pid !== undefined) pids.set(pid, end);
  return () => pids.delete(pid);
}

/** Notes a scratch folder; call what comes back when it is gone. */
export function rememberFolder(folder) {
  folders.add(folder);
  return () => folders.delete(folder);
}

/** Ends all that is noted, at once. */
export function endAll() {
  for (const [pid, end] of pids) end(pid);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** From now on a signal, or an error that nobody caught, ends what was started before it ends this process. */
export function endAllWhenInterrupted() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      endAll();
      process.exit(130);
    });
  }
  process.once('uncaughtException', (error) => {
    endAll();
    console.error(`bench: ${error.stack}`);
    process.exit(1);
  });
}
