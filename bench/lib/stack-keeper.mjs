// A target that is a whole stack (experiments/stack): `node stack-keeper.mjs OPTIONS` starts it, says where it is and ends it on SIGTERM or
// when its standard input ends. SONAGI_BIN is the service.
//
//   --instances N      of the service
//   --no-bus           without Redis
//   --front            with nginx before it
//   --apart CORE       the instances on that core, and not beside their database
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Stack } from '../../experiments/stack/lib/stack.mjs';

/** As the other targets have it: bench/targets/serve.mjs. */
const SERVE = ['--workers', '1', '--connections', '18000'];

const { values } = parseArgs({
  options: { instances: { type: 'string' }, 'no-bus': { type: 'boolean' }, front: { type: 'boolean', default: false }, apart: { type: 'string' } },
});
const { instances, 'no-bus': alone, front, apart } = values;

const starting = Stack.start({ instances: Number(instances), bus: !alone, front, grace: '10ms', serve: SERVE });

/** Also while it is being started. */
let ending;
function end(code) {
  ending ??= starting.then((stack) => stack.end(), () => {}).finally(() => process.exit(code));
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));
process.stdin.on('end', () => end(0)).resume();

try {
  const stack = await starting;
  const { addresses } = stack;
  for (const [name, pid] of Object.entries(addresses.pids)) {
    if (apart && name.startsWith('instance-')) execFileSync('taskset', ['-a', '-c', '-p', apart, String(pid)], { stdio: 'ignore' });
  }
  console.log(`addresses ${JSON.stringify(addresses)}`);
  console.log(`listening on ${stack.url}`);
} catch (error) {
  console.error(error.message);
  end(1);
}
