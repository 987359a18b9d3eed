import { node } from '../stacks/node.mjs';
import { room } from '../lib/loads.mjs';

export default {
  about: 'ulimit -n of 60 for a room over Socket.IO (healthy: 4,096)',
  expects: 'descriptors',
  quick: true,
  sizes: { calibrate: { users: 60 }, judge: { users: 75 } },
  start: (started, { planted }) => node(started, { before: ['prlimit', `--nofile=${planted ? 60 : 4_096}`, '--'] }),
  load: ({ users }) => room(users, { perSecond: 0.25 }),
};
