import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: "password hashes of 150 ms in libuv's threads (healthy: 3 ms)",
  expects: 'worker_threads',
  sizes: { calibrate: { rate: 16 }, judge: { rate: 22 } },
  start: (started, { planted }) => node(started, { env: { HASH_ROUNDS: planted ? 250_000 : 5_000 } }),
  load: ({ rate }) => pages(rate, '/login'),
};
