// `sonagi serve --null`: minimal handlers on the service's own connection code, so that the tool is the limit, not the target.
import { BINARY, install, version } from '../tools/sonagi.mjs';

export const name = 'null';
export { install, version };
/** It tells what it saw at /null/stats. */
export const stats = true;
export const argv = () => [BINARY, 'serve', '--null', '--workers', 1, '--listen', '127.0.0.1:0', '--seed-users', 1000, '--connections', 18_000, '--grace', '10ms', '--stop-on-eof'];
