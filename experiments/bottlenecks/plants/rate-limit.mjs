import { nginx } from '../services/nginx.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'nginx lets 20 requests a second through (healthy: 500)',
  expects: 'rate_limit',
  quick: true,
  sizes: { calibrate: { rate: 35 }, judge: { rate: 45 } },
  async start(started, { planted }) {
    const service = await node(started);
    const http = `limit_req_zone $binary_remote_addr zone=all:32k rate=${planted ? 20 : 500}r/s; limit_req_status 429;`;
    const proxy = await nginx(started, { upstream: service.port, http, location: 'limit_req zone=all burst=5 nodelay;' });
    return { target: proxy.target, watch: [proxy.watch, `port:${service.port}`] };
  },
  load: ({ rate }) => pages(rate, '/ping'),
};
