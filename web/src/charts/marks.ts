// Vertical marks of phases and events, with the numbers that the list of events has.

import uPlot from 'uplot';
import { colour } from '../shell/theme';

export interface Mark {
  /** Seconds from the run's start. */
  at: number;
  label: string;
}

/** Draws marks, and the beginning of a selection by keyboard. */
export function paintMarks(u: uPlot, marks: readonly Mark[], selection: number | null): void {
  const { ctx, bbox } = u;
  const ratio = uPlot.pxRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colour('mark');
  ctx.fillStyle = colour('quiet');
  ctx.lineWidth = ratio;
  ctx.font = `${10 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  const line = (at: number, dash: number[]) => {
    const x = Math.round(u.valToPos(at, 'x', true)) + 0.5;
    ctx.setLineDash(dash.map(length => length * ratio));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    return x;
  };
  let free = Number.NEGATIVE_INFINITY;
  for (const { at, label } of marks) {
    const x = line(at, [3, 3]);
    if (x < free) continue;
    ctx.fillText(label, x + 3 * ratio, bbox.top + ratio);
    free = x + (label.length * 6 + 6) * ratio;
  }
  if (selection !== null) {
    ctx.strokeStyle = colour('text');
    line(selection, []);
  }
  ctx.restore();
}
