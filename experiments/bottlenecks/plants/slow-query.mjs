import { TARGET_CORE } from '../../../bench/lib/cores.mjs';
import { postgres } from '../services/postgres.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a statement without its index: it reads 300,000 rows (healthy: with the index)',
  expects: 'slow_query',
  sizes: { calibrate: { rate: 90 }, judge: { rate: 110 } },
  async start(started, { planted }) {
    // Its statements only compute: on every core they would leave none to the generator, which then rightly says that it fell behind.
    const database = await postgres(started, { sql: planted ? ['DROP INDEX messages_author'] : [], before: ['taskset', '--cpu-list', TARGET_CORE] });
    const service = await node(started, { env: { POSTGRES: database.url, POOL: 8 } });
    return { ...service, watch: [database.watch] };
  },
  load: ({ rate }) => pages(rate, '/by'),
};
