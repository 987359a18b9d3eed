import { fastapi } from '../stacks/fastapi.mjs';
import { sockets } from '../lib/loads.mjs';

export default {
  about: 'a room on FastAPI that makes each copy by templates, 80 for each: more than its one core can do (healthy: one)',
  expects: 'event_loop',
  sizes: { calibrate: { users: 35, perSecond: 4 }, judge: { users: 40, perSecond: 4 } },
  start: (started, { planted }) => fastapi(started, { env: { TEMPLATES: planted ? 80 : 1 } }),
  load: ({ users, perSecond }) => sockets(users, { perSecond }),
};
