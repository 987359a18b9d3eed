import { postgres } from '../services/postgres.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a statement without its index: it reads 300,000 rows (healthy: with the index)',
  expects: 'slow_query',
  sizes: { calibrate: { rate: 90 }, judge: { rate: 110 } },
  async start(started, { planted }) {
    // All it does is compute: on every core it would leave none to the generator, which then says, rightly, that it fell behind.
    const database = await postgres(started, { sql: planted ? ['DROP INDEX messages_author'] : [], before: ['taskset', '--cpu-list', '0'] });
    const service = await node(started, { env: { POSTGRES: database.url, POOL: 8 } });
    return { ...service, watch: [database.watch] };
  },
  load: ({ rate }) => pages(rate, '/by'),
};
