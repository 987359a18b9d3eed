// What a run says of its own clock: how long the test ran, by every figure that follows from it, and how many virtual users were
// counted when. No two runs agree to the millisecond, so these are compared within limits.

/** Seconds that two runs of a test may differ by on a busy machine; a second of `setup` that is left out is more. */
const SLACK_S = 0.6;
const SHARE = 0.15;

/** `{'rate NAME': seconds, 'duration FILE': seconds}`: a counter's rate is told by the seconds it was divided by. */
export function durations({ summary, stdout, left }) {
  const told = {};
  for (const [name, { count, rate }] of Object.entries(summary?.metrics ?? {})) if (count > 0 && rate !== undefined && !name.startsWith('data_')) told[`rate ${name}`] = count / rate;
  const running = [...stdout.matchAll(/^running \(([\dhms.]+)\), .* complete and/gm)].at(-1)?.[1];
  if (running) told['duration running'] = seconds(running);
  for (const [name, text] of Object.entries(left)) {
    const ms = text?.match(/"testRunDurationMs":\s*([\d.e+-]+)/)?.[1];
    if (ms !== undefined) told[`duration ${name}`] = Number(ms) / 1000;
  }
  return told;
}

/** `1h02m03.4s` in seconds. */
const seconds = (text) => [...text.matchAll(/([\d.]+)([hms])/g)].reduce((sum, [, number, unit]) => sum + Number(number) * { h: 3600, m: 60, s: 1 }[unit], 0);

export const asLongAs = (a, b) => a === undefined || b === undefined || Math.abs(a - b) <= Math.max(SLACK_S, SHARE * Math.min(a, b));

/** `{vus: {values, samples, gauge}, vus_max: …}`: what was counted, each value once until it changes, how often, and what the summary says of it. */
export function users(text, summary) {
  const told = {};
  for (const line of text?.split('\n') ?? []) {
    const [, name] = line.match(/"metric":"(vus|vus_max)"/) ?? [];
    const value = name && line.includes('"Point"') ? JSON.parse(line).data.value : undefined;
    if (value === undefined) continue;
    const of = (told[name] ??= { values: [], samples: 0, gauge: gauge(summary?.metrics?.[name]) });
    of.samples += 1;
    if (of.values.at(-1) !== value) of.values.push(value);
  }
  return told;
}

const gauge = (of) => of && ['value', 'min', 'max'].map((name) => `${name}=${of[name]}`).join(' ');

/** One count more or less is a matter of milliseconds. */
export const asMany = (a, b) => JSON.stringify([a?.values, a?.gauge]) === JSON.stringify([b?.values, b?.gauge]) && Math.abs((a?.samples ?? 0) - (b?.samples ?? 0)) <= 1;
