import { consumers } from '../services/consumers.mjs';
import { fastapi } from '../stacks/fastapi.mjs';
import { sockets } from '../lib/loads.mjs';

export default {
  about: 'two members of a room that read nothing, where a message of 48 kB goes to all in turn (healthy: they read)',
  expects: 'slow_consumer',
  sizes: { calibrate: { users: 8, perSecond: 2 }, judge: { users: 10, perSecond: 2 } },
  async start(started, { planted }) {
    const service = await fastapi(started, { env: { PICTURE: 48_000 } });
    await consumers(started, { port: service.port, path: '/ws?name=lobby', count: 2, reads: !planted });
    return service;
  },
  load: ({ users, perSecond }) => sockets(users, { perSecond }),
};
