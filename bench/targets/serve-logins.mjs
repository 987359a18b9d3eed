// `sonagi serve` where a login costs next to nothing: for loads that log everybody in and are about something else.
import { argv as serving } from './serve.mjs';

export const name = 'serve-logins';
export { install, version } from './serve.mjs';
export const argv = () => [...serving(), '--password-cost', 64, '--login-rate', 100];
