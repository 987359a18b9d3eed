import { availableParallelism } from 'node:os';
import { hashRounds } from '../../lib/speed.mjs';
import { node } from '../stacks/node.mjs';
import { pages } from '../lib/loads.mjs';

const BURNER = 'for (;;);';

export default {
  about: 'processes of somebody else that burn CPU on the same machine, four for each core (healthy: none)',
  expects: 'neighbour',
  sizes: { calibrate: { rate: 30 }, judge: { rate: 38 } },
  async start(started, { planted }) {
    const service = await node(started, { env: { HASH: 'sync', HASH_ROUNDS: hashRounds(12) } });
    for (let burner = 0; planted && burner < 4 * availableParallelism(); burner++) started.spawn(['node', '-e', BURNER]);
    return service;
  },
  load: ({ rate }) => pages(rate, '/login'),
};
