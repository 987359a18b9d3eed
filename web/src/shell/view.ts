// What the reader looks at: a window of time and a place of the cursor, shared by every chart and table of a run.

import { type Columns, columnsOf } from '../data/columns';
import type { Run } from '../data/run';

type Listener = () => void;

/** The parts of a metric that a reader chose to look at: its series with this tag. */
export interface Part {
  metric: string;
  tag: [key: string, value: string] | null;
}

export class View {
  /** The part of the run that is shown, in seconds; null: the whole run. */
  window: [number, number] | null = null;
  /** The column under the cursor. */
  cursor: number | null = null;
  /** Where a selection by keyboard began, in seconds. */
  mark: number | null = null;
  /** What the heat map shows; null: the page chooses. */
  part: Part | null = null;
  private cached: Columns | null = null;
  private readonly onWindow: Listener[] = [];
  private readonly onCursor: Listener[] = [];

  constructor(private run: Run) {}

  /** The columns of the window; made anew after the run grew. */
  columns(): Columns {
    this.cached ??= columnsOf(this.run, this.window);
    return this.cached;
  }

  /** The run has grown. */
  grown(): void {
    this.cached = null;
  }

  /** Another run has the moments that are looked at: of two, the longer. */
  follow(run: Run): void {
    this.run = run;
    this.cached = null;
  }

  /** Calls back when the window or the chosen part changes. */
  whenWindowChanges(listener: Listener): void {
    this.onWindow.push(listener);
  }

  whenCursorMoves(listener: Listener): void {
    this.onCursor.push(listener);
  }

  setWindow(window: [number, number] | null): void {
    this.mark = null;
    this.cursor = null;
    this.window = window && this.snapped(window);
    this.cached = null;
    for (const listener of this.onWindow) listener();
    for (const listener of this.onCursor) listener();
  }

  setPart(part: Part): void {
    this.part = part;
    for (const listener of this.onWindow) listener();
  }

  setCursor(cursor: number | null): void {
    if (cursor === this.cursor) return;
    this.cursor = cursor;
    for (const listener of this.onCursor) listener();
  }

  /** Moves the cursor by columns, from the window's edge when there is none yet. */
  moveCursor(by: number): void {
    const last = this.columns().middles.length - 1;
    if (last < 0) return;
    const from = this.cursor ?? (by > 0 ? -1 : last + 1);
    this.setCursor(Math.min(last, Math.max(0, from + by)));
  }

  /** Zooms by a factor around the cursor, or around the middle. */
  zoom(factor: number): void {
    const { from, to, middles } = this.columns();
    const centre = this.cursor === null ? (from + to) / 2 : middles[this.cursor];
    const half = ((to - from) * factor) / 2;
    const left = Math.max(0, centre - half);
    const right = Math.min(this.run.length, centre + half);
    this.setWindow(left <= 0 && right >= this.run.length ? null : [left, right]);
  }

  /** Begins a selection at the cursor or, when one was begun, zooms to it. */
  markOrZoom(): void {
    if (this.cursor === null) return;
    const { starts, ends } = this.columns();
    const [start, end] = [starts[this.cursor], ends[this.cursor]];
    if (this.mark === null) {
      this.mark = start;
      for (const listener of this.onCursor) listener();
      return;
    }
    this.setWindow([Math.min(this.mark, start), Math.max(this.mark, end)]);
  }

  /** A window of whole frames: those that the wanted one touches. */
  private snapped(window: [number, number]): [number, number] | null {
    const [first, end] = this.run.framesWithin(...window);
    if (end <= first) return this.window;
    return [this.run.starts[first], this.run.ends[end - 1]];
  }
}
