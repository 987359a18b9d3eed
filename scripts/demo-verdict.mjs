// Holds one summary of the demo to what the manual promises: demo-verdict.mjs <summary.json>.
import { readFileSync } from 'node:fs';

// What each scenario owes, where it can be known beforehand: 100 users × 10 messages × 100 receivers.
const OWED = { room: 100_000 };
const USERS = { chat: [44, 46], room: [100, 100] };

const { name, verdict, users, delivery } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const broken = [];
const hold = (rule, holds, got) => holds || broken.push(`${name}: ${rule}, got ${JSON.stringify(got)}`);

hold('the verdict is pass', verdict.result === 'pass', verdict);
hold('the demo knows this scenario', name in USERS, name);
const [least, most] = USERS[name] ?? [1, Infinity];
hold(`${least} to ${most} users complete`, users.completed >= least && users.completed <= most, users);
hold('no user fails', users.failed === 0, users);
hold('copies are owed', delivery?.owed > 0, delivery);
hold('every owed copy is delivered', delivery?.ratio === 1 && delivery?.lost === 0, delivery);
if (name in OWED) hold(`${OWED[name]} copies are owed`, delivery.owed === OWED[name], delivery);

for (const line of broken) console.error(`demo: ${line}`);
process.exitCode = broken.length > 0 ? 1 : 0;
