import { node } from '../stacks/node.mjs';
import { room } from '../lib/loads.mjs';

export default {
  about: 'an event loop that is blocked for a quarter of each second and more, with a room over Socket.IO (healthy: never)',
  expects: 'loop_blocked',
  sizes: { calibrate: { users: 15, block: 250 }, judge: { users: 20, block: 300 } },
  async start(started, { planted, size }) {
    const service = await node(started, { env: { BLOCK_MS: planted ? size.block : 0 } });
    return { ...service, watch: [service.metrics] };
  },
  load: ({ users }) => room(users),
};
