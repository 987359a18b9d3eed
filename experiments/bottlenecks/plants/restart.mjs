import { node } from '../stacks/node.mjs';
import { freePort } from '../../../interop/support/ports.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a service that ends by an error after so many requests, and is started again by what supervises it (healthy: it lives on)',
  expects: 'death',
  quick: true,
  sizes: { calibrate: { rate: 30, lives: 120 }, judge: { rate: 40, lives: 200 } },
  async start(started, { planted, size }) {
    const PORT = await freePort();
    const env = { PORT, ...(planted ? { DIES_AFTER: size.lives } : {}) };
    const service = await node(started, { env });
    let restarts = 0;
    const again = async () => {
      if (++restarts > 10) return;
      const next = await node(started, { env }).catch(() => undefined);
      next?.process.ended.then(again);
    };
    service.process.ended.then(() => setTimeout(again, 1_000));
    return service;
  },
  load: ({ rate }) => pages(rate, '/ping'),
};
