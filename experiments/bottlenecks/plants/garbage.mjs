import { jvm } from '../stacks/jvm.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a JVM whose cache of 250 MiB nearly fills its heap of 320 once it has grown (healthy: a heap of 1 GiB)',
  expects: 'garbage',
  sizes: { calibrate: { rate: 60 }, judge: { rate: 75 } },
  async start(started, { planted }) {
    const service = await jvm(started, { flags: planted ? ['-Xmx320m'] : ['-Xmx1g', '-Xmn64m'], env: { CACHE_MIB: 250, PAGE_KIB: 512 } });
    return { ...service, watch: [service.metrics] };
  },
  load: ({ rate }) => pages(rate, '/basket'),
};
