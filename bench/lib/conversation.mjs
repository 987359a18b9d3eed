// A group of the service in which people talk: what the receive cases share. Each has its own transport; people, words and
// the time table are the same for all tools of a case. Ours speak among themselves, so that the ledger can follow every copy; the
// others only listen, and the harness speaks to them at the same rate, because most of them cannot do both at once.
import { sonagi } from '../tools/index.mjs';
import { objections } from '../tools/sonagi.mjs';
import { Speaker } from './speaker.mjs';
import { costs, steady } from './steady.mjs';

export const GROUP = 'shower';
/** As long as what ours say, whose mark is a stamp. */
const WORD = JSON.stringify({ lat: 37.5665, lng: 126.978, mark: '.'.repeat(22) });

/** How long each speaker of ours speaks, a word a second. */
const SPEECH_S = 3;
/** How long those stay who only listen: all come within a second, and the window and what is before it take three more. */
export const STAY_S = 5;
/** Of a run of either kind. */
export const RUN_S = 7;
/** Who speaks is drawn; the same seed draws the same people. */
const SEED = 7;

/** How often the target is asked whether all are there. */
const ASK_MS = 20;
/** Start-up is left out, and so is the first second, in which polls do not yet bring a whole second's words. */
const WINDOW = { count: ({ copies }) => copies, settle_ms: 1100, window_ms: 1700 };

/** A tool that counts less than this share of the copies that were handed out to it fell short. */
const WHOLE = 0.98;

const amongThemselves = steady({ ...WINDOW, begun: ({ copies }) => copies > 0 });
const spokenTo = steady({ ...WINDOW, begun: () => true });

/** `during` of who only listens: once all `are_there`, the harness speaks until the tool has ended. */
const listening = (are_there, words_per_s) => async (probe) => {
  while (!are_there(await probe.stats())) if (!(await probe.wait(ASK_MS))) return undefined;
  const speaker = new Speaker(`${probe.target.url}/location/long/${GROUP}/notify`, WORD, words_per_s);
  try {
    const window = await spokenTo(probe);
    // Who asks until it has heard enough must hear it.
    while (await probe.wait(1000));
    return window;
  } finally {
    speaker.end();
  }
};

/**
 * The parts of a case over `transport`, in which of `people` one in `for_each` speaks a word a second: `ours()` and
 * `ours({ ledger: false })` are rows of Sonagi; `theirs(contestant, received)` makes a row of one that listens,
 * `received(report, outcome)` is how many copies it counted, or `{ received, objection }`. `are_there(stats)` says that all
 * listen.
 */
export function conversation(transport, { people, for_each = 1, are_there }) {
  const common = { target: 'serve', fresh: true };
  const among = { LISTENING: for_each - 1, SPEAKING: 1 };
  const alone = { LISTENING: 1, SPEAKING: 0 };
  const script = (speech) =>
    sonagi.script('transports/talk.yml', { TRANSPORT: transport, SOCKJS: false, USERS: people, SECONDS: SPEECH_S, STAY: STAY_S, ...speech }, { flags: ['--seed', SEED] });
  const theirs = (contestant, received) => ({
    ...common,
    during: listening(are_there, people / for_each),
    ...contestant,
    measure: (report, outcome) => {
      const found = received(report, outcome);
      return counted(typeof found === 'number' ? { received: found } : found, outcome);
    },
  });
  const ours = ({ ledger = true } = {}) =>
    ledger
      ? { ...common, during: amongThemselves, ...script(among), measure: followed }
      : theirs(script(alone), (summary) => ({ received: summary.traffic.messages_received, objection: objections(summary) }));
  return { ours, theirs };
}

/** Of a run in which every copy was followed. */
function followed(summary, outcome) {
  const { owed, delivered, late, duplicate, latency_ms } = summary.delivery;
  const arrived = delivered + late;
  const short = [
    objections(summary),
    owed === 0 && 'nobody was owed anything',
    arrived < owed && `${owed - arrived} of ${owed} copies did not arrive`,
    late > 0 && `${late} of ${owed} copies were late`,
    duplicate > 0 && `${duplicate} copies came twice`,
  ];
  return figures({ received: arrived, share: owed > 0 ? arrived / owed : 0, p99_ms: latency_ms.p99, short }, outcome);
}

/** Of a run in which the tool itself counted: held against what the target handed out. */
function counted({ received, objection }, outcome) {
  const { copies } = outcome.target.stats;
  const share = copies > 0 ? Math.min(1, received / copies) : 0;
  const short = [objection, share < WHOLE && `counted ${received} of ${copies} copies`];
  return figures({ received, share, short }, outcome);
}

function figures({ received, share, p99_ms, short }, { during: window }) {
  if (!window) throw new Error('it was over before all listened, or too soon after');
  // A copy that nobody came to count was not received.
  const frames = window.frames * share;
  return {
    operations: received,
    seconds: SPEECH_S,
    ...costs({ ...window, frames }),
    deliveries_per_s: frames / window.seconds,
    received_share: share,
    p99_ms,
    falls_short: short.filter(Boolean).join('; ') || undefined,
  };
}

/** What the cases show beside the standard columns. */
export const MEASURES = {
  deliveries_per_s: { label: 'deliveries/s' },
  received_share: { label: 'received', unit: 'share', better: 'higher' },
  p99_ms: { label: 'its p99, ms', better: 'lower' },
};
