import { MEASURES, STAY_S, figures, watch } from '../lib/held.mjs';
import { k6, sonagi } from '../tools/index.mjs';

const SIZES = { '1k': 1000, '10k': 10_000 };
const FEWEST = '1k';
const TOOLS = { sonagi: sonagi.k6, k6: k6.script };

const row = (tool, size, settings = {}) => ({
  name: `${tool}, ${size}`,
  beside: `sonagi, ${size}`,
  fresh: true,
  ...settings,
  during: watch(SIZES[size]),
  ...TOOLS[tool]('idle/k6-ws.js', { USERS: SIZES[size], STAY: STAY_S }),
  measure: ({ users, received }, { during, latest }) => {
    // Words of users who were never let in are missed as words; a failed handshake is told as what it is.
    const objection = users > SIZES[size] ? `${users - SIZES[size]} more sessions than users` : undefined;
    return figures(SIZES[size], { words: received, objection }, during, { users: SIZES[FEWEST], held_mb: latest(`${tool}, ${FEWEST}`)?.held_mb });
  },
});

export default {
  name: 'k6-held',
  title: 'A k6 script: N users who each hold a WebSocket and say a word every five seconds',
  about:
    'The same script, run by both: `k6/ws`, a user for every connection. Users are made before any of them begins; then everybody is to connect within one second. *All connected* is the age of the tool’s process when the target counts N connections. ' +
    'CPU held is that of the five seconds after it; MB held is the memory at their end, and KB per user its growth since 1,000 users: what a user takes beyond the fixed part.',
  operation: 'word',
  seconds: 14,
  headline: 'held_mb',
  measures: MEASURES,
  contestants: [
    row('sonagi', '1k', { rounds: 1 }),
    row('sonagi', '10k', { rounds: 2 }),
    row('k6', '1k', { rounds: 1, seconds: 15 }),
    row('k6', '10k', { rounds: 1, seconds: 19 }),
  ],
  claims: [
    { says: '10k users: at most 112 KiB a user', measure: 'kb_per_user', of: 'sonagi, 10k', atMost: 112 },
  ],
};
