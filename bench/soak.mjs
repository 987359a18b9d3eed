// `make soak MINUTES=30`: half of what one core carries, for long, in one process; does memory grow? A room with the ledger on
// takes a quarter of the core, HTTP another. The service is the null one: the whole one keeps messages, and is to grow.
import { readable } from './lib/measures.mjs';
import { soak } from './lib/soak.mjs';
import * as nothing from './targets/null.mjs';
import { script } from './tools/sonagi.mjs';

/** A room of so many who speak once a second: 90,000 deliveries a second. */
const MEMBERS = 300;
/** So many ask a thousand times a second each. */
const ASKERS = 40;
const PACE_S = 0.001;

await soak({
  name: 'soak',
  target: nothing,
  minutes: 30,
  script: (seconds) =>
    script('soak/soak.yml', { MEMBERS, ASKERS, PEOPLE: MEMBERS + ASKERS, SECONDS: seconds, PACE: PACE_S, ROUNDS: Math.round(seconds / PACE_S) }, { flags: ['--seed', 7] }),
  figures: ({ delivery: { messages, owed, delivered, late }, traffic }) => ({ delivery: { messages, owed, delivered, late }, http_responses: traffic.http_responses }),
  told: ({ delivery: { owed, delivered, late }, http_responses }) => `${readable(delivered + late)} of ${readable(owed)} copies, ${readable(http_responses)} HTTP responses`,
});
