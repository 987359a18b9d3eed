//! Memory: a process that the kernel killed for lack of it, a cgroup at its limit, or a machine that swaps.
//!
//! A kill is counted by the kernel (`memory.events` oom_kill, version 1 `memory.oom_control`, /proc/vmstat), so it is
//! certain. Swapping shows before: latency rises by what a disk takes.

use super::{Ruling, evidence, size, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Evidence, Finding};
use crate::remedy::remedy;

/// This near its limit a cgroup gives back what it needs again.
const FULL: f64 = 0.95;
/// Bytes swapped in a second that users feel.
const SWAPPING: f64 = 1e6;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.has("target.memory") && !case.has("host.memory") {
        return unmeasured("memory");
    }
    let own = case.total("target.oom_kills").unwrap_or(0.0);
    let host = case.total("host.oom_kills").unwrap_or(0.0);
    let limit = case.peak("target.cgroup.memory.limit");
    let used = case.peak("target.cgroup.memory");
    let mut found: Vec<Evidence> = Vec::new();
    let mut onset_s = case.story.onset();
    // The machine counts the target's own kills as well.
    for (metric, kills) in [("target.oom_kills", own), ("host.oom_kills", host - own)] {
        if kills > 0.0 {
            onset_s = case.first(metric);
            found.push(evidence(
                metric,
                format!("{kills} killed for lack of memory at {onset_s} s", kills = whole(kills)),
            ));
        }
    }
    let confidence = if found.is_empty() { Confidence::Likely } else { Confidence::Certain };
    if let (Some(limit), Some(used)) = (limit, used)
        && used >= FULL * limit
    {
        found.push(evidence("target.cgroup.memory", format!("{} of {} allowed", size(used), size(limit))));
        let reclaims = case.total("target.memory.reclaims").unwrap_or(0.0);
        if reclaims == 0.0 && confidence == Confidence::Likely {
            // A cache fills any limit; without anything to take back nobody suffers.
            found.clear();
        }
    }
    if case.saturated_levels(&swapped(case), SWAPPING).is_some() {
        found.push(evidence("host.swap.in", "pages were read back from swap space all the time"));
    }
    if found.is_empty() {
        let peak = case.peak("target.memory").map_or_else(|| "not known".to_owned(), size);
        return Ruling::RuledOut(format!("nothing was killed or swapped; the target used {peak} at most"));
    }
    Ruling::Fires(Finding {
        id: "memory",
        title: match confidence {
            Confidence::Certain => {
                "The target ran out of memory, and the kernel killed a process.".to_owned()
            }
            _ => "The target's memory was used up.".to_owned(),
        },
        confidence,
        onset_s,
        evidence: found,
        remedies: remedies(limit),
    })
}

fn swapped(case: &Case<'_>) -> Vec<Option<f64>> {
    crate::series::measured(&case.timeline.rate("host.swap.in"))
}

fn remedies(limit: Option<f64>) -> Vec<crate::Remedy> {
    let raise = match limit {
        Some(limit) => format!(
            "raise the limit of {} (systemd: MemoryMax=; Kubernetes: resources.limits.memory; docker run --memory)",
            size(limit)
        ),
        None => "use a machine with more memory, or move other services off this one".to_owned(),
    };
    vec![
        remedy(raise, [3, 3, 2, 2, 1, 3, 3]),
        remedy(
            "cap what grows with users: connection pools, send buffers, caches; find it by a heap profile at two user \
             counts",
            [3, 1, 3, 3, 3, 3, 2],
        ),
        remedy(
            "limit the heap below the cgroup's limit (node --max-old-space-size, java -XX:MaxRAMPercentage=75)",
            [2, 3, 3, 3, 1, 3, 2],
        ),
        remedy("add swap space as an insurance against sudden death, not as memory", [1, 3, 2, 3, 1, 2, 2]),
    ]
}
