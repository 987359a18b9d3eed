import { conversation, GROUP, MEASURES, RUN_S, STAY_S } from '../lib/conversation.mjs';
import { bare, k6_sse } from '../tools/index.mjs';

const PEOPLE = 150;
const { ours, theirs } = conversation('sse', { people: PEOPLE, are_there: ({ sse }) => sse >= PEOPLE });
const ROUTE = `/location/sse/connect?group=${GROUP}`;
/** Without a message: what k6's extension counts of the `retry` and the id that a stream begins with. */
const GREETING = 2;

export default {
  name: 'sse-receive',
  title: `Event streams: ${PEOPLE} people who each hear a word of each of them once a second`,
  about:
    `${PEOPLE} event streams of one group of the service, in which ${PEOPLE} words are said a second, about 60 bytes each. The row *sonagi* speaks them itself, by requests, and follows every copy in the ledger; the others listen to what the harness says. ` +
    'k6 itself cannot read a stream before its end: the row is k6 with the extension xk6-sse, whose own counter is all it is asked for. CPU is that of 1.7 s in the middle.',
  operation: 'delivery',
  seconds: RUN_S,
  headline: 'cpu_us',
  measures: MEASURES,
  contestants: [
    { name: 'sonagi', rounds: 3, ...ours() },
    { name: 'sonagi without ledger', rounds: 2, ...ours({ ledger: false }) },
    { name: 'bare', rounds: 2, ...theirs(bare.run('events', [ROUTE, '--users', PEOPLE, '--seconds', STAY_S]), ({ messages }) => messages) },
    { name: 'k6 with xk6-sse', rounds: 2, ...theirs(k6_sse.script('sse-receive/k6-sse.js', { USERS: PEOPLE, STAY: STAY_S, ROUTE }), ({ events }) => events - GREETING * PEOPLE) },
  ],
  claims: [],
};
