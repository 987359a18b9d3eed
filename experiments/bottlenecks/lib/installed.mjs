// Programs that Debian keeps off the PATH.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where a program is: on the PATH, or in one of these folders. */
export function installed(name, folders) {
  const all = [...(process.env.PATH ?? '').split(':'), ...folders];
  const found = all.map((folder) => join(folder, name)).find(existsSync);
  if (!found) throw new Error(`${name} was not found\nhint: scripts/setup.sh installs it`);
  return found;
}
