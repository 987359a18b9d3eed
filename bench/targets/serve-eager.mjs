// `sonagi serve` that gathers nothing: every message leaves as soon as it is committed, whatever the room's size.
import { argv as gathering } from './serve.mjs';

export const name = 'serve-eager';
export { install, version } from './serve.mjs';
export const argv = () => [...gathering(), '--gather', '0s'];
