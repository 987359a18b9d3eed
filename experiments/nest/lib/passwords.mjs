import { pbkdf2Sync } from 'node:crypto';

const SALT = 'salt';

/** A password as a service's table of users has it: `rounds$salt$hash` (src/auth/passwords.ts). */
export function stored(password, { rounds, bytes }) {
  return [rounds, SALT, pbkdf2Sync(password, SALT, rounds, bytes, 'sha512').toString('hex')].join('$');
}
