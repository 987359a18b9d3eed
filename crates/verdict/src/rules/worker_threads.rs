//! Worker threads: work that was moved out of the first thread fills a pool of them (libuv has four: hashing, files,
//! DNS;
//! application servers have their own), while the first thread is idle.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// The first thread is idle below this.
const IDLE: f64 = 0.5;
/// Of all CPU time of the target, the others' part.
const PART: f64 = 0.7;
/// Of the machine's cores (or libuv's four threads, if that is less), so much is full; where the machine is, so much
/// is.
const FULL: (f64, f64) = (0.7, 0.5);
/// Busy from here on, the machine has no more to give.
const BUSY: f64 = 0.9;
/// A first thread that does less than this is no event loop: all of the work is done by threads (JVM, Go), and what
/// they lack is CPU.
const LOOP: f64 = 0.002;
/// Threads of libuv's pool unless UV_THREADPOOL_SIZE says more.
const UV_THREADS: f64 = 4.0;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (others, main) =
        (case.timeline.level("target.cpu.other_threads"), case.level("target.cpu.main_thread"));
    let (Some(main), Some(cores)) = (main, case.peak("host.cores")) else {
        return unmeasured("CPU by thread");
    };
    if main < LOOP {
        return Ruling::RuledOut(
            "its first thread does nothing: there is no event loop with threads beside it".to_owned(),
        );
    }
    let is_machine_full = case.saturated("host.cpu", BUSY).is_some();
    let full = if is_machine_full { FULL.1 } else { FULL.0 };
    let Some(full) = case.saturated_levels(&others, full * cores.min(UV_THREADS)) else {
        let used = case.level("target.cpu.other_threads").unwrap_or(0.0);
        return Ruling::RuledOut(format!(
            "threads beside the first used {used:.2} of {cores} cores",
            cores = whole(cores)
        ));
    };
    if main >= IDLE || full.level < PART * (full.level + main) {
        return Ruling::RuledOut(format!("the first thread was busy as well ({})", percent(main)));
    }
    Ruling::Fires(Finding {
        id: "worker_threads",
        title: "The target's worker threads were full while its first thread was idle.".to_owned(),
        confidence: Confidence::Likely,
        onset_s: full.onset_s,
        evidence: vec![
            evidence(
                "target.cpu.other_threads",
                format!("{:.2} cores, from {} s on", full.level, full.onset_s),
            ),
            evidence("target.cpu.main_thread", format!("the first thread used {} of a core", percent(main))),
        ],
        remedies: vec![
            remedy(
                "do less of it: a lower cost of password hashes (bcrypt 13 takes eight times what 10 takes), tokens \
                 instead of a login each time",
                [3, 3, 3, 3, 2, 3, 2],
            ),
            remedy(
                "more cores, and a pool as large as they are (Node: UV_THREADPOOL_SIZE)",
                [2, 2, 2, 1, 2, 3, 3],
            ),
            remedy("move it to a service of its own, so that it delays nobody else", [2, 1, 2, 2, 3, 2, 2]),
        ],
    })
}
