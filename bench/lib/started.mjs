// What this process has started or made and must not leave behind when it is interrupted: processes and scratch folders.
import { rmSync } from 'node:fs';
import { killTree } from './processes.mjs';

const pids = new Set();
const folders = new Set();

const kept = (set) => (one) => {
  if (one !== undefined) set.add(one);
  return () => set.delete(one);
};

/** Notes a process started here; call what comes back when it has ended, before its number can be another's. */
export const remember = kept(pids);

/** Notes a scratch folder; call what comes back when it is gone. */
export const rememberFolder = kept(folders);

/** Ends all that is noted, at once. */
export function endAll() {
  for (const pid of pids) killTree(pid);
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
