//! An event loop that is blocked: something runs in it for long and keeps everybody else waiting, though it is idle in
//! between. A loop that is full all the time is late as well, and has a rule of its own.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::series::{mean, most};

/// Later than this its users feel (ms).
const LATE_MS: f64 = 100.0;
/// Above this the loop is full, not blocked.
const FULL: f64 = 0.85;
/// Stopped by its quota for this share of the periods, any loop is late.
const THROTTLED: f64 = 0.1;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let measures = measures(case);
    let peaks = measures.iter().filter_map(|measure| most(&measure.levels, case.whole()));
    let Some(peak) = peaks.reduce(f64::max) else { return unmeasured("the delay of the event loop") };
    let mut late = measures.iter().filter_map(|it| Some((it, case.saturated_levels(&it.levels, LATE_MS)?)));
    let Some((measure, late)) = late.next() else {
        return Ruling::RuledOut(format!(
            "the event loop was not late by {LATE_MS:.0} ms for long, and by {peak} ms at most",
            peak = whole(peak)
        ));
    };
    let main = case.level("target.cpu.main_thread");
    let is_starved = !case.is_idle()
        || main.is_some_and(|main| main >= FULL)
        || case.level("target.throttled").unwrap_or(0.0) >= THROTTLED;
    let before =
        late.before.map(|before| format!(" ({before} before)", before = whole(before))).unwrap_or_default();
    let mut found = vec![evidence(
        measure.metric,
        format!("{} {} ms{before}, from {} s on", measure.what, whole(late.level), late.onset_s),
    )];
    if let Some(main) = main {
        let text = format!("its thread used {} of a core", percent(main));
        found.push(evidence("target.cpu.main_thread", text));
    }
    let busy = case.timeline.highest("runtime.loop_utilisation");
    if let Some(busy) = mean(&busy, case.story.trouble()) {
        let text = format!("the loop was busy {} of the time", percent(busy));
        found.push(evidence("runtime.loop_utilisation", text));
    }
    let blocked = match case.loop_holder() {
        Some(holder) => format!("by {holder}, and everybody else waits"),
        None => "what runs in it for long keeps everybody waiting".to_owned(),
    };
    Ruling::Fires(Finding {
        id: "loop_blocked",
        title: format!("The target's event loop was blocked: {blocked}."),
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

/// How late the loop is, by one of the ways to tell.
struct Measure {
    metric: &'static str,
    what: &'static str,
    levels: Vec<Option<f64>>,
}

/// The ways to tell: its delay most of the time, and the longest one. The second is either what the loop measured, or
/// how long the page with it took: that is answered by the loop itself, and prom-client forgets what a page waited
/// for.
fn measures(case: &Case<'_>) -> [Measure; 2] {
    let timeline = case.timeline;
    let pages = timeline.parts("runtime.loop_lag").filter_map(|tags| tags.get("at"));
    let mut longest = timeline.highest("runtime.loop_lag.max");
    for page in pages {
        let looks = timeline.level_of("watch.look", "at", page);
        longest.iter_mut().zip(looks).for_each(|(longest, look)| {
            *longest = match (*longest, look) {
                (Some(longest), Some(look)) => Some(longest.max(look)),
                (known, other) => known.or(other),
            };
        });
    }
    let usual = timeline.highest("runtime.loop_lag");
    [
        Measure { metric: "runtime.loop_lag", what: "p99 of", levels: usual },
        Measure { metric: "runtime.loop_lag.max", what: "at its latest", levels: longest },
    ]
}
