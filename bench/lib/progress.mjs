// What a waiting person sees: which run this is, what the last one gave, and how long it will still take.
import { readable } from './measures.mjs';

/** Start-up and settling around each run, in seconds, until it is known better. */
const AROUND_S = 0.4;
const SLOW_STARTERS_S = { artillery: 6, tsung: 8, gatling: 4 };

export class Progress {
  #done = 0;
  #began = Date.now();
  #plannedDone_s = 0;

  /** `plan` is a list of `{ kase, contestants, runs }`. */
  constructor(plan) {
    this.total = plan.reduce((sum, { contestants, runs }) => sum + contestants.reduce((some, one) => some + times(one, runs), 0), 0);
    this.total_s = plan.reduce((sum, { kase, contestants, runs }) => sum + contestants.reduce((some, one) => some + times(one, runs) * cost(kase, one), calibrating(kase, contestants)), 0);
    if (this.total > 1) console.error(`bench: ${this.total} runs of ${plan.length} cases, about ${minutes(this.total_s)}`);
  }

  /** A function to call at the beginning of each run of a case. */
  beginning = (kase) => {
    let before_s = calibrating(kase, [kase]);
    return (contestant, round) => {
      // What came before the case's first run is over.
      this.#plannedDone_s += before_s;
      before_s = 0;
      this.#begin(kase, contestant, round);
    };
  };

  #begin(kase, contestant, round) {
    this.#done += 1;
    const planned_s = this.total_s - this.#plannedDone_s;
    // What the runs so far took against their plan says how long the others will.
    const pace = this.#plannedDone_s > 0 ? (Date.now() - this.#began) / 1000 / this.#plannedDone_s : 1;
    this.#plannedDone_s += cost(kase, contestant);
    this.kase = kase;
    process.stderr.write(`[${this.#done}/${this.total}, ${minutes(planned_s * pace)} left] ${kase.name} · ${contestant.name} · round ${round + 1}: `);
  }

  /** To call with each record. */
  ended = ({ contestant, calibration, measures, error, falls_short, again, stolen }) => {
    const aside = [falls_short && `falls short: ${falls_short}`, again && `made again ${again === 1 ? 'once' : `${again} times`}, ${readable(stolen, 'share')} stolen`].filter(Boolean).join('; ');
    if (calibration) console.error(`bench: calibrated ${contestant}: ${JSON.stringify(calibration)}`);
    else if (error) console.error(`FAILED: ${error}`);
    else console.error(`${figures(this.kase, measures)}${aside ? ` (${aside})` : ''}`);
  };
}

/** A row may take part in the first rounds only. */
const times = ({ rounds = Infinity, runs: each = 1 }, runs) => Math.min(rounds, runs) * each;

/** What a case takes before its first round. */
const calibrating = ({ calibration_s = 0 }, contestants) => (contestants.length > 0 ? calibration_s : 0);

const cost = (kase, { seconds = kase.seconds, tool }) => seconds + (SLOW_STARTERS_S[tool] ?? AROUND_S);

const minutes = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`);

function figures({ headline, operation, measures }, found) {
  const { cpu_us, target_cpu } = found;
  const first = headline === 'cpu_us' ? '' : `${readable(found[headline], measures?.[headline]?.unit)} ${measures?.[headline]?.label ?? headline}, `;
  return `${first}${readable(cpu_us)} µs per ${operation}, target ${readable(target_cpu, 'share')}`;
}
