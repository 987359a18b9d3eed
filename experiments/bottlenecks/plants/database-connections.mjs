import { postgres } from '../services/postgres.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a PostgreSQL that allows 10 connections, for a pool of 30 (healthy: 100)',
  expects: 'db_connections',
  sizes: { calibrate: { rate: 160 }, judge: { rate: 200 } },
  async start(started, { planted }) {
    const database = await postgres(started, { settings: { max_connections: planted ? 10 : 100, max_wal_senders: 0, autovacuum: 'off' } });
    const service = await node(started, { env: { POSTGRES: database.url, POOL: 30 } });
    return { ...service, watch: [database.watch] };
  },
  load: ({ rate }) => pages(rate, '/list'),
};
