import { jvm } from '../stacks/jvm.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a JVM whose heap is nearly full of what it caches: 150 MiB of 190 (healthy: a heap of 1 GiB)',
  expects: 'garbage',
  sizes: { calibrate: { rate: 60 }, judge: { rate: 80 } },
  async start(started, { planted }) {
    const service = await jvm(started, { flags: [planted ? '-Xmx190m' : '-Xmx1g'], env: { CACHE_MIB: 150, PAGE_KIB: 2_048 } });
    return { ...service, watch: [service.metrics] };
  },
  load: ({ rate }) => pages(rate, '/basket'),
};
