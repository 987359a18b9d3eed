// `sonagi serve`: the reference service as it is, on one thread, its store in memory.
import { BINARY, install, version } from '../tools/sonagi.mjs';

export const name = 'serve';
export { install, version };
export const argv = () => [BINARY, 'serve', '--workers', 1, '--listen', '127.0.0.1:0', '--seed-users', 1000, '--connections', 18_000, '--grace', '10ms', '--stop-on-eof'];
