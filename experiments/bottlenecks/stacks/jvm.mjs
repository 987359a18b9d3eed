import { fileURLToPath } from 'node:url';
import { listening } from '../lib/started.mjs';

const FOLDER = fileURLToPath(new URL('jvm/', import.meta.url));

/** Starts a service on the JVM: `{ target, metrics }`. `flags` are the JVM's, `service` is its source. */
export async function jvm(started, { env = {}, flags = [], service = 'Service.java' } = {}) {
  const server = started.spawn(['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', ...flags, FOLDER + service], { env });
  const target = `http://127.0.0.1:${await listening('the service on the JVM', server)}`;
  return { target, metrics: `${target}/metrics` };
}
