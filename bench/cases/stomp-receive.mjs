import { conversation, GROUP, MEASURES, RUN_S, STAY_S } from '../lib/conversation.mjs';
import { artillery, k6, node } from '../tools/index.mjs';

const PEOPLE = 150;
const { ours, theirs } = conversation('stomp', { people: PEOPLE, are_there: ({ stomp }) => stomp >= PEOPLE });
const PARAMETERS = { USERS: PEOPLE, STAY: STAY_S, ROUTE: '/location', DESTINATION: `/sub/location/${GROUP}` };
const byK6 = (script) => theirs(k6.script(`stomp-receive/${script}.js`, PARAMETERS), ({ received }) => received);

export default {
  name: 'stomp-receive',
  title: `STOMP over WebSocket: ${PEOPLE} people who each hear a word of each of them once a second`,
  about:
    `${PEOPLE} sessions of STOMP 1.2 are subscribed to one group of the service, in which ${PEOPLE} words are said a second. The row *sonagi* speaks them itself and follows every copy in the ledger; the others listen to what the harness says. ` +
    'k6 and Artillery have no STOMP: their users write the frames by hand, and count each MESSAGE by its first letters, without looking at headers or body. The client in Node is @stomp/stompjs on ws. CPU is that of 1.7 s in the middle.',
  operation: 'delivery',
  seconds: RUN_S,
  headline: 'cpu_us',
  measures: MEASURES,
  contestants: [
    { name: 'sonagi', rounds: 2, ...ours() },
    { name: 'sonagi without ledger', rounds: 2, ...ours({ ledger: false }) },
    { name: 'k6/ws, hand-written frames', rounds: 2, ...byK6('k6-ws') },
    { name: 'k6/websockets, hand-written frames', slow: true, ...byK6('k6-websockets') },
    { name: '@stomp/stompjs on Node', rounds: 2, ...theirs(node.script('stomp-receive/stompjs.mjs', PARAMETERS), ({ received }) => received) },
    {
      name: 'artillery, own handler',
      rounds: 1,
      ...theirs(artillery.script('stomp-receive/artillery.yml', PARAMETERS), (aggregate) => ({ received: aggregate.counters.heard ?? 0, objection: artillery.errors(aggregate) })),
    },
  ],
  claims: [],
};
