// The lines a run is told in: live as server-sent events, offline inside the file. The binary writes the same schema
// (crates/measure/src/frame.rs), and test/vectors.json holds both sides to one arithmetic of buckets.

import type { Summary } from './summary';

/** `unfinished`: of a file that was written while its run was under way. */
export type State = 'running' | 'complete' | 'interrupted' | 'cut_off' | 'unfinished';

/** Whether the run went on when it was last seen: more may come, here or in another file. */
export function goesOn(state: State): boolean {
  return state === 'running' || state === 'unfinished';
}

/** One line: exactly one of the members is there. */
export interface Line {
  head?: Head;
  frame?: Frame;
  event?: RunEvent;
  summary?: Summary;
  diagnosis?: Diagnosis;
  /** The last line; a file of a run under way ends with `running`. */
  end?: { state: Exclude<State, 'unfinished'> };
}

/** The first line: what is known before the first second. */
export interface Head {
  schema: number;
  id: string;
  name: string;
  /** RFC 3339. */
  started: string;
  /** Of a watch, which has no load, `watch`. */
  language: 'artillery' | 'k6' | 'watch';
  /** Version of the binary that ran it. */
  sonagi: string;
  /** Trends have 2^scale buckets per doubling. */
  scale: number;
  /** Length of the plan in seconds, where it is known. */
  planned_s?: number;
  reproduce: Reproduce;
}

/** What the run's folder knows of how it was started, secrets masked. */
export interface Reproduce {
  command?: string[];
  seed?: number | string;
  script?: string;
  target?: string;
  machine?: Record<string, unknown>;
  environment?: Record<string, unknown>;
  plan?: unknown;
}

export type Kind = 'counter' | 'gauge' | 'rate' | 'trend';

/** A series: a metric with its tags. */
export interface Name {
  metric: string;
  kind: Kind;
  unit: string;
  tags?: Record<string, string>;
  /** One sentence that explains the metric; the run's own metrics have it, a script's do not. */
  about?: { en: string; ko: string };
}

/** One second, or several merged ones. */
export interface Frame {
  /** The first second it covers, from 0. */
  s: number;
  /** Its end, in seconds from the run's start. */
  at: number;
  /** Its length in seconds. */
  span: number;
  /** Series that this frame has for the first time, by number. */
  names?: [number, Name][];
  /** The series that changed, by number. */
  v: [number, Value][];
}

/** Trend of a frame; `b` is step, count, step, count, …: a key is the one before it (at first 0) and its step. */
export interface TrendValue {
  n: number;
  sum: number;
  min: number;
  max: number;
  b: number[];
}

/** Last, lowest and highest value of a frame. */
export type GaugeValue = [value: number, min: number, max: number];

/** Passes and total of a frame. */
export type RateValue = [passes: number, total: number];

/** Of a counter: how much was added in the frame. */
export type Value = number | GaugeValue | RateValue | TrendValue;

/** Something that happened, at a number of seconds from the run's start. */
export interface RunEvent {
  at: number;
  kind: string;
  [more: string]: unknown;
}

/**
 * What broke first, as `sonagi explain --json` has it, and in Korean where it is known; told when the run is over.
 */
export interface Diagnosis {
  story: { symptoms: Symptom[]; length: number };
  /** Whether anything of the target was watched. */
  is_watched: boolean;
  /** Causes, the most likely one first. */
  findings: Finding[];
  ruled_out: RuledOut[];
  /** What the run's own figures do not agree on. */
  doubts?: Evidence[];
  /** Gauges that changed most when the trouble began, for when no cause was found. */
  changed: Evidence[];
}

/** Something users noticed. */
export interface Symptom {
  kind: string;
  onset_s: number;
  text: string;
  ko?: string;
}

export interface Finding {
  id: string;
  title: string;
  ko?: string;
  confidence: 'certain' | 'likely' | 'possible';
  onset_s: number;
  evidence: Evidence[];
  /** The best first. */
  remedies: Remedy[];
}

export interface Evidence {
  series: string;
  text: string;
  ko?: string;
}

export interface Remedy {
  text: string;
  ko?: string;
  /** Grades from 1 to 3. */
  criteria: Record<string, number>;
}

export interface RuledOut {
  id: string;
  why: string;
  ko?: string;
  is_unmeasured: boolean;
}

/** A run as the library lists it. */
export interface RunRow {
  id: string;
  name: string;
  started: string;
  language: string;
  state: State | 'unreadable';
  verdict?: string;
  reasons?: string[];
  duration_s?: number;
  users?: number;
  rate_per_s?: number;
  delivery_ratio?: number | null;
  p99_ms?: number;
  generator?: { lag_p99_ms?: number };
}

/** A value of a matrix's axis, by its sound runs: `Tried` of crates/verdict/src/compare/choice.rs. */
export interface Tried {
  value: string | number | boolean;
  /** The primary figure of each run. */
  runs: number[];
  mean: number | null;
  interval: [low: number, high: number] | null;
  /** Why it is not judged; the choice's remarks say it in words. */
  unjudged: unknown;
  /** Null of the best itself, and of a value that is not judged. */
  against_best: { effect: { scale: 'ratio' | 'difference'; estimate: number }; judgement: string } | null;
}

/** Which value of an axis is best. */
export interface Choice {
  axis: string;
  /** The values of the other axes. */
  within: Record<string, string | number | boolean>;
  figure: { name: string } | null;
  tried: Tried[];
  /** Places in `tried`. */
  best: number | null;
  take: number | null;
  edge: 'largest' | 'smallest' | null;
  /** The best and the others in a sentence, or why there is none. */
  headline: string;
  /** What to make of it. */
  remarks: Remark[];
}

export interface Remark {
  label: string;
  sentence: string;
}

/** The runs of a matrix side by side: `Matrix::page` of crates/report/src/matrix/paged.rs. */
export interface Matrix {
  name: string;
  /** RFC 3339. */
  started: string;
  sonagi: string;
  /** Word by word, secrets masked; empty of an older version. */
  command: string[];
  machine: string;
  verdict: { held: boolean; asks_for_users: boolean; headline: string; others: string[] };
  remarks: Remark[];
  choices: Choice[];
  table: { axes: string[]; columns: string[]; legend: string; rows: Combination[] };
  links: Links | null;
}

/** A figure of two sides: what `page` of crates/report/src/comparison/paged.rs says of it. */
export interface ComparedFigure {
  name: string;
  /** Its value in each run of each side. */
  runs: [number[], number[]];
  means: [number, number];
  /** The means with their unit. */
  shown: [string, string];
  /** B against A. */
  change: string;
  interval: string;
  judgement: string;
}

/** Two sides of runs compared; the first of the rows decides. */
export interface Sides {
  mood: 'good' | 'bad' | 'doubtful';
  verdict: string;
  word: string;
  headline: string;
  sides: [side: Side, side: Side];
  remarks: Remark[];
  rows: ComparedFigure[];
  /** When they were compared, RFC 3339. */
  started: string;
  sonagi: string;
}

export interface Side {
  label: string;
  /** How many of its runs were compared. */
  runs: number;
}

/** Where the pages of the runs are. */
export interface Links {
  before: string;
  within: string;
  behind: string;
}

/** A search for a capacity: `Capacity::page` of crates/report/src/capacity/paged.rs. */
export interface Capacity {
  name: string;
  /** RFC 3339. */
  started: string;
  sonagi: string;
  /** Word by word, secrets masked; empty of an older version. */
  command: string[];
  varied: string;
  until: string;
  is_over: boolean;
  mood: 'good' | 'bad' | 'doubtful' | 'running';
  verdict: string;
  beside: string[];
  /** What is known while the search goes on. */
  known: string;
  lower: { load: number; name: string } | null;
  upper: { load: number; name: string } | null;
  columns: string[];
  rows: { load: string; cells: string[]; verdict: string }[];
  trials: CapacityTrial[];
  recovered: string[];
  budget: string;
  links: Links | null;
}

export interface CapacityTrial {
  load: number;
  name: string;
  length: string;
  outcome: 'held' | 'missed' | 'unreliable' | 'stolen';
  p50_ms: number | null;
  p99_ms: number | null;
  delivered: number | null;
  evidence: string;
  folder: string | null;
}

/** A row of the table. */
export interface Combination {
  held: boolean;
  values: string[];
  cells: string[];
  runs: { round: number | null; held: boolean; word: string | null; folder: string | null }[];
}

/** What the server tells the page about itself. */
export type Boot = { library?: boolean } & (
  | { mode: 'run'; id: string; stoppable?: boolean }
  | { mode: 'library' }
  | { mode: 'compare'; a: string; b: string }
  | ({ mode: 'matrix' } & Matrix)
  | ({ mode: 'capacity' } & Capacity)
  | ({ mode: 'sides' } & Sides)
);
