import { conversation, GROUP, MEASURES, RUN_S, STAY_S } from '../lib/conversation.mjs';
import { artillery, k6 } from '../tools/index.mjs';

const PEOPLE = 500;
/** One in so many speaks: as many words are in each answer as one in so many says in a second. */
const FOR_EACH = 10;
const WORDS_PER_S = PEOPLE / FOR_EACH;
/** Who has asked is there: the first answer brings nothing. */
const { ours, theirs } = conversation('poll', { people: PEOPLE, for_each: FOR_EACH, are_there: ({ empty_polls }) => empty_polls >= PEOPLE });
const ROUTE = `/cur/${GROUP}`;
/** A poll a second. */
const ROUNDS = STAY_S;

export default {
  name: 'poll-receive',
  title: `Polling: ${PEOPLE} people who each ask once a second for ${WORDS_PER_S} words`,
  about:
    `Each of ${PEOPLE} people asks once a second for what was said in a group of the service since, ${WORDS_PER_S} words. The row *sonagi* has one in ${FOR_EACH} speak and follows every copy in the ledger; the others listen to what the harness says. ` +
    'k6 and Artillery take the cursor of each answer for the next request and look at nothing else in it. oha and wrk cannot keep a cursor. CPU is that of 1.7 s in the middle, divided by the messages in the answers.',
  operation: 'delivery',
  seconds: RUN_S,
  headline: 'cpu_us',
  measures: MEASURES,
  contestants: [
    { name: 'sonagi', rounds: 2, ...ours() },
    { name: 'sonagi without ledger', rounds: 2, ...ours({ ledger: false }) },
    { name: 'k6', rounds: 2, ...theirs(k6.script('poll-receive/k6.js', { USERS: PEOPLE, ROUNDS, ROUTE }), ({ received }) => received) },
    {
      name: 'artillery',
      rounds: 1,
      ...theirs(artillery.script('poll-receive/artillery.yml', { USERS: PEOPLE, ROUNDS, ROUTE }), (aggregate) => ({ received: aggregate.counters.heard ?? 0, objection: artillery.errors(aggregate) })),
    },
  ],
  claims: [],
};
