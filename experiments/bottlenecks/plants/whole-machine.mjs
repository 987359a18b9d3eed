import { jvm } from '../stacks/jvm.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'pages of 40 ms of CPU in the threads of a JVM, more than the machine has cores for (healthy: of 1 ms)',
  expects: 'cpu',
  sizes: { calibrate: { rate: 70 }, judge: { rate: 90 } },
  async start(started, { planted }) {
    const service = await jvm(started, { env: { STEPS: planted ? 40_000 : 1_000 } });
    return { ...service, watch: [service.metrics] };
  },
  load: ({ rate }) => pages(rate, '/page'),
};
