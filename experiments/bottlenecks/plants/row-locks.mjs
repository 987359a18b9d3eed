import { postgres } from '../services/postgres.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'all transactions update the same row and hold it for 30 ms (healthy: one of 1,000 rows)',
  expects: 'db_locks',
  sizes: { calibrate: { rate: 40 }, judge: { rate: 50 } },
  async start(started, { planted }) {
    const database = await postgres(started);
    const service = await node(started, { env: { POSTGRES: database.url, LOCKS: planted ? 'one row' : '' } });
    return { ...service, watch: [database.watch] };
  },
  load: ({ rate }) => pages(rate, '/view'),
};
