import { hashRounds } from '../../lib/speed.mjs';
import { cpuQuota, whyNot } from '../services/cgroup.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'logins of 15 ms of CPU under a CPU quota of 0.3 cores (healthy: 2)',
  expects: 'cpu_quota',
  sizes: { calibrate: { rate: 30 }, judge: { rate: 40 } },
  impossible: () => whyNot('cpu'),
  start: (started, { planted }) => node(started, { before: cpuQuota(started, planted ? 0.3 : 2), env: { HASH_ROUNDS: hashRounds(15) } }),
  load: ({ rate }) => pages(rate, '/login'),
};
