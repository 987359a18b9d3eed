import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'password hashes of 50 ms in the event loop itself, by the synchronous call (healthy: 3 ms in threads)',
  expects: 'event_loop',
  sizes: { calibrate: { rate: 28 }, judge: { rate: 36 } },
  async start(started, { planted }) {
    const service = await node(started, { env: planted ? { HASH: 'sync', HASH_ROUNDS: 110_000 } : { HASH_ROUNDS: 5_000 } });
    return { ...service, watch: [service.metrics] };
  },
  load: ({ rate }) => pages(rate, '/login'),
};
