//! A noisy neighbour: the machine's cores are busy with neither the target nor the generator.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

const FULL: f64 = 0.85;
/// Others take this part of the machine.
const PART: f64 = 0.4;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (Some(cores), Some(target)) = (case.peak("host.cores"), case.level("target.cpu")) else {
        return unmeasured("CPU of the target and its machine");
    };
    let own = case.level("generator.cpu").unwrap_or(0.0);
    let host = case.timeline.level("host.cpu");
    let others = case.level("host.cpu").unwrap_or(0.0) * cores - target - own;
    if others < PART * cores || case.saturated_levels(&host, FULL).is_none() {
        return Ruling::RuledOut(format!(
            "what else ran there used {:.2} of {cores} cores",
            others.max(0.0),
            cores = whole(cores)
        ));
    }
    if !case.is_short_of_cores() {
        return Ruling::RuledOut(format!(
            "others used {others:.2} of {cores} cores, and the target had the {target:.2} that it wanted",
            cores = whole(cores)
        ));
    }
    let onset_s = case.saturated_levels(&host, FULL).map_or(0, |full| full.onset_s);
    Ruling::Fires(Finding {
        id: "neighbour",
        title: "Other processes on the target's machine took its CPU time.".to_owned(),
        confidence: Confidence::Likely,
        onset_s,
        evidence: vec![
            evidence("host.cpu", format!("{} busy", percent(case.level("host.cpu").unwrap_or(0.0)))),
            evidence(
                "target.cpu",
                format!(
                    "the target used {target:.2}, the generator {own:.2}, others {others:.2} of {cores} cores",
                    cores = whole(cores)
                ),
            ),
        ],
        remedies: vec![
            remedy(
                "find them (top, pidstat 1): a database on the same machine belongs to the service, and what does not \
                 has no place in the test",
                [3, 3, 3, 3, 1, 2, 3],
            ),
            remedy(
                "give the target cores of its own (systemd: AllowedCPUs=, CPUWeight=; docker --cpuset-cpus)",
                [3, 2, 3, 3, 2, 2, 3],
            ),
        ],
    })
}
