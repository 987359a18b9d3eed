// Every trial of a search by its load: its p99 in one chart, the share delivered in another, with the bracket between
// the bounds. Both have one scale of loads. A trial that has no such figure is in the chart too, on a line at its edge:
// a target that answers nothing has no latency, and that is what must be seen of it.

import type { Capacity, CapacityTrial } from '../data/contract';
import { text } from '../text';
import { count, milliseconds, share } from '../text/format';
import { logarithmic, ofShares, type Scale } from './capacity_scales';
import { draw, drawing } from './svg';

const WIDTH = 720;
/** Room for what is said beside the scales. */
const LEFT = 80;
const BOTTOM = 26;
const TOP = 12;
const RIGHT = 16;
/** Room for the line of trials without a figure, and how far it is from the edge. */
const LANE = 24;
const INSET = 8;

/** What a chart shows of each trial. */
interface Figure {
  name: 'latency' | 'delivery';
  height: number;
  label: string;
  of: (trial: CapacityTrial) => number | null;
  scale: (values: number[], from: number, to: number) => Scale;
  /** A value beside the scale. */
  tick: (value: number) => string;
  /** A value in the title of a mark. */
  shown: (value: number) => string;
  /** Where the line of trials without a value is, its name, and the title of a mark on it. */
  without: { edge: 'upper' | 'lower'; lane: string; title: string };
}

/** Latency rises to where no answer arrives: that is above all others. */
export function latencyChart(search: Capacity): SVGElement {
  const t = text().capacity;
  const of = (trial: CapacityTrial) => trial.p99_ms;
  const unanswered = search.trials.filter(trial => of(trial) === null).length;
  return chart(search, {
    name: 'latency',
    height: 260,
    label: t.latencyChart(search.trials.length, unanswered),
    of,
    scale: logarithmic,
    tick: milliseconds,
    shown: ms => `p99 ${milliseconds(ms)}`,
    without: { edge: 'upper', ...t.unanswered },
  });
}

/** Null of a search in which no trial knew what was owed. */
export function deliveryChart(search: Capacity): SVGElement | null {
  const t = text().capacity;
  const of = (trial: CapacityTrial) => trial.delivered;
  if (search.trials.every(trial => of(trial) === null)) return null;
  return chart(search, {
    name: 'delivery',
    height: 180,
    label: t.deliveryChart(search.trials.length),
    of,
    scale: ofShares,
    tick: share,
    shown: part => t.shareDelivered(share(part)),
    without: { edge: 'lower', ...t.unowed },
  });
}

function chart(search: Capacity, figure: Figure): SVGElement {
  const { trials, lower, upper } = search;
  const { of, without } = figure;
  const svg = drawing(WIDTH, figure.height, `capacity-chart ${figure.name}`, figure.label);
  const bottom = figure.height - BOTTOM;
  const values = trials.map(of).filter(value => value !== null);
  const room = values.length < trials.length ? LANE : 0;
  const isAbove = without.edge === 'upper';
  const loads = trials.map(trial => trial.load);
  const across = logarithmic(loads, LEFT, WIDTH - RIGHT);
  const up = figure.scale(values, isAbove ? bottom : bottom - room, isAbove ? TOP + room : TOP);
  if (lower && upper) {
    const [x, end] = [across.place(lower.load), across.place(upper.load)];
    const area = { x, y: TOP, width: Math.max(end - x, 2), height: bottom - TOP, class: 'bracket' };
    svg.append(draw('rect', area, `${lower.name} – ${upper.name}`));
  }
  for (const load of across.ticks) {
    const x = across.place(load);
    svg.append(draw('line', { x1: x, x2: x, y1: TOP, y2: bottom, class: 'grid' }));
    svg.append(label(x, figure.height - 8, 'middle', count(load)));
  }
  for (const tick of up.ticks) svg.append(...row(up.place(tick), figure.tick(tick), 'grid'));
  const lane = isAbove ? TOP + INSET : bottom - INSET;
  if (room > 0) svg.append(...row(lane, without.lane, 'grid without'));
  for (const trial of trials) {
    const value = of(trial);
    const [y, shown] = value === null ? [lane, without.title] : [up.place(value), figure.shown(value)];
    svg.append(mark(trial, shown, across.place(trial.load), y));
  }
  return svg;
}

/** A line across, with its name beside it. */
function row(y: number, name: string, className: string): SVGElement[] {
  const line = draw('line', { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, class: className });
  return [line, label(LEFT - 6, y + 4, 'end', name)];
}

/** A shape for each outcome: no colour alone tells them apart. */
function mark(trial: CapacityTrial, shown: string, x: number, y: number): SVGElement {
  const title = [trial.name, text().capacity.outcomes[trial.outcome], shown].join(' · ');
  const className = trial.outcome === 'stolen' ? 'unreliable' : trial.outcome;
  if (className !== 'missed') return draw('circle', { cx: x, cy: y, r: 4, class: className }, title);
  const cross = `M${x - 4},${y - 4}L${x + 4},${y + 4}M${x - 4},${y + 4}L${x + 4},${y - 4}`;
  return draw('path', { d: cross, class: className }, title);
}

function label(x: number, y: number, anchor: string, words: string): SVGElement {
  const element = draw('text', { x, y, 'text-anchor': anchor });
  element.textContent = words;
  return element;
}
