import { jvm } from '../stacks/jvm.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a JVM whose heap is nearly full of what it caches: 32 MiB of 40 (healthy: a heap of 256)',
  expects: 'garbage',
  sizes: { calibrate: { rate: 60 }, judge: { rate: 80 } },
  async start(started, { planted }) {
    const service = await jvm(started, { flags: [planted ? '-Xmx40m' : '-Xmx256m'], env: { CACHE_MIB: 30, PAGE_KIB: 512 } });
    return { ...service, watch: [service.metrics] };
  },
  load: ({ rate }) => pages(rate, '/basket'),
};
