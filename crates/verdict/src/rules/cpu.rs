//! CPU: the machine's cores are all busy, most of it with the target.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::{Case, Saturated};
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// Busy from here on, with tasks that wait.
const FULL: f64 = 0.90;
/// The target's part of the machine.
const PART: f64 = 0.5;

/// Since when the machine was full, most of it with the target.
pub(super) fn full_of_the_target(case: &Case<'_>) -> Option<Saturated> {
    let (used, cores) = (case.level("target.cpu")?, case.peak("host.cores")?);
    case.saturated("host.cpu", FULL).filter(|_| used >= PART * cores)
}

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (Some(peak), Some(cores)) = (case.peak("host.cpu"), case.peak("host.cores")) else {
        return unmeasured("the machine's CPU");
    };
    let Some(full) = case.saturated("host.cpu", FULL) else {
        return Ruling::RuledOut(format!("the machine was {} busy at most", percent(peak)));
    };
    let used = case.level("target.cpu").unwrap_or(0.0);
    if used < PART * cores {
        return Ruling::RuledOut(format!("the target used {used:.2} of {cores} cores", cores = whole(cores)));
    }
    let mut found = vec![
        evidence("host.cpu", format!("{} busy, from {} s on", percent(full.level), full.onset_s)),
        evidence("target.cpu", format!("the target used {used:.2} of {cores} cores", cores = whole(cores))),
    ];
    if let Some(pressure) = case.level("host.pressure.cpu") {
        found.push(evidence(
            "host.pressure.cpu",
            format!("tasks waited for a core {} of the time", percent(pressure)),
        ));
    }
    Ruling::Fires(Finding {
        id: "cpu",
        title: "The target's machine had no CPU time left.".to_owned(),
        confidence: Confidence::Likely,
        onset_s: full.onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "profile the target under this load (perf record -g, async-profiler, py-spy) and mend what is at the \
                 top",
                [3, 1, 3, 3, 3, 3, 2],
            ),
            remedy("more cores, or a second machine behind a balancer", [3, 2, 1, 1, 3, 3, 3]),
            remedy("move databases and proxies off this machine", [2, 2, 2, 2, 2, 2, 3]),
        ],
    })
}
