import { fastapi } from '../stacks/fastapi.mjs';
import { sockets } from '../lib/loads.mjs';

export default {
  about: 'a room on FastAPI in which all hear all: more copies than one core can send (healthy: a tenth of the messages)',
  expects: 'event_loop',
  sizes: { calibrate: { users: 70, perSecond: 4 }, judge: { users: 90, perSecond: 4 } },
  start: (started) => fastapi(started),
  load: ({ users, perSecond }, { planted }) => sockets(users, { perSecond: planted ? perSecond : perSecond / 10 }),
};
