import { redis } from '../services/redis.mjs';
import { node } from '../stacks/node.mjs';
import { room } from '../lib/loads.mjs';

export default {
  about: 'a room of 50 over Socket.IO and Redis in which each copy is made for its receiver (healthy: one for all)',
  expects: 'event_loop',
  sizes: { calibrate: { users: 40, perSecond: 3 }, judge: { users: 50, perSecond: 3 } },
  async start(started, { planted }) {
    const store = await redis(started);
    const service = await node(started, { env: { REDIS: store.url, COPIES: planted ? 'each its own' : 'one for all' } });
    return { ...service, watch: [store.url] };
  },
  load: ({ users, perSecond }) => room(users, { perSecond }),
};
