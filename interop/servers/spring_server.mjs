// Spring's simple broker (spring/), as scripts/setup.sh has built it.
import { existsSync } from 'node:fs';
import { serve } from '../support/process.mjs';

const JAR = process.env.SONAGI_SPRING ?? new URL('../../.cache/spring/simple-broker.jar', import.meta.url).pathname;

/** Starts it on a free port: `{ url, stop }`. */
export async function startSpring() {
  if (!existsSync(JAR)) throw new Error(`${JAR} is not built; hint: make setup`);
  const args = ['-XX:TieredStopAtLevel=1', '-Xmx256m', '-jar', JAR];
  const { match, stop } = await serve('java', args, /listening on (http:\S+)/, { timeout: 90_000 });
  return { url: match[1], stop };
}
