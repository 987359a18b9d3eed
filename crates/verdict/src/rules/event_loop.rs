//! A single thread: Node, Python and Redis do their work in one; it is full at one core, whatever the machine has.

use super::{Ruling, evidence, percent, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// A thread that runs this much of the time has a queue in front of it.
const FULL: f64 = 0.85;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let Some(peak) = case.peak("target.cpu.main_thread") else { return unmeasured("CPU by thread") };
    let Some(full) = case.saturated("target.cpu.main_thread", FULL) else {
        return Ruling::RuledOut(format!(
            "no first thread used more than {} of a core for long",
            percent(peak)
        ));
    };
    let mut found = vec![evidence(
        "target.cpu.main_thread",
        format!(
            "{} of a core{}, full from {} s on",
            percent(full.level),
            full.before.map(|before| format!(" ({} before)", percent(before))).unwrap_or_default(),
            full.onset_s
        ),
    )];
    if let Some(others) = case.level("target.cpu.other_threads") {
        found.push(evidence("target.cpu.other_threads", format!("its other threads used {others:.2} cores")));
    }
    if let (Some(host), Some(cores)) = (case.level("host.cpu"), case.peak("host.cores")) {
        found.push(evidence(
            "host.cpu",
            format!("the machine's {cores:.0} cores were {} busy", percent(host)),
        ));
    }
    if let Some((thread, _)) = busiest(case) {
        found.push(evidence("target.cpu.thread", format!("the busiest thread is {thread}")));
    }
    Ruling::Fires(Finding {
        id: "event_loop",
        title: "One thread of the target did all the work, and it was full.".to_owned(),
        confidence: Confidence::Likely,
        onset_s: full.onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "take work out of that thread: profile it (node --cpu-prof, py-spy), and move or cache what is at the \
                 top",
                [3, 1, 3, 3, 3, 3, 2],
            ),
            remedy(
                "run a process per core (Node: cluster or pm2 -i max; gunicorn -w; uvicorn --workers), with sticky \
                 sessions for polling and a Redis adapter between them",
                [3, 2, 2, 2, 3, 3, 2],
            ),
            remedy("send less to each: batch broadcasts, smaller rooms, fewer copies", [2, 2, 3, 3, 3, 2, 2]),
        ],
    })
}

/// The thread that used most, over the whole run.
fn busiest(case: &Case<'_>) -> Option<(String, f64)> {
    let threads = case.timeline.parts("target.cpu.thread").filter_map(|tags| tags.get("thread"));
    let used = threads.map(|thread| {
        let levels = case.timeline.level_of("target.cpu.thread", "thread", thread);
        (thread.to_owned(), levels.iter().flatten().sum::<f64>())
    });
    used.max_by(|a, b| a.1.total_cmp(&b.1))
}
