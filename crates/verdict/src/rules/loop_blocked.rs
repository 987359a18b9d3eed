//! An event loop that is blocked: something runs in it for long and keeps everybody else waiting, though it is idle in
//! between. A loop that is full all the time is late as well, and has a rule of its own.

use super::{Ruling, evidence, percent, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// How late it is: most of the time, or once in every second.
const LAGS: [(&str, &str); 2] = [("runtime.loop_lag", "p99 of"), ("runtime.loop_lag.max", "at its latest")];
/// Later than this its users feel (ms).
const LATE_MS: f64 = 100.0;
/// Above this the loop is full, not blocked.
const FULL: f64 = 0.85;
/// Stopped by its quota for this share of the periods, any loop is late.
const THROTTLED: f64 = 0.1;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let peaks = LAGS.iter().filter_map(|(metric, _)| case.peak(metric));
    let Some(peak) = peaks.reduce(f64::max) else { return unmeasured("the delay of the event loop") };
    let mut saturated = LAGS.iter().filter_map(|lag| Some((lag, case.saturated(lag.0, LATE_MS)?)));
    let Some(((metric, what), late)) = saturated.next() else {
        return Ruling::RuledOut(format!(
            "the event loop was not late by {LATE_MS:.0} ms for long, and by {peak:.0} ms at most"
        ));
    };
    let main = case.level("target.cpu.main_thread");
    let is_starved = !case.is_idle()
        || main.is_some_and(|main| main >= FULL)
        || case.level("target.throttled").unwrap_or(0.0) >= THROTTLED;
    let before = late.before.map(|before| format!(" ({before:.0} before)")).unwrap_or_default();
    let mut found =
        vec![evidence(metric, format!("{what} {:.0} ms{before}, from {} s on", late.level, late.onset_s))];
    if let Some(main) = main {
        let text = format!("its thread used {} of a core", percent(main));
        found.push(evidence("target.cpu.main_thread", text));
    }
    Ruling::Fires(Finding {
        id: "loop_blocked",
        title: "The target's event loop was blocked: what runs in it for long keeps everybody waiting."
            .to_owned(),
        confidence: if is_starved { Confidence::Possible } else { Confidence::Likely },
        onset_s: late.onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "find what blocks it: node --cpu-prof under this load, or clinic flame; look for *Sync calls, password \
                 hashes, JSON and regular expressions over large texts",
                [3, 2, 3, 3, 3, 3, 3],
            ),
            remedy(
                "move it out of the loop: the asynchronous form (bcrypt.hash, not hashSync), a worker thread \
                 (piscina), a job queue",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy("cut long work into pieces with setImmediate between them", [2, 2, 3, 3, 2, 2, 2]),
        ],
    })
}
