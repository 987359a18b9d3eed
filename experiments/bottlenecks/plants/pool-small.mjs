import { postgres } from '../services/postgres.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a pool of 2 connections to PostgreSQL for statements of 50 ms (healthy: 20)',
  expects: 'pool_small',
  sizes: { calibrate: { rate: 55 }, judge: { rate: 70 } },
  async start(started, { planted }) {
    const database = await postgres(started);
    const service = await node(started, { env: { POSTGRES: database.url, POOL: planted ? 2 : 20 } });
    return { ...service, watch: [database.watch] };
  },
  load: ({ rate }) => pages(rate, '/list'),
};
