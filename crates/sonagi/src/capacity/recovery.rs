//! How long the target takes after a trial that failed: tiny runs at the lowest load, until they are as the first was.
//!
//! Without it, the next trial would measure the queue that the last one left.

use super::trials::{TrialRun, Trials};
use crate::error::Error;
use sonagi_report::capacity::Recovery;
use sonagi_verdict::capacity::Outcome;
use std::time::{Duration, Instant};

/// How long is waited at most.
const PATIENCE: Duration = Duration::from_secs(60);
/// The length of a probe, unless the script says itself how long a trial is.
const PROBE_S: f64 = 2.0;
/// Between the beginnings of two probes, whose length does not count: one a second is asked of the target.
const BETWEEN: Duration = Duration::from_secs(1);
/// A median is as before when it is not this share above it…
const SHARE: f64 = 0.1;
/// …or not these milliseconds: below, the machine's own noise is larger.
const FLOOR_MS: f64 = 5.0;

/// Why no other trial can follow, or that one can.
pub(super) enum After {
    /// It is itself again, or slower but holds.
    Goes(Recovery),
    /// Not even the lowest load holds any more.
    Dead(Recovery),
    /// The service ended, in these words.
    Ended(String),
    /// The time for the whole search is used up.
    OutOfTime,
    /// Somebody asked to stop.
    Stopped,
}

/// Waits until the target is itself again after a trial at a load: until the median of a probe at the lowest load is
/// near `median_ms`, that of the first trial that held there. `left` is what is left of the time for the whole search.
pub(super) fn recovery(
    trials: &mut dyn Trials,
    lowest: u64,
    median_ms: Option<f64>,
    after: u64,
    left: Duration,
) -> Result<After, Error> {
    within(PATIENCE, BETWEEN, trials, lowest, (median_ms, after, left))
}

/// [`recovery`] with this patience, and this time between the beginnings of two probes.
pub(super) fn within(
    patience: Duration,
    between: Duration,
    trials: &mut dyn Trials,
    lowest: u64,
    (median_ms, after, left): (Option<f64>, u64, Duration),
) -> Result<After, Error> {
    let began = Instant::now();
    let probe_s = trials.length().of(PROBE_S);
    let patience_s = patience.as_secs_f64();
    // Before a probe that tells, nothing says that it is dead.
    let mut holds = true;
    while began.elapsed() < patience {
        if began.elapsed() + Duration::from_secs_f64(probe_s) > left {
            return Ok(After::OutOfTime);
        }
        let (probe, since) = (Instant::now(), began.elapsed());
        let Some(run) = trials.run(lowest, probe_s, None)? else { return Ok(After::Stopped) };
        if let Some(how) = run.service_end() {
            return Ok(After::Ended(how.to_owned()));
        }
        // A generator that fell behind tells nothing of the target.
        if run.outcome() != Outcome::Unreliable {
            holds = run.outcome() == Outcome::Held;
        }
        if holds && is_as_before(&run, median_ms) {
            let (seconds, probe_s) = (Some(since.as_secs_f64()), run.summary.duration_s);
            return Ok(After::Goes(Recovery { after, seconds, patience_s, probe_s }));
        }
        std::thread::sleep(between.saturating_sub(probe.elapsed()));
    }
    let recovery = Recovery { after, seconds: None, patience_s, probe_s: 0.0 };
    Ok(if holds { After::Goes(recovery) } else { After::Dead(recovery) })
}

fn is_as_before(run: &TrialRun, median_ms: Option<f64>) -> bool {
    let (Some(before), Some(now)) = (median_ms, run.latency()) else { return true };
    now.p50 <= (before * (1.0 + SHARE)).max(before + FLOOR_MS)
}
