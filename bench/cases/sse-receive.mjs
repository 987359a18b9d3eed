import { conversation, GROUP, MEASURES, RUN_S, STAY_S } from '../lib/conversation.mjs';
import { bare, node } from '../tools/index.mjs';

const PEOPLE = 150;
const { ours, theirs } = conversation('sse', { people: PEOPLE, are_there: ({ sse }) => sse >= PEOPLE });
const ROUTE = `/location/sse/connect?group=${GROUP}`;

export default {
  name: 'sse-receive',
  title: `Event streams: ${PEOPLE} people who each hear a word of each of them once a second`,
  about:
    `${PEOPLE} event streams of one group of the service, in which ${PEOPLE} words are said a second, about 60 bytes each. The row *sonagi* speaks them itself, by requests, and follows every copy in the ledger; the others listen to what the harness says. ` +
    'k6 and Artillery cannot read a stream before its end. The client in Node is the package eventsource, counting in a plain variable. CPU is that of 1.7 s in the middle.',
  operation: 'delivery',
  seconds: RUN_S,
  headline: 'cpu_us',
  measures: MEASURES,
  contestants: [
    { name: 'sonagi', rounds: 2, ...ours() },
    { name: 'sonagi without ledger', rounds: 2, ...ours({ ledger: false }) },
    { name: 'bare', rounds: 2, ...theirs(bare.run('events', [ROUTE, '--users', PEOPLE, '--seconds', STAY_S]), ({ messages }) => messages) },
    { name: 'eventsource on Node', rounds: 2, ...theirs(node.script('sse-receive/eventsource.mjs', { USERS: PEOPLE, STAY: STAY_S, ROUTE }), ({ received }) => received) },
  ],
  claims: [],
};
