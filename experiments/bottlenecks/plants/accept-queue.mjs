import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a backlog of 2 and an event loop that is blocked for 700 ms of each second (healthy: 511, never blocked)',
  expects: 'accept_queue',
  sizes: { calibrate: { rate: 25 }, judge: { rate: 35 } },
  start: (started, { planted }) => node(started, { env: planted ? { BACKLOG: 2, BLOCK_MS: 700 } : {} }),
  load: ({ rate }) => pages(rate, '/ping'),
};
