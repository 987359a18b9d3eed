// Every trial of a search by its load and its p99, both on logarithmic scales, with the bracket between the bounds.

import type { Capacity, CapacityTrial } from '../data/contract';
import { text } from '../text';
import { count, milliseconds } from '../text/format';
import { draw, drawing } from './svg';

const WIDTH = 720;
const HEIGHT = 260;
/** Room for the scales' numbers. */
const LEFT = 64;
const BOTTOM = 26;
const TOP = 12;
const RIGHT = 16;

export function capacityChart(search: Capacity): SVGElement {
  const timed = search.trials.filter(trial => (trial.p99_ms ?? 0) > 0);
  const svg = drawing(WIDTH, HEIGHT, 'capacity-chart', text().capacity.chart(search.trials.length));
  const across = scale(
    search.trials.map(trial => trial.load),
    LEFT,
    WIDTH - RIGHT,
  );
  const up = scale(
    timed.map(trial => trial.p99_ms ?? 1),
    HEIGHT - BOTTOM,
    TOP,
  );
  const { lower, upper } = search;
  if (lower && upper) {
    const [x, end] = [across.place(lower.load), across.place(upper.load)];
    const area = { x, y: TOP, width: Math.max(end - x, 2), height: HEIGHT - BOTTOM - TOP, class: 'bracket' };
    svg.append(draw('rect', area, `${lower.name} – ${upper.name}`));
  }
  for (const load of across.ticks) {
    const x = across.place(load);
    svg.append(draw('line', { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM, class: 'grid' }));
    svg.append(label(x, HEIGHT - 8, 'middle', count(load)));
  }
  for (const ms of up.ticks) {
    const y = up.place(ms);
    svg.append(draw('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, class: 'grid' }));
    svg.append(label(LEFT - 6, y + 4, 'end', milliseconds(ms)));
  }
  for (const trial of timed) svg.append(mark(trial, across.place(trial.load), up.place(trial.p99_ms ?? 1)));
  return svg;
}

/** A shape for each outcome: no colour alone tells them apart. */
function mark(trial: CapacityTrial, x: number, y: number): SVGElement {
  const title = [trial.name, text().capacity.outcomes[trial.outcome], `p99 ${milliseconds(trial.p99_ms)}`].join(' · ');
  if (trial.outcome === 'held') return draw('circle', { cx: x, cy: y, r: 4, class: 'held' }, title);
  if (trial.outcome === 'unreliable') return draw('circle', { cx: x, cy: y, r: 4, class: 'unreliable' }, title);
  const cross = `M${x - 4},${y - 4}L${x + 4},${y + 4}M${x - 4},${y + 4}L${x + 4},${y - 4}`;
  return draw('path', { d: cross, class: 'missed' }, title);
}

function label(x: number, y: number, anchor: string, words: string): SVGElement {
  const element = draw('text', { x, y, 'text-anchor': anchor });
  element.textContent = words;
  return element;
}

interface Scale {
  place: (value: number) => number;
  ticks: number[];
}

/** A logarithmic scale that has all these values in it, with round numbers: 1, 2 and 5 of each power of ten. */
function scale(values: number[], from: number, to: number): Scale {
  const low = Math.min(...values, Number.MAX_VALUE) / 1.3;
  const high = Math.max(...values, low * 2) * 1.3;
  const [least, most] = values.length > 0 ? [low, high] : [1, 10];
  const place = (value: number) => from + ((to - from) * Math.log(value / least)) / Math.log(most / least);
  const powers = [];
  for (let power = 10 ** Math.floor(Math.log10(least)); power <= most; power *= 10) powers.push(power);
  const steps = most / least > 2_000 ? [1] : [1, 2, 5];
  const ticks = powers.flatMap(power => steps.map(step => step * power));
  return { place, ticks: ticks.filter(tick => tick >= least && tick <= most) };
}
