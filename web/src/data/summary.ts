// The part of docs/summary.schema.json that the page shows. Everything may be missing: a summary of the run so far, of
// an older folder or of a newer version is still shown as far as it goes.

export interface Summary {
  name?: string;
  target?: string;
  started?: string;
  complete?: boolean;
  interrupted?: boolean;
  duration_s?: number;
  verdict?: { result: string; reasons: string[]; hints: string[] };
  users?: {
    planned: number;
    started: number;
    missed: number;
    skipped: number;
    completed: number;
    failed: number;
    stopped: number;
    active: number;
    peak: number;
    /** Of a run with a fixed number of users, how many; what it starts are their iterations. */
    wanted?: number | null;
    /** Whether iterations are counted here. Older runs do not say. */
    iterations?: boolean;
    session_ms?: Quantiles;
  };
  delivery?: Delivery | null;
  http_codes?: Record<string, number>;
  operations?: { name: string; kind: string; count: number; failed: number; rate_per_s: number }[];
  errors?: ErrorRow[];
  thresholds?: Threshold[];
  generator?: Generator;
  scenarios?: Record<string, number>;
  expectations?: {
    ok: number;
    failed: number;
    kinds: Record<string, { ok: number; failed: number; example?: string }>;
  };
  metrics_left_out?: number;
  run_folder?: string | null;
  combination?: Record<string, unknown>;
}

export interface Quantiles {
  count: number;
  min: number;
  mean: number;
  p50: number;
  p99: number;
  max: number;
}

export interface Delivery extends DeliveryCounts {
  lost_own?: number;
  lost_tail?: number;
  lost_gap?: number;
  never_accepted?: number;
  outstanding?: number;
  unknown?: number;
  settling?: number;
  ratio: number;
  deadline_ms: number;
  rooms?: Room[];
}

/** The fates of copies, as a ledger counts them. */
export interface DeliveryCounts {
  messages: number;
  owed: number;
  delivered: number;
  late: number;
  replayed: number;
  lost: number;
  duplicate: number;
  reordered: number;
  leaked: number;
}

export interface Room extends DeliveryCounts {
  room: string;
  p99_ms?: number;
}

export interface ErrorRow {
  code: string;
  called: string;
  operation: string | null;
  count: number;
  first_at_s: number | null;
  example: string;
}

export interface Threshold {
  expression: string;
  strict: boolean;
  held: boolean;
  evidence: string;
  metrics: string[];
}

export interface Generator {
  state: string;
  findings: string[];
  cause?: string | null;
  send_lag_ms?: Quantiles;
  hiccup_ms?: Quantiles;
  achieved_ratio?: number;
  busiest_core?: number;
  cpu_s?: number;
  cpu_wait_s?: number;
  resident_peak_mb?: number;
  open_files_peak?: number;
  open_files_limit?: number;
  shards?: number;
}
