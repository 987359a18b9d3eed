import { jvm } from '../stacks/jvm.mjs';
import { pages } from '../lib/loads.mjs';

export default {
  about: 'a JVM whose 4 threads each serve a connection for 80 ms, with an accept queue of 4 (healthy: 100 threads, 511)',
  expects: 'accept_queue',
  sizes: { calibrate: { rate: 70 }, judge: { rate: 80 } },
  start: (started, { planted }) =>
    jvm(started, { service: 'Blocking.java', env: planted ? { THREADS: 4, ACCEPT: 4 } : { THREADS: 100, ACCEPT: 511 } }),
  load: ({ rate }) => pages(rate, '/held'),
};
