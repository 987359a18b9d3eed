import { nginx } from '../services/nginx.mjs';
import { node } from '../stacks/node.mjs';
import { room } from '../lib/loads.mjs';

const upgrade = 'proxy_http_version 1.1; proxy_set_header upgrade $http_upgrade; proxy_set_header connection upgrade;';

export default {
  about: 'nginx with 32 worker_connections in front of a room over Socket.IO (healthy: 1024)',
  expects: 'nginx_connections',
  sizes: { calibrate: { users: 24 }, judge: { users: 32 } },
  async start(started, { planted }) {
    const service = await node(started);
    const proxy = await nginx(started, { upstream: service.port, workerConnections: planted ? 32 : 1024, location: upgrade });
    return { target: proxy.target, watch: [proxy.watch, `port:${service.port}`] };
  },
  load: ({ users }) => room(users),
};
