// A target that is a whole stack (experiments/stack): `node stack-keeper.mjs OPTIONS` starts it, says where it is and
// ends it on SIGTERM or when its standard input ends. SONAGI_BIN is the service.
//
//   --instances N      of the service
//   --no-bus           without Redis
//   --front            with nginx before it
//   --apart CORE       the instances on that core, and not beside their database
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Stack } from '../../experiments/stack/lib/stack.mjs';

/** As bench/targets/serve.mjs has it. */
const SERVE = ['--workers', '1', '--connections', '18000'];

const { values } = parseArgs({
  options: {
    instances: { type: 'string', default: '1' },
    'no-bus': { type: 'boolean', default: false },
    front: { type: 'boolean', default: false },
    apart: { type: 'string' },
  },
});
const { instances, 'no-bus': isAlone, front, apart } = values;

const starting = Stack.start({ instances: Number(instances), bus: !isAlone, front, grace: '10ms', serve: SERVE });

/** Also while it is being started. */
let ending;
function end(code) {
  ending ??= starting.then((stack) => stack.end(), () => {}).finally(() => process.exit(code));
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));
process.stdin.on('end', () => end(0)).resume();

try {
  const { addresses } = await starting;
  const own = Object.entries(addresses.pids).filter(([name]) => name.startsWith('instance-'));
  for (const [, pid] of apart ? own : []) {
    execFileSync('taskset', ['-a', '-c', '-p', apart, String(pid)], { stdio: 'ignore' });
  }
  console.log(`addresses ${JSON.stringify(addresses)}`);
  console.log(`listening on ${addresses.url}`);
} catch (error) {
  console.error(error.message);
  end(1);
}
