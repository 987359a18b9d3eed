// One case: its targets started, its contestants run round by round, every run recorded.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quietest, withStolen } from '../../experiments/lib/stolen.mjs';
import { CACHE, impersonal } from './cache.mjs';
import { runToEnd } from './child.mjs';
import { TARGET_CORE, TOOL_CORE } from './cores.mjs';
import { complete } from './measures.mjs';
import { rememberFolder } from './started.mjs';
import { Target } from './target.mjs';

/** What a run may take beyond the case's seconds before it is ended: Artillery and tsung start for seconds. */
const PATIENCE_S = 45;

/** A run in which others took more than this share of the machine's time is made again, up to so many times in all. */
const TRIES = { wanted: 1, at_most: 4, share: 0.01 };

export class Contest {
  #targets = new Map();
  /** The figures of each row's last run. */
  #latest = new Map();

  /** `kinds` maps a target's name to its file; `say` tells progress; `measured` says what was stolen while it called. */
  constructor(kase, kinds, say, measured = withStolen) {
    Object.assign(this, { kase, kinds, say, measured });
  }

  /**
   * Runs `contestants` for `rounds` rounds: the records of all runs in the order they were made. `beginning` is called before
   * each run with the contestant and its number.
   */
  async run(contestants, rounds, beginning = () => {}) {
    const records = [];
    try {
      const calibrations = await this.#calibrate(contestants);
      for (let round = 0; round < rounds; round += 1) {
        for (const contestant of rotated(contestants.filter((one) => round < (one.rounds ?? rounds)), round)) {
          for (let run = 0; run < (contestant.runs ?? 1); run += 1) {
            beginning(contestant, round);
            records.push({ contestant: contestant.name, round, ...(await this.#undisturbed(contestant, calibrations.get(contestant.name))) });
            const { measures } = records.at(-1);
            if (measures) this.#latest.set(contestant.name, measures);
            this.say(records.at(-1));
          }
        }
      }
      return { records, calibrations: Object.fromEntries(calibrations) };
    } finally {
      for (const target of this.#targets.values()) await target.stop();
      this.#targets.clear();
    }
  }

  /** What each contestant must know of itself before it can be measured, where the case asks. */
  async #calibrate(contestants) {
    const found = new Map();
    if (!this.kase.calibrate) return found;
    for (const contestant of contestants) {
      const execute = async (other, calibration) => {
        const { measures, outcome, error } = await this.#execute(other, calibration);
        if (error) throw new Error(`${other.name} could not be calibrated: ${error}`);
        return { measures, outcome };
      };
      const calibration = await this.kase.calibrate(contestant, execute, found).catch((error) => ({ error: error.message }));
      found.set(contestant.name, calibration);
      this.say({ contestant: contestant.name, calibration });
    }
    return found;
  }

  /** The run that counts, what share of the machine's time was `stolen` in it, and how often it was made `again`. */
  async #undisturbed(contestant, calibration) {
    if (calibration?.error) return { error: calibration.error };
    const record = () => this.#record(contestant, calibration);
    const { chosen, all } = await quietest(record, { ...TRIES, measured: this.measured });
    const [{ result, stolen }] = chosen;
    return { ...result, stolen: Number(stolen.toFixed(4)), ...(all.length > 1 && { again: all.length - 1 }) };
  }

  async #record(contestant, calibration) {
    const { outcome, ...record } = await this.#execute(contestant, calibration);
    return record;
  }

  /** Runs once: `{ command, target_command, measures?, falls_short?, error?, outcome }`. */
  async #execute(contestant, calibration) {
    const folder = mkdtempSync(join(tmpdir(), 'sonagi-bench-'));
    const forget = rememberFolder(folder);
    let target;
    let outcome;
    const commands = {};
    try {
      target = await this.#target(contestant);
      const invocation = contestant.command({ target, folder, cache: CACHE, calibration });
      commands.target_command = impersonal([`taskset -c ${TARGET_CORE}`, ...target.argv.map(quoted)].join(' '));
      commands.command = shown(invocation, contestant, target);
      outcome = await this.#measured(contestant, invocation, target, calibration);
      outcome = { ...outcome, folder, calibration, latest: (name) => this.#latest.get(name) };
      if (outcome.overdue) throw new Error(`it had not ended after ${Math.round(outcome.wall_s)} s, and was ended`);
      const figures = contestant.measure(contestant.report(outcome), outcome);
      const { falls_short } = figures;
      return { ...commands, measures: complete(figures, outcome), ...(falls_short && { falls_short }), outcome };
    } catch (error) {
      const said = outcome && outcome.code !== 0 ? ` (exit ${outcome.code}: ${tail(outcome.stderr || outcome.stdout)})` : '';
      return { ...commands, error: impersonal(`${error.message}${said}`), outcome };
    } finally {
      if (contestant.fresh && target) await target.stop();
      rmSync(folder, { recursive: true, force: true });
      forget();
    }
  }

  async #measured(contestant, invocation, target, calibration) {
    await target.reset();
    const before = target.sample();
    let rss_mb_peak = before.rss_mb;
    const targetSample = () => {
      const now = target.sample();
      rss_mb_peak = Math.max(rss_mb_peak, now.rss_mb);
      return now;
    };
    const beside = async (child) => {
      const probe = { ...child, target, target_sample: targetSample, stats: () => target.stats(), reset: () => target.reset() };
      const watching = (async () => {
        while (await child.wait(500)) targetSample();
      })();
      const during = await contestant.during?.(probe, calibration ?? {});
      await watching;
      return during;
    };
    const outcome = await runToEnd(invocation, {
      cores: contestant.cores ?? TOOL_CORE,
      timeout_s: (contestant.seconds ?? this.kase.seconds) + PATIENCE_S,
      sample_ms: contestant.sample_ms ?? 100,
      beside,
    });
    const after = targetSample();
    const stats = await target.stats();
    const cpu_s = after.cpu_s - before.cpu_s;
    return { ...outcome, target: { url: target.url, cpu_s, rss_mb_before: before.rss_mb, rss_mb_peak, stats } };
  }

  /** The contestant's target: its own, or the one of the case. One that died is started anew. */
  async #target({ target: name = 'null', fresh }) {
    const kind = this.kinds[name];
    if (!kind) throw new Error(`there is no target ${name}`);
    if (fresh) return Target.start(kind, CACHE, TARGET_CORE);
    if (!this.#targets.get(name)?.alive) this.#targets.set(name, await Target.start(kind, CACHE, TARGET_CORE));
    return this.#targets.get(name);
  }
}

/** The same, beginning with the n-th: each round starts with another contestant. */
const rotated = (list, n) => list.map((_, index) => list[(index + n) % list.length]);

/** For a shell: in the kind of quotes that the text has none of, if it can be. */
const quotation = (text) => (/["$`\\]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`);

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(String(word)) ? String(word) : quotation(String(word)));

/** The command as a reader would type it; the scratch folder and the port of the day are named by what they are. */
function shown({ argv, env = {} }, { cores }, target) {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const text = [...settings, 'taskset', '-c', cores ?? TOOL_CORE, ...argv.map(quoted)].join(' ');
  return impersonal(text).replaceAll(target.url, 'http://TARGET').replace(/\/[\w./-]*sonagi-bench-\w{6}/g, 'SCRATCH');
}

const tail = (text) => text.trim().split('\n').slice(-3).join(' · ').slice(-300);
