//! Slow while idle: the target answers slowly and neither it nor its machine is busy. It waits for something else: a
//! database, another service, a lock, a sleep.

use super::{Ruling, evidence, percent, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::story::SymptomKind;

/// A thread below this has time: one that is busier has a queue before it as soon as work comes in bursts, and a
/// message to a room is one.
const IDLE_THREAD: f64 = 0.5;
/// A machine below this has cores left.
const IDLE_MACHINE: f64 = 0.7;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if ![SymptomKind::Slow, SymptomKind::Slower, SymptomKind::Backlog]
        .iter()
        .any(|kind| case.story.has(*kind))
    {
        return Ruling::RuledOut("answers did not become slower".to_owned());
    }
    let (Some(main), Some(host)) = (case.level("target.cpu.main_thread"), case.level("host.cpu")) else {
        return unmeasured("CPU of the target and its machine");
    };
    let throttled = case.level("target.throttled").unwrap_or(0.0);
    let is_short = host >= IDLE_MACHINE && case.is_short_of_cores();
    if main >= IDLE_THREAD || is_short || throttled >= 0.1 {
        return Ruling::RuledOut(format!(
            "the target was busy itself: its first thread {}, the machine {}",
            percent(main),
            percent(host)
        ));
    }
    let mut found = vec![evidence(
        "target.cpu.main_thread",
        format!("its first thread used {} of a core", percent(main)),
    )];
    // On the JVM the first thread does nothing: what the others do is what counts.
    if let Some(others) = case.level("target.cpu.other_threads") {
        found.push(evidence("target.cpu.other_threads", format!("its other threads used {others:.2} cores")));
    }
    let busy = format!("its machine was {} busy", percent(host));
    let is_busy = host >= IDLE_MACHINE;
    let text = if is_busy { format!("{busy}, but the target was not short of cores") } else { busy };
    found.push(evidence("host.cpu", text));
    Ruling::Fires(Finding {
        id: "dependency",
        title: "The target was slow while it was idle: it waited for something else.".to_owned(),
        confidence: Confidence::Possible,
        onset_s: case.story.onset(),
        evidence: found,
        remedies: vec![
            remedy(
                "watch what it depends on as well: --watch postgres://…, --watch redis://…, --watch http://…/metrics",
                [3, 3, 3, 3, 1, 3, 3],
            ),
            remedy("time its calls to others (tracing, slow query log), at this load", [3, 2, 3, 3, 2, 3, 3]),
            remedy(
                "look at its pools of connections: how many are used, how many callers wait",
                [3, 2, 3, 3, 2, 3, 3],
            ),
        ],
    })
}
