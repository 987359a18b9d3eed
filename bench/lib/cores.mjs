// The two cores that are measured on: the first two this process may use, which in a container need not be 0 and 1.
import { readFileSync } from 'node:fs';

/** `0-2,8` as `[0, 1, 2, 8]`. */
export const listed = (text) =>
  text.trim().split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });

const allowed = listed(readFileSync('/proc/self/status', 'utf8').match(/^Cpus_allowed_list:\s+(\S+)/m)[1]);

/** Where there is only one, both share it: good for a look at whether things run, and for no figure. */
export const [TOOL_CORE, TARGET_CORE = TOOL_CORE] = allowed.map(String);
