// Latency over time as a heat map: a row an eighth of a doubling, a column a moment, painted as one image. Lines of
// percentiles lie over it; their axis is the logarithm that the rows follow.

import type uPlot from 'uplot';
import { type Buckets, OFFSET } from '../data/buckets';
import type { Columns } from '../data/columns';
import { colour } from '../shell/theme';

/** Rows per doubling. */
export const ROWS_PER_DOUBLING = 8;

export interface HeatMap {
  /** The axis: whole rows from the lowest value to the highest. */
  range: [number, number];
  /** Values a second in the densest cell, and in the sparsest that is not empty. */
  densest: number;
  sparsest: number;
  paint(u: uPlot): void;
}

/** The heat map of trends by column; null when they have no value. */
export function heatMap(columns: Columns, trends: readonly Buckets[], scale: number): HeatMap | null {
  const perRow = 2 ** scale / ROWS_PER_DOUBLING;
  const rowOf = (key: number) => Math.ceil((key - OFFSET) / perRow);
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const trend of trends) {
    for (const [key] of trend.entries()) {
      if (key <= 0) continue;
      low = Math.min(low, rowOf(key));
      high = Math.max(high, rowOf(key));
    }
  }
  if (trends.every(trend => trend.n === 0)) return null;
  // Nothing but zeros: one doubling that ends at 1.
  if (low > high) [low, high] = [-7, 0];
  if (high - low < ROWS_PER_DOUBLING) {
    low -= ROWS_PER_DOUBLING / 2;
    high += ROWS_PER_DOUBLING / 2;
  }
  const rows = high - low + 1;
  const cells = new Float64Array(rows * columns.middles.length);
  let [densest, sparsest] = [0, Number.POSITIVE_INFINITY];
  trends.forEach((trend, column) => {
    const length = Math.max(columns.ends[column] - columns.starts[column], 1e-3);
    for (const [key, count] of trend.entries()) {
      // Zeros (and what is below) are in the lowest row.
      const row = key <= 0 ? 0 : rowOf(key) - low;
      cells[column * rows + row] += count / length;
    }
    for (let row = 0; row < rows; row += 1) {
      const cell = cells[column * rows + row];
      if (cell > densest) densest = cell;
      if (cell > 0 && cell < sparsest) sparsest = cell;
    }
  });
  const range: [number, number] = [2 ** ((low - 1) / ROWS_PER_DOUBLING), 2 ** (high / ROWS_PER_DOUBLING)];
  return { range, densest, sparsest, paint: u => paint(u, columns, cells, rows, densest, sparsest) };
}

/** Where a density is on the ramp, from 0 to 1: by its logarithm, so that single slow values stay visible. */
export function intensity(density: number, densest: number, sparsest: number): number {
  if (densest <= sparsest) return 1;
  return Math.log(density / sparsest) / Math.log(densest / sparsest);
}

/** The colours of the ramp, from few to many. */
export function ramp(): [number, number, number][] {
  return [0, 1, 2, 3, 4].map(i => rgb(colour(`heat${i}`)));
}

function paint(u: uPlot, columns: Columns, cells: Float64Array, rows: number, densest: number, sparsest: number): void {
  const { bbox, ctx } = u;
  const width = Math.max(1, Math.min(2_400, Math.round(bbox.width)));
  const image = new ImageData(width, rows);
  const colours = ramp();
  let column = 0;
  for (let x = 0; x < width; x += 1) {
    const at = columns.from + ((x + 0.5) / width) * (columns.to - columns.from);
    while (column < columns.middles.length - 1 && at >= columns.ends[column]) column += 1;
    if (at < columns.starts[column]) continue;
    for (let row = 0; row < rows; row += 1) {
      const density = cells[column * rows + row];
      if (density === 0) continue;
      const [r, g, b] = mix(colours, intensity(density, densest, sparsest));
      image.data.set([r, g, b, 255], 4 * ((rows - 1 - row) * width + x));
    }
  }
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = rows;
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  ctx.save();
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(canvas, bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.restore();
}

function mix(colours: readonly [number, number, number][], at: number): [number, number, number] {
  const place = Math.min(Math.max(at, 0), 1) * (colours.length - 1);
  const from = Math.min(Math.floor(place), colours.length - 2);
  const part = place - from;
  const [a, b] = [colours[from], colours[from + 1]];
  return [0, 1, 2].map(i => Math.round(a[i] + (b[i] - a[i]) * part)) as [number, number, number];
}

function rgb(hex: string): [number, number, number] {
  const number = Number.parseInt(hex.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}
