import { pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

/**
 * Whether a password is the one that is stored as `rounds$salt$hash` (PBKDF2 with SHA-512; the hash in hexadecimal). So what
 * a login costs is said where the users are made. It is computed in libuv's threads, as bcrypt's is.
 */
export async function isPassword(given: string, stored: string): Promise<boolean> {
  const [rounds, salt, hash] = stored.split('$');
  const expected = Buffer.from(hash, 'hex');
  const derived = await derive(String(given), salt, Number(rounds), expected.length, 'sha512');
  return timingSafeEqual(derived, expected);
}
