import { conversation, GROUP, MEASURES, RUN_S, STAY_S } from '../lib/conversation.mjs';
import { artillery, k6 } from '../tools/index.mjs';

const PEOPLE = 100;
/** One in so many speaks: each word is answered to all of them, and asked for again. */
const FOR_EACH = 5;
const WORDS_PER_S = PEOPLE / FOR_EACH;
const { ours, theirs } = conversation('longpoll', { people: PEOPLE, for_each: FOR_EACH, are_there: ({ longpoll }) => longpoll >= PEOPLE });
const ROUTE = `/location/long/${GROUP}`;

/** Artillery's users go round a fixed number of times, because a question after each would cost it half of its rate. */
const ROUNDS = Math.round(WORDS_PER_S * STAY_S);

export default {
  name: 'longpoll-receive',
  title: `Long polling: ${PEOPLE} people who hear ${WORDS_PER_S} words a second`,
  about:
    `Each of ${PEOPLE} people asks for what is new in a group of the service and is answered when something is said, ${WORDS_PER_S} times a second, and asks again. The row *sonagi* has one in ${FOR_EACH} speak and follows every copy in the ledger; the others listen to what the harness says. ` +
    'k6 and Artillery take the cursor of each answer for the next request; how much they heard is the difference of their last and first cursor, since messages are numbered without gaps, which is the cheapest way they have. oha and wrk cannot keep a cursor. CPU is that of 1.7 s in the middle.',
  operation: 'delivery',
  seconds: RUN_S,
  headline: 'cpu_us',
  measures: MEASURES,
  contestants: [
    { name: 'sonagi', rounds: 2, ...ours() },
    { name: 'sonagi without ledger', rounds: 2, ...ours({ ledger: false }) },
    { name: 'k6', rounds: 2, ...theirs(k6.script('longpoll-receive/k6.js', { USERS: PEOPLE, STAY: STAY_S, ROUTE }), ({ received }) => received) },
    {
      name: 'artillery',
      rounds: 1,
      ...theirs(artillery.script('longpoll-receive/artillery.yml', { USERS: PEOPLE, ROUNDS, ROUTE }), (aggregate) => ({ received: aggregate.counters.heard ?? 0, objection: artillery.errors(aggregate) })),
    },
  ],
  claims: [],
};
