// `make churn MINUTES=10`: people who come, join, say one thing and leave, over every transport at once, for long; does memory grow?
// The service is the whole one. Its store is in a file: in memory the messages it keeps would be its growth.
import { figures, people, SETTLED_S, told } from './lib/churn.mjs';
import { soak } from './lib/soak.mjs';
import * as sqlite from './targets/serve-sqlite.mjs';

/** Who comes in a second. A connection leaves a port behind that rests for a minute, and there are 28,000 of them. */
const RATE = 200;

await soak({ name: 'churn', target: sqlite, minutes: 10, settled_s: SETTLED_S, script: people(RATE), figures, told });
