import { postgres } from '../services/postgres.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a statement without its index: it reads 300,000 rows (healthy: with the index)',
  expects: 'slow_query',
  sizes: { calibrate: { rate: 180 }, judge: { rate: 220 } },
  async start(started, { planted }) {
    const database = await postgres(started, { sql: planted ? ['DROP INDEX messages_author'] : [] });
    const service = await node(started, { env: { POSTGRES: database.url, POOL: 8 } });
    return { ...service, watch: [database.watch] };
  },
  load: ({ rate }) => pages(rate, '/by'),
};
