// `make churn MINUTES=10`: people who come, join, say one thing and leave, over every transport at once, for long; does memory grow?
// The service is the whole one. Its store is in a file: in memory the messages it keeps would be its growth.
import { readable } from './lib/measures.mjs';
import { soak } from './lib/soak.mjs';
import * as sqlite from './targets/serve-sqlite.mjs';
import { script } from './tools/sonagi.mjs';

/** Who comes in a second. A connection leaves a port behind that rests for a minute, and there are 28,000 of them. */
const RATE = 200;

/** What the service remembers of those who came by requests it forgets a minute and a half later: until then it fills. */
const SETTLED_S = 120;

await soak({
  name: 'churn',
  target: sqlite,
  minutes: 10,
  settled_s: SETTLED_S,
  script: (seconds) => script('churn/churn.yml', { SECONDS: seconds, RATE }, { flags: ['--seed', 7] }),
  figures: ({ users: { started, completed, failed }, traffic, delivery: { messages, owed, delivered, late, lost } }) => ({
    users: { started, completed, failed },
    connections: traffic.connections_opened,
    delivery: { messages, owed, delivered, late, lost },
  }),
  told: ({ users, connections, delivery: { owed, delivered, late } }) =>
    `${readable(users.completed)} of ${readable(users.started)} people came and left, ${readable(connections)} connections, ${readable(delivered + late)} of ${readable(owed)} copies`,
});
