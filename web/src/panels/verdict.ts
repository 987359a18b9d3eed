// The first thing one reads: what the run came to, and why, in words; then the figures of the whole run.

import { goesOn } from '../data/contract';
import { isK6, isTime, isWatch, timedMetrics } from '../data/sources';
import type { Summary } from '../data/summary';
import { fill, h } from '../shell/dom';
import { text } from '../text';
import { clock, count, date, milliseconds, rate, seconds, share, short } from '../text/format';
import { type Context, type Panel, sentence } from './panel';

export type Outcome =
  | 'running'
  | 'unfinished'
  | 'pass'
  | 'fail'
  | 'invalid'
  | 'interrupted'
  | 'cut_off'
  | 'watched'
  | 'unknown';

/** What to say of the run as a whole. A run without an end has no verdict, whatever held until then. */
export function outcome({ run }: Context): Outcome {
  const { state } = run;
  if (state === 'running' || state === 'unfinished' || state === 'cut_off') return state;
  if (isWatch(run)) return 'watched';
  const result = run.summary?.verdict?.result;
  return result === 'pass' || result === 'fail' || result === 'invalid' || result === 'interrupted'
    ? result
    : 'unknown';
}

/** Shapes beside the words: no colour alone says what the verdict is. */
export const SIGNS: Record<Outcome, string> = {
  running: '▶',
  unfinished: '▶',
  pass: '✓',
  fail: '✗',
  invalid: '?',
  interrupted: '■',
  cut_off: '!',
  watched: '●',
  unknown: '–',
};

export function verdictPanel(context: Context): Panel {
  const t = text();
  const element = h('section', { id: 'verdict', 'aria-label': t.verdict.title });
  const update = () => {
    const { run } = context;
    const result = outcome(context);
    element.className = `verdict ${result}`;
    element.dataset.outcome = result;
    fill(
      element,
      h(
        'div',
        { class: 'headline' },
        h('p', { class: 'word' }, h('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[result]), t.state[result]),
        h(
          'div',
          { class: 'why' },
          h('p', { class: 'meaning' }, meaning(context, result), ' ', progress(context)),
          isWatch(run) ? null : words(run.summary, result),
        ),
      ),
      facts(context),
    );
  };
  return { id: 'verdict', title: t.verdict.title, element, update };
}

function meaning({ run }: Context, result: Outcome): string {
  const t = text().verdict;
  if (isWatch(run) && result === 'running') return t.watching;
  return isWatch(run) && result === 'unfinished' ? t.unfinishedWatch : t[result];
}

function progress({ run }: Context): string {
  if (!goesOn(run.state) || run.frames === 0) return '';
  // Users may go on for longer than they are planned to come.
  const planned = run.head?.planned_s ?? 0;
  return planned >= run.length ? text().verdict.elapsed(clock(run.length), clock(planned)) : clock(run.length);
}

function words(summary: Summary | null, result: Outcome): HTMLElement | null {
  const t = text();
  const verdict = summary?.verdict;
  if (!verdict) return null;
  // What strained the generator is told where its figures are.
  const findings = summary.generator?.findings ?? [];
  const strained = summary.generator?.state === 'warn';
  const hints = [
    ...verdict.hints.filter(hint => !findings.includes(hint)).map(sentence),
    ...(strained ? [h('a', { href: '#generator', class: 'doubtful' }, `! ${t.generator.warn}`)] : []),
  ];
  const soFar = result === 'running' || result === 'unfinished' || result === 'cut_off';
  return h(
    'div',
    {},
    verdict.reasons.length > 0
      ? h(
          'ul',
          { class: 'reasons', 'aria-label': t.verdict.reasons },
          verdict.reasons.map(reason => h('li', {}, soFar ? `${t.verdict.soFar} ` : '', sentence(reason))),
        )
      : null,
    hints.length > 0
      ? h(
          'div',
          { class: 'hints' },
          h('b', {}, t.verdict.hints),
          h(
            'ul',
            {},
            hints.map(hint => h('li', {}, hint)),
          ),
        )
      : null,
  );
}

function facts(context: Context): HTMLElement {
  const t = text().facts;
  const { run } = context;
  const { head, summary } = run;
  const rows: [string, string | null | undefined][] = [
    // A k6 script names no target: its file stands there.
    [isK6(run) ? t.script : t.target, summary?.target || head?.reproduce.target],
    [t.started, head && date(head.started)],
    [t.length, run.frames > 0 ? seconds(Math.max(run.length, summary?.duration_s ?? 0)) : null],
    ...(isWatch(run) ? [] : ofLoad(context)),
  ];
  return h(
    'dl',
    { class: 'facts', title: t.window },
    rows.filter(([, value]) => value).map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

function ofLoad(context: Context): [string, string | null | undefined][] {
  const t = text().facts;
  const users = context.run.summary?.users;
  return [
    ...(users ? begun(users, isK6(context.run)) : []),
    [t.peak, users && t.concurrent(count(users.peak))],
    ...figures(context),
  ];
}

/** What was begun: iterations in a k6 script, and where a fixed number of users iterate as often as they can. */
function begun(users: NonNullable<Summary['users']>, isK6: boolean): [string, string][] {
  const t = text().facts;
  const [started, planned] = [count(users.started), count(users.planned)];
  if (typeof users.wanted === 'number') {
    return [
      [t.users, count(users.wanted)],
      [t.iterations, started],
    ];
  }
  // Folders of older versions do not say what they count.
  if (isK6 || users.iterations) return [[t.iterations, t.iterationsValue(started, planned)]];
  return [[t.users, t.usersValue(started, planned)]];
}

function figures({ run }: Context): [string, string | null][] {
  const t = text().facts;
  const all = [0, run.frames] as const;
  const length = Math.max(run.length, 1e-3);
  const requests = Math.max(run.sum('http.requests').added(...all), run.sum('http_reqs').added(...all));
  const messages = run.sum('messages.received').added(...all);
  const ratio = run.summary?.delivery?.ratio;
  const [metric] = timedMetrics(run).filter(name => run.sum(name).merged(...all).n > 0);
  const timed = metric ? run.sum(metric).merged(...all) : null;
  const errors = (run.summary?.errors ?? []).reduce((sum, row) => sum + row.count, 0);
  const lag = run.summary?.generator;
  return [
    [t.rate, requests > 0 ? `${short(requests)} · ${rate(requests / length)}` : null],
    [t.messages, messages > 0 ? `${short(messages)} · ${rate(messages / length)}` : null],
    [t.delivery, ratio === undefined || !run.summary?.delivery?.owed ? null : share(ratio)],
    [
      `${t.latency} ${metric ?? ''}`,
      timed && isTime(run.series(metric)[0].unit) ? milliseconds(timed.quantile(0.99)) : null,
    ],
    [t.errors, run.summary ? count(errors) : null],
    [t.generator, lag ? (text().generator.state[lag.state] ?? lag.state) : null],
  ];
}
