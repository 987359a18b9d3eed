//! Whether the generator itself kept up. A run whose generator fell behind is INVALID, never "slow".
//!
//! The limits are the constants below, documented in `docs/metrics.md`. What is judged is the share of a core, not the
//! whole machine: a shard is one thread, so it is late as soon as its own core is full.

use crate::figures::{count, counted, figure};
use crate::outcome::Failure;
use crate::recorder::Counter;
use crate::snapshot::{ProcessGauges, Snapshot};
use crate::summary::{Cause, Generator, Health};

/// Send lag p99 above this is a warning where no objective sets the limit (ms). Measured (`docs/metrics.md`): none of
/// 80 runs on a quiet machine or beside as many computing programs as cores came to it, 2 of 40 beside eight times as
/// many did, and all of 24 beside compilers.
pub const LAG_WARN_MS: f64 = 10.0;
/// Send lag p99 above this share of the objective is a warning.
pub const LAG_WARN_SHARE: f64 = 0.05;
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
/// A late generator was starved when its threads waited for a core at least this share of the time they wanted one …
pub const STARVED_SHARE: f64 = 0.25;
/// … or were later than they computed in the whole second, by at least so much (ms): they were not let run.
pub const STARVED_MS: f64 = 10.0;
/// A late generator is overloaded, not starved, if its own threads used this share of all cores.
pub const OWN_SHARE: f64 = 0.80;
/// And when neither, it was overloaded if one of its threads used this share of a core in its latest second.
pub const LOADED_SHARE: f64 = 0.50;

/// Intervals shorter than this say nothing of a core's load (ns).
const SHORTEST_NS: i64 = 500_000_000;

/// The inputs of the judgement, gathered second by second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    worst: Option<Second>,
    cpu_ns: u64,
    wait_ns: u64,
    /// The machine's pressure (µs) and the run's time (ns) at the first second and since then.
    pressure: Option<(u64, u64, i64)>,
    busiest: f64,
    /// Of the shards' threads.
    shards: FullCores,
    /// Of the processes that run the script's functions, one for each shard.
    functions: FullCores,
    /// The highest of each level of the process.
    peak: ProcessGauges,
}

impl Snapshot {
    /// The highest share of one core that a shard used; None: the interval is too short to tell, or no shard reported.
    pub fn busiest_core(&self) -> Option<f64> {
        let busiest_ns = self.shards.iter().map(|shard| shard.cpu_ns).max()?;
        // A thread has one core. A run's last interval can have more: what was left to tell.
        (self.interval_ns >= SHORTEST_NS).then(|| (busiest_ns as f64 / self.interval_ns as f64).min(1.0))
    }
}

impl Watch {
    pub(crate) fn absorb(&mut self, snapshot: &Snapshot) {
        self.absorb_lag(snapshot);
        self.busiest = self.busiest.max(snapshot.busiest_core().unwrap_or(0.0));
        self.absorb_cores(snapshot);
        self.absorb_pressure(snapshot.process.cpu_pressure_us, snapshot.interval_ns);
        self.peak = self.peak.highest(snapshot.process);
    }

    /// Keeps the second in which the generator was latest.
    fn absorb_lag(&mut self, snapshot: &Snapshot) {
        let p99_ms = snapshot.lag.quantile_ms(0.99);
        if snapshot.lag.is_empty() || self.worst.as_ref().is_some_and(|worst| p99_ms <= worst.p99_ms) {
            return;
        }
        self.worst = Some(Second {
            number: snapshot.second,
            p99_ms,
            interval_ns: snapshot.interval_ns,
            cpu_ns: snapshot.level(|shard| shard.cpu_ns),
            wait_ns: snapshot.level(|shard| shard.wait_ns),
            busiest_ns: snapshot.shards.iter().map(|shard| shard.cpu_ns).max().unwrap_or(0),
        });
    }

    /// The pressure is counted since the machine booted: what the run had of it begins with its first second's end.
    fn absorb_pressure(&mut self, now_us: u64, interval_ns: i64) {
        if now_us == 0 {
            return;
        }
        self.pressure = Some(match self.pressure {
            None => (now_us, now_us, 0),
            Some((first, _, ns)) => (first, now_us, ns + interval_ns),
        });
    }

    fn absorb_cores(&mut self, snapshot: &Snapshot) {
        self.cpu_ns += snapshot.level(|shard| shard.cpu_ns);
        self.wait_ns += snapshot.level(|shard| shard.wait_ns);
        let Snapshot { interval_ns, second, ref shards, .. } = *snapshot;
        if interval_ns < SHORTEST_NS {
            return;
        }
        let share = |ns: u64| ns as f64 / interval_ns as f64;
        self.shards.absorb(shards.iter().map(|shard| share(shard.cpu_ns)), interval_ns, second);
        self.functions.absorb(shards.iter().map(|shard| share(shard.functions_ns)), interval_ns, second);
    }

    /// The judgement. `objective_ms` is the smallest latency threshold of the script; `cores` is 0 where nobody knows.
    pub(crate) fn judge(
        &self,
        run: &Snapshot,
        objective_ms: Option<f64>,
        (shards, cores): (usize, usize),
    ) -> Generator {
        let arrivals = Arrivals::of(run);
        let exhausted = run.failures.iter().filter(|failed| failed.failure == Failure::GeneratorExhausted);
        let exhausted = exhausted.map(|failed| failed.count).sum();
        let mut judgement = Judgement { state: Health::Ok, findings: Vec::new(), lateness: Lateness::None };
        self.judge_arrivals(arrivals, exhausted, &mut judgement);
        self.judge_lag(run.lag.quantile_ms(0.99), objective_ms, &mut judgement);
        self.judge_cores(&mut judgement);
        let cause = self.cause(&judgement, exhausted, cores);
        if cause == Some(Cause::Starved) {
            judgement.findings.push(self.starvation());
        }
        self.judge_limits(&mut judgement);
        Generator {
            state: judgement.state,
            findings: judgement.findings,
            cause,
            send_lag_ms: run.lag.quantiles(),
            hiccup_ms: run.hiccups.quantiles(),
            achieved_ratio: arrivals.achieved(),
            busiest_core: rounded(self.busiest, 1e4),
            cpu_s: rounded(self.cpu_ns as f64 / 1e9, 1e3),
            cpu_wait_s: rounded(self.wait_ns as f64 / 1e9, 1e3),
            cpu_pressure: self.cpu_pressure(),
            resident_peak_mb: rounded(self.peak.resident_bytes as f64 / 1e6, 10.0),
            open_files_peak: self.peak.open_files,
            open_files_limit: self.peak.open_files_limit,
            shards,
        }
    }

    fn judge_arrivals(&self, arrivals: Arrivals, exhausted: u64, judgement: &mut Judgement) {
        let Arrivals { expected, started, missed } = arrivals;
        let few = expected < ACHIEVED_MIN_ARRIVALS;
        if (few && missed > 0) || (!few && arrivals.achieved() < ACHIEVED_MIN) {
            let rule =
                if few { "with fewer than 100, none may be missed" } else { "at least 99 % must start" };
            let (started, expected) = (count(started), count(expected));
            let finding = format!("{started} of {expected} planned arrivals were started ({rule})");
            judgement.lateness = Lateness::MissedOnly;
            judgement.note(Health::Invalid, finding);
        }
        if exhausted > 0 {
            let times = counted(exhausted, "time");
            let finding =
                format!("the generator ran out of local ports or file descriptors {times} (none is allowed)");
            judgement.note(Health::Invalid, finding);
        }
    }

    fn judge_lag(&self, p99: f64, objective_ms: Option<f64>, judgement: &mut Judgement) {
        let worst = self.worst.as_ref().map_or(0, |worst| worst.number);
        let saw = format!("scheduling delay p99 {} ms, worst in second {worst}", figure(p99));
        match objective_ms {
            Some(ms) if p99 > ms * LAG_INVALID_SHARE => {
                judgement.late(Health::Invalid, format!("{saw} (limit: 10 % of the {ms} ms objective)"));
            }
            Some(ms) if p99 > ms * LAG_WARN_SHARE => {
                judgement.late(Health::Warn, format!("{saw} (warning above 5 % of the {ms} ms objective)"));
            }
            None if p99 > LAG_WARN_MS => judgement.late(Health::Warn, format!("{saw} (warning above 10 ms)")),
            Some(_) | None => {}
        }
    }

    /// The cause of its lateness, if it was late: the cause decides on the remedy.
    fn cause(&self, judgement: &Judgement, exhausted: u64, cores: usize) -> Option<Cause> {
        if exhausted > 0 {
            return Some(Cause::Exhausted);
        }
        let is_in_time = match judgement.lateness {
            Lateness::None => return None,
            // Arrivals missed by a generator that was in time found no room: users stay longer than they arrive.
            Lateness::MissedOnly => self.worst.as_ref().is_none_or(|worst| worst.p99_ms < LAG_WARN_MS),
            Lateness::Late => false,
        };
        let is_full = self.shards.too_long().or(self.functions.too_long()).is_some();
        let worst = self.worst.as_ref().filter(|_| !is_in_time && !is_full);
        Some(match worst {
            None => Cause::Overloaded,
            Some(worst) if worst.own_share(cores) >= OWN_SHARE || worst.was_full() => Cause::Overloaded,
            Some(worst) if worst.was_starved() => Cause::Starved,
            Some(worst) if worst.busiest_share() >= LOADED_SHARE => Cause::Overloaded,
            Some(_) => Cause::Bursts,
        })
    }

    /// The sign that others used the cores.
    fn starvation(&self) -> String {
        let seconds = |ns: u64| format!("{:.2} s", ns as f64 / 1e9);
        let (waited, computed) = (seconds(self.wait_ns), seconds(self.cpu_ns));
        let mut text = match self.wait_ns {
            0 => format!("starved: its threads were not let run; they computed for {computed}"),
            _ => format!("starved: its threads waited {waited} for a core and computed for {computed}"),
        };
        if let Some(share) = self.cpu_pressure() {
            let share = share * 100.0;
            text += &format!("; on this machine something waited for a core {share:.0} % of the time");
        }
        text
    }

    fn cpu_pressure(&self) -> Option<f64> {
        let (first, now, ns) = self.pressure.filter(|(.., ns)| *ns >= SHORTEST_NS)?;
        Some(rounded((now.saturating_sub(first) as f64 * 1e3 / ns as f64).min(1.0), 1e4))
    }

    fn judge_limits(&self, judgement: &mut Judgement) {
        let ProcessGauges { open_files, open_files_limit, ports_used, ports_available, .. } = self.peak;
        let ports = "local ports were in use (limit: 90 %; more source addresses help)";
        for (peak, limit, share, what) in [
            (open_files, open_files_limit, FILES_WARN_SHARE, "file descriptors were in use (limit: 90 %)"),
            (ports_used, ports_available, PORTS_WARN_SHARE, ports),
        ] {
            if limit > 0 && peak as f64 / limit as f64 > share {
                judgement.note(Health::Warn, format!("{} of {} {what}", count(peak), count(limit)));
            }
        }
    }

    fn judge_cores(&self, judgement: &mut Judgement) {
        let until =
            |full: Full| format!("{:.0} s on end, until second {} (limit: 5 s)", full.seconds(), full.second);
        if let Some(full) = self.shards.too_long() {
            let finding = format!("shard {} used more than 90 % of its core for {}", full.index, until(full));
            judgement.late(Health::Invalid, finding);
        }
        if let Some(full) = self.functions.too_long() {
            let (shard, until) = (full.index, until(full));
            let finding = format!(
                "the script's functions (shard {shard}) wanted more than 90 % of a core for {until}: users waited for \
                 them, not for the target"
            );
            judgement.late(Health::Invalid, finding);
        }
    }
}

/// How long threads had their core full on end, each a thread that can use one.
#[derive(Clone, Debug, Default)]
struct FullCores {
    /// By index: how long by now (ns).
    by_now: Vec<i64>,
    longest: Option<Full>,
}

/// The longest time that a core was full on end.
#[derive(Clone, Copy, Debug)]
struct Full {
    ns: i64,
    /// Whose core it was.
    index: usize,
    /// Its last second.
    second: u64,
}

impl Full {
    fn seconds(self) -> f64 {
        self.ns as f64 / 1e9
    }
}

impl FullCores {
    /// An interval's shares of a core.
    fn absorb(&mut self, shares: impl ExactSizeIterator<Item = f64>, interval_ns: i64, second: u64) {
        self.by_now.resize(self.by_now.len().max(shares.len()), 0);
        for (index, (share, ns)) in shares.zip(&mut self.by_now).enumerate() {
            *ns = if share > BUSY_SHARE { *ns + interval_ns } else { 0 };
            if self.longest.is_none_or(|longest| *ns > longest.ns) {
                self.longest = Some(Full { ns: *ns, index, second });
            }
        }
    }

    /// The longest time, when it was too long.
    fn too_long(&self) -> Option<Full> {
        self.longest.filter(|full| full.seconds() >= BUSY_SECONDS - 0.05)
    }
}

/// Arrivals as the judgement counts them.
#[derive(Clone, Copy, Debug)]
struct Arrivals {
    /// Planned, less those refused because as many users were active as may be.
    expected: u64,
    started: u64,
    missed: u64,
}

impl Arrivals {
    fn of(run: &Snapshot) -> Arrivals {
        let get = |counter| run.counters[counter];
        Arrivals {
            expected: get(Counter::ArrivalsPlanned).saturating_sub(get(Counter::UsersSkipped)),
            started: get(Counter::ArrivalsStarted),
            missed: get(Counter::ArrivalsMissed),
        }
    }

    fn achieved(self) -> f64 {
        if self.expected == 0 { 1.0 } else { rounded(self.started as f64 / self.expected as f64, 1e6) }
    }
}

/// The second in which the generator was latest.
#[derive(Clone, Debug)]
struct Second {
    number: u64,
    p99_ms: f64,
    interval_ns: i64,
    /// The CPU time of all shards (ns).
    cpu_ns: u64,
    wait_ns: u64,
    /// The CPU time of the busiest shard (ns).
    busiest_ns: u64,
}

impl Second {
    /// Its shards' part of all cores.
    fn own_share(&self, cores: usize) -> f64 {
        if cores == 0 { 0.0 } else { self.cpu_ns as f64 / (self.interval_ns.max(1) as f64 * cores as f64) }
    }

    fn busiest_share(&self) -> f64 {
        self.busiest_ns as f64 / self.interval_ns.max(1) as f64
    }

    /// Whether one of its shards computed for so long that it cannot have waited for long: it is late by what it did
    /// not get done, in this second and in those before.
    fn was_full(&self) -> bool {
        self.interval_ns >= SHORTEST_NS && self.busiest_share() >= 1.0 - STARVED_SHARE
    }

    /// Whether its threads were kept from running: they waited for cores, or were later than all their own work
    /// explains (where nothing counts the waits, or it is the whole machine that was held up).
    fn was_starved(&self) -> bool {
        let wanted = (self.cpu_ns + self.wait_ns).max(1) as f64;
        let explains = |ns: u64| ns as f64 / 1e6 >= self.p99_ms;
        let has_waited = self.wait_ns as f64 / wanted >= STARVED_SHARE && explains(self.wait_ns);
        has_waited || (self.p99_ms >= STARVED_MS && !explains(self.busiest_ns))
    }
}

struct Judgement {
    state: Health,
    findings: Vec<String>,
    lateness: Lateness,
}

/// The part of the plan that the generator did not do in time.
enum Lateness {
    None,
    /// It missed arrivals, and began the others in time.
    MissedOnly,
    /// It began operations late.
    Late,
}

impl Judgement {
    fn late(&mut self, state: Health, finding: String) {
        self.lateness = Lateness::Late;
        self.note(state, finding);
    }

    fn note(&mut self, state: Health, finding: String) {
        self.state = self.state.max(state);
        self.findings.push(finding);
    }
}

pub(crate) fn rounded(value: f64, scale: f64) -> f64 {
    (value * scale).round() / scale
}
