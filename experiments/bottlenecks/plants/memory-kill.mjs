import { memoryLimit, whyNot } from '../services/cgroup.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a service that keeps 1 MiB of each request, in a cgroup of 220 MiB (healthy: it keeps nothing)',
  expects: 'memory',
  sizes: { calibrate: { rate: 25 }, judge: { rate: 35 } },
  impossible: () => whyNot('memory'),
  start: (started, { planted }) => node(started, { before: memoryLimit(started, 220), env: { KEPT_KB: planted ? 1_024 : 0 } }),
  load: ({ rate }) => pages(rate, '/upload'),
};
