import { redis } from '../services/redis.mjs';
import { relay } from '../services/relay.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a Redis that is 100 ms away, in each direction (healthy: beside the service)',
  expects: 'dependency',
  sizes: { calibrate: { rate: 30, delayMs: 100 }, judge: { rate: 45, delayMs: 80 } },
  async start(started, { planted, size }) {
    const store = await redis(started);
    const port = planted ? await relay(started, { to: store.port, delayMs: size.delayMs }) : store.port;
    const service = await node(started, { env: { REDIS: `redis://127.0.0.1:${port}` } });
    return { ...service, watch: [store.url] };
  },
  load: ({ rate }) => pages(rate, '/session'),
};
