//! Whether the generator itself kept up. A run whose generator fell behind is INVALID, never "slow".
//!
//! The limits are the constants below, documented in `docs/metrics.md`. What is judged is the share of a core, not the
//! whole machine: a shard is one thread, so it is late as soon as its own core is full.

use crate::histogram::Histogram;
use crate::recorder::Gauges;
use crate::summary::{Generator, Health};
use crate::totals::{ProcessGauges, Snapshot};
use crate::verdict::{counted, grouped};

/// Send lag p99 above this is a warning, whatever the objective (ms).
pub const LAG_WARN_MS: f64 = 1.0;
/// Send lag p99 above this share of the objective is a warning.
pub const LAG_WARN_SHARE: f64 = 0.01;
/// Send lag p99 above this share of the objective invalidates the run.
pub const LAG_INVALID_SHARE: f64 = 0.10;
/// Starting less than this share of the planned arrivals invalidates the run.
pub const ACHIEVED_MIN: f64 = 0.99;
/// With fewer planned arrivals than this, any missed one invalidates the run.
pub const ACHIEVED_MIN_ARRIVALS: u64 = 100;
/// A shard's core is full above this share …
pub const BUSY_SHARE: f64 = 0.90;
/// … and the run invalid when it was full for this many seconds on end.
pub const BUSY_SECONDS: f64 = 5.0;
/// Using more than this share of the allowed file descriptors is a warning.
pub const FILES_WARN_SHARE: f64 = 0.90;
/// Using more than this share of the local ports is a warning.
pub const PORTS_WARN_SHARE: f64 = 0.90;

/// Intervals shorter than this say nothing of a core's load (ns).
const SHORTEST_NS: i64 = 500_000_000;

/// What the judgement needs, gathered second by second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    lag: Histogram,
    hiccups: Histogram,
    worst_lag: Option<(f64, u64)>,
    cpu_ns: u64,
    busiest: f64,
    /// By shard: how long its core has been full by now (ns).
    busy_ns: Vec<i64>,
    longest_busy: Option<(i64, usize, u64)>,
    resident_peak: u64,
    files_peak: u64,
    files_limit: u64,
    ports_peak: u64,
    ports_available: u64,
}

impl Watch {
    pub(crate) fn absorb(&mut self, snapshot: &Snapshot) {
        worse(&mut self.worst_lag, &snapshot.lag, snapshot.second);
        self.lag.merge(&snapshot.lag);
        self.hiccups.merge(&snapshot.hiccups);
        self.absorb_cores(&snapshot.shards, snapshot.interval_ns, snapshot.second);
        let ProcessGauges { resident_bytes, open_files, open_files_limit, ports_used, ports_available } =
            snapshot.process;
        self.resident_peak = self.resident_peak.max(resident_bytes);
        self.files_peak = self.files_peak.max(open_files);
        self.files_limit = self.files_limit.max(open_files_limit);
        self.ports_peak = self.ports_peak.max(ports_used);
        self.ports_available = self.ports_available.max(ports_available);
    }

    fn absorb_cores(&mut self, shards: &[Gauges], interval_ns: i64, second: u64) {
        self.cpu_ns += shards.iter().map(|shard| shard.cpu_ns).sum::<u64>();
        if interval_ns < SHORTEST_NS {
            return;
        }
        self.busy_ns.resize(self.busy_ns.len().max(shards.len()), 0);
        for (index, (shard, busy)) in shards.iter().zip(&mut self.busy_ns).enumerate() {
            let share = shard.cpu_ns as f64 / interval_ns as f64;
            self.busiest = self.busiest.max(share);
            *busy = if share > BUSY_SHARE { *busy + interval_ns } else { 0 };
            if self.longest_busy.is_none_or(|(longest, ..)| *busy > longest) {
                self.longest_busy = Some((*busy, index, second));
            }
        }
    }

    /// The judgement. `objective_ms` is the smallest latency threshold of the script.
    pub(crate) fn judge(
        &self,
        arrivals: Arrivals,
        exhausted: u64,
        objective_ms: Option<f64>,
        shards: usize,
    ) -> Generator {
        let mut judgement = Judgement { state: Health::Ok, findings: Vec::new() };
        self.judge_arrivals(arrivals, exhausted, &mut judgement);
        self.judge_lag(objective_ms, &mut judgement);
        self.judge_cores(&mut judgement);
        self.judge_limits(&mut judgement);
        Generator {
            state: judgement.state,
            findings: judgement.findings,
            send_lag_ms: self.lag.quantiles(),
            hiccup_ms: self.hiccups.quantiles(),
            achieved_ratio: arrivals.achieved(),
            busiest_core: rounded(self.busiest, 1e4),
            cpu_s: rounded(self.cpu_ns as f64 / 1e9, 1e3),
            resident_peak_mb: rounded(self.resident_peak as f64 / 1e6, 10.0),
            open_files_peak: self.files_peak,
            open_files_limit: self.files_limit,
            shards,
        }
    }

    fn judge_arrivals(&self, arrivals: Arrivals, exhausted: u64, judgement: &mut Judgement) {
        let Arrivals { expected, started, missed } = arrivals;
        let few = expected < ACHIEVED_MIN_ARRIVALS;
        if (few && missed > 0) || (!few && arrivals.achieved() < ACHIEVED_MIN) {
            let rule =
                if few { "with fewer than 100, none may be missed" } else { "at least 99 % must start" };
            let (started, expected) = (grouped(started), grouped(expected));
            judgement.note(
                Health::Invalid,
                format!("{started} of {expected} planned arrivals were started ({rule})"),
            );
        }
        if exhausted > 0 {
            let times = counted(exhausted, "time");
            judgement.note(
                Health::Invalid,
                format!("the generator ran out of local ports or file descriptors {times} (none is allowed)"),
            );
        }
    }

    fn judge_lag(&self, objective_ms: Option<f64>, judgement: &mut Judgement) {
        let p99 = self.lag.quantile_ms(0.99);
        let worst = self.worst_lag.map_or(0, |(_, second)| second);
        let saw = format!("the generator was {p99:.2} ms late at p99, worst in second {worst}");
        match objective_ms {
            Some(ms) if p99 > ms * LAG_INVALID_SHARE => {
                judgement.note(Health::Invalid, format!("{saw} (limit: 10 % of the {ms} ms objective)"));
            }
            Some(ms) if p99 > ms * LAG_WARN_SHARE => {
                judgement.note(Health::Warn, format!("{saw} (warning above 1 % of the {ms} ms objective)"));
            }
            _ if p99 > LAG_WARN_MS => judgement.note(Health::Warn, format!("{saw} (warning above 1 ms)")),
            _ => {}
        }
    }

    fn judge_limits(&self, judgement: &mut Judgement) {
        let near = |peak: u64, limit: u64, share: f64| limit > 0 && peak as f64 / limit as f64 > share;
        if near(self.files_peak, self.files_limit, FILES_WARN_SHARE) {
            let (peak, limit) = (grouped(self.files_peak), grouped(self.files_limit));
            judgement
                .note(Health::Warn, format!("{peak} of {limit} file descriptors were in use (limit: 90 %)"));
        }
        if near(self.ports_peak, self.ports_available, PORTS_WARN_SHARE) {
            let (peak, available) = (grouped(self.ports_peak), grouped(self.ports_available));
            judgement.note(
                Health::Warn,
                format!(
                    "{peak} of {available} local ports were in use (limit: 90 %; more source addresses help)"
                ),
            );
        }
    }

    fn judge_cores(&self, judgement: &mut Judgement) {
        let Some((busy_ns, shard, second)) = self.longest_busy else { return };
        let seconds = busy_ns as f64 / 1e9;
        if seconds >= BUSY_SECONDS - 0.05 {
            judgement.note(
                Health::Invalid,
                format!(
                    "shard {shard} used more than 90 % of its core for {seconds:.0} s on end, until second {second} \
                     (limit: 5 s)"
                ),
            );
        }
    }
}

/// Arrivals as the judgement counts them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    /// Planned, less those refused by `maxVusers`.
    pub(crate) expected: u64,
    pub(crate) started: u64,
    pub(crate) missed: u64,
}

impl Arrivals {
    fn achieved(self) -> f64 {
        if self.expected == 0 { 1.0 } else { rounded(self.started as f64 / self.expected as f64, 1e6) }
    }
}

struct Judgement {
    state: Health,
    findings: Vec<String>,
}

impl Judgement {
    fn note(&mut self, state: Health, finding: String) {
        self.state = self.state.max(state);
        self.findings.push(finding);
    }
}

fn worse(worst: &mut Option<(f64, u64)>, histogram: &Histogram, second: u64) {
    let p99 = histogram.quantile_ms(0.99);
    if !histogram.is_empty() && worst.is_none_or(|(known, _)| p99 > known) {
        *worst = Some((p99, second));
    }
}

pub(crate) fn rounded(value: f64, scale: f64) -> f64 {
    (value * scale).round() / scale
}
