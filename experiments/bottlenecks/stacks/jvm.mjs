import { fileURLToPath } from 'node:url';
import { listening } from '../lib/started.mjs';

const SERVICE = fileURLToPath(new URL('jvm/Service.java', import.meta.url));

/** Starts the service on the JVM: `{ target, metrics }`. `flags` are the JVM's. */
export async function jvm(started, { env = {}, flags = [] } = {}) {
  const server = started.spawn(['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', ...flags, SERVICE], { env });
  const target = `http://127.0.0.1:${await listening('the service on the JVM', server)}`;
  return { target, metrics: `${target}/metrics` };
}
