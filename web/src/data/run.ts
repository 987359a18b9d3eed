// A run as far as its lines have come. It only grows; who shows it asks again after each line.

import type { Diagnosis, Frame, Head, Line, RunEvent, State } from './contract';
import { Series, Sum } from './series';
import type { Summary } from './summary';

/** Events that are kept; a run that tells more than these tells them in its folder. */
const EVENT_LIMIT = 2_000;

/** Times are told in thousandths of a second: what is nearer to one another is the same moment. */
const SAME_S = 0.0005;

export class Run {
  head: Head | null = null;
  summary: Summary | null = null;
  diagnosis: Diagnosis | null = null;
  state: State = 'running';
  readonly events: RunEvent[] = [];
  /** Where frames begin and end, in seconds from the run's start. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  private readonly byNumber = new Map<number, Series>();
  private readonly byMetric = new Map<string, Series[]>();

  /** Takes the next line. */
  take(line: Line): void {
    if (line.head) this.head = line.head;
    if (line.frame) this.takeFrame(line.frame);
    if (line.event && this.events.length < EVENT_LIMIT) this.events.push(line.event);
    if (line.summary) this.summary = line.summary;
    if (line.diagnosis) this.diagnosis = line.diagnosis;
    if (line.end) this.state = line.end.state;
  }

  /** Forgets every line. */
  forget(): void {
    this.head = null;
    this.summary = null;
    this.diagnosis = null;
    this.state = 'running';
    for (const list of [this.events, this.starts, this.ends]) list.length = 0;
    this.byNumber.clear();
    this.byMetric.clear();
  }

  private takeFrame(frame: Frame): void {
    for (const [number, name] of frame.names ?? []) {
      const series = new Series(name);
      this.byNumber.set(number, series);
      const known = this.byMetric.get(name.metric);
      if (known) known.push(series);
      else this.byMetric.set(name.metric, [series]);
    }
    const index = this.starts.length;
    this.starts.push(frame.at - frame.span);
    this.ends.push(frame.at);
    for (const [number, value] of frame.v) this.byNumber.get(number)?.push(index, value);
  }

  get frames(): number {
    return this.starts.length;
  }

  /** Seconds from the run's start to the end of its last frame. */
  get length(): number {
    return this.ends.at(-1) ?? 0;
  }

  /** Metrics in the order in which they were first seen. */
  get metrics(): string[] {
    return [...this.byMetric.keys()];
  }

  /** The series of a metric. */
  series(metric: string): readonly Series[] {
    return this.byMetric.get(metric) ?? [];
  }

  /** All series of a metric that have these tags, to be added up. */
  sum(metric: string, tags: Readonly<Record<string, string>> = {}): Sum {
    const wanted = Object.entries(tags);
    const series = this.series(metric).filter(one => wanted.every(([key, value]) => one.tags[key] === value));
    return new Sum(series, this.head?.scale ?? 4);
  }

  /** The values that a metric's series have for a tag, in the order of their first appearance. */
  tagValues(metric: string, key: string): string[] {
    const values = this.series(metric).map(series => series.tags[key]);
    return [...new Set(values.filter(value => value !== undefined))];
  }

  /** The keys of a metric's tags. */
  tagKeys(metric: string): string[] {
    return [...new Set(this.series(metric).flatMap(series => Object.keys(series.tags)))];
  }

  /**
   * The frames that a window of time touches: the first, and the one after the last. A frame has its beginning, not its
   * end; and an edge that is a frame's own is found however the two were computed.
   */
  framesWithin(from: number, to: number): [number, number] {
    const first = firstAt(this.frames, frame => this.ends[frame] > from + SAME_S);
    return [
      first,
      Math.max(
        first,
        firstAt(this.frames, frame => this.starts[frame] >= to - SAME_S),
      ),
    ];
  }

  /** The frames whose middles lie in a window made of another run's frames: as many as that one has, or one off. */
  framesCentredIn(from: number, to: number): [number, number] {
    const middle = (frame: number) => (this.starts[frame] + this.ends[frame]) / 2;
    const first = firstAt(this.frames, frame => middle(frame) >= from);
    return [
      first,
      Math.max(
        first,
        firstAt(this.frames, frame => middle(frame) >= to),
      ),
    ];
  }
}

/** The first frame of which something holds that holds of all after it. */
function firstAt(frames: number, holds: (frame: number) => boolean): number {
  let [low, high] = [0, frames];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
