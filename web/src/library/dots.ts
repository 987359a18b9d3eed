// Runs as dots: a lane of them for each value, or each side, that is compared.

import { bytes, milliseconds, NONE, share, short } from '../text/format';
import { draw, drawing } from './svg';

const WIDTH = 320;
/** Of a lane. */
const HEIGHT = 22;
/** Room for a dot at either end. */
const EDGE = 6;

interface Lane {
  runs: number[];
  mean: number | null;
  /** Of the mean. */
  interval: [low: number, high: number] | null;
}

/** A value with the unit that its name tells. */
export function shown(value: number | null, name: string): string {
  if (value === null) return NONE;
  const [last = '', before = ''] = name.split('.').reverse();
  if (['ratio', 'rate', 'failed_share'].includes(last)) return share(value);
  if ([last, before].some(part => part.endsWith('_ms'))) return milliseconds(value);
  if ([last, before].some(part => part.endsWith('_bytes'))) return bytes(value);
  return short(value);
}

/** A dot a run on a scale from 0 to `top`, the mean as a stroke, its interval as a line; lanes stand one below the other. */
export function dots(lanes: Lane[], top: number, name: string): SVGElement | string {
  if (lanes.every(({ runs }) => runs.length === 0)) return NONE;
  const label = lanes.map(({ runs }) => runs.map(run => shown(run, name)).join(', ')).join('; ');
  const svg = drawing(WIDTH, HEIGHT * lanes.length, 'dots', label);
  const place = (value: number) => EDGE + (top > 0 ? value / top : 0) * (WIDTH - 2 * EDGE);
  lanes.forEach(({ runs, mean, interval }, lane) => {
    const [above, middle] = [lane * HEIGHT, (lane + 0.5) * HEIGHT];
    if (interval) {
      const [x1, x2] = interval.map(place);
      svg.append(draw('line', { x1, x2, y1: middle, y2: middle, class: 'interval' }));
    }
    for (const run of runs) {
      svg.append(draw('circle', { cx: place(run), cy: middle, r: 4, class: 'run' }, shown(run, name)));
    }
    if (mean !== null) {
      const x = place(mean);
      svg.append(draw('line', { x1: x, x2: x, y1: above + 3, y2: above + HEIGHT - 3, class: 'mean' }));
    }
  });
  return svg;
}
