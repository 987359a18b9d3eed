import { redis } from '../services/redis.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a Redis connection for each subscription, at a limit of 20 clients (healthy: all share one)',
  expects: 'redis',
  sizes: { calibrate: { rate: 30 }, judge: { rate: 40 } },
  async start(started, { planted }) {
    const store = await redis(started, { maxclients: 20 });
    const service = await node(started, { env: { REDIS: store.url, SUBSCRIPTIONS: planted ? 'each its own' : 'shared' } });
    return { ...service, watch: [store.url] };
  },
  load: ({ rate }) => pages(rate, '/listen'),
};
