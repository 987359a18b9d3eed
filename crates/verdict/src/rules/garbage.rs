//! Garbage collection: the runtime spends its time on looking for memory to free, most often because the heap is nearly
//! full, or because each request allocates much.

use super::{Ruling, evidence, percent, size, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// More than this share of the time is too much.
const MUCH: f64 = 0.10;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let Some(peak) = case.peak("runtime.gc") else { return unmeasured("the time of garbage collection") };
    let Some(full) = case.saturated("runtime.gc", MUCH) else {
        return Ruling::RuledOut(format!("garbage collection took {} of the time at most", percent(peak)));
    };
    let before = full.before.map(|before| format!(" ({} before)", percent(before))).unwrap_or_default();
    let mut found = vec![evidence(
        "runtime.gc",
        format!("{} of the time{before}, from {} s on", percent(full.level), full.onset_s),
    )];
    if let Some(memory) = case.peak("target.memory") {
        found.push(evidence("target.memory", format!("{} used at most", size(memory))));
    }
    Ruling::Fires(Finding {
        id: "garbage",
        title: "The target spent much of its time on collecting garbage.".to_owned(),
        confidence: Confidence::Likely,
        onset_s: full.onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "a larger heap (node --max-old-space-size=4096, --max-semi-space-size=64; java -Xmx, \
                 -XX:MaxRAMPercentage=75): the same garbage is collected less often",
                [3, 3, 2, 3, 2, 3, 3],
            ),
            remedy(
                "allocate less: a heap profile under this load (node --heap-prof, async-profiler -e alloc) names \
                 what to reuse or to stream",
                [3, 1, 3, 3, 3, 3, 2],
            ),
            remedy(
                "find what is kept: memory that grows with users and not back with them is a leak",
                [2, 1, 3, 3, 3, 3, 2],
            ),
        ],
    })
}
