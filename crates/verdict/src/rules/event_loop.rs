//! A single thread: Node, Python and Redis do their work in one; it is full at one core, whatever the machine has.
//! Where Node says itself how busy its loop is, that counts: a loop that waits for a synchronous call has time for
//! nobody either, though its thread uses no core.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::{Case, Saturated};
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::series::most;

/// A thread that runs this much of the time has a queue in front of it.
const FULL: f64 = 0.85;

/// So does a loop that is busy for this share of the time.
const BUSY: f64 = 0.9;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let thread = case.saturated("target.cpu.main_thread", FULL);
    let busy = case.saturated_levels(&case.timeline.highest("runtime.loop_utilisation"), BUSY);
    let Some(full) = thread.or(busy) else { return is_free(case) };
    let before = |it: Saturated| it.before.map(|before| format!(" ({} before)", percent(before)));
    let mut found = Vec::new();
    if let Some(thread) = thread {
        let before = before(thread).unwrap_or_default();
        let text = format!("{} of a core{before}, full from {} s on", percent(thread.level), thread.onset_s);
        found.push(evidence("target.cpu.main_thread", text));
    }
    if let Some(busy) = busy {
        let (before, level) = (before(busy).unwrap_or_default(), percent(busy.level));
        let text = format!("its event loop was busy {level} of the time{before}, from {} s on", busy.onset_s);
        found.push(evidence("runtime.loop_utilisation", text));
    }
    if let (None, Some(used)) = (thread, case.level("target.cpu.main_thread")) {
        let text = format!("its thread used {} of a core", percent(used));
        found.push(evidence("target.cpu.main_thread", text));
    }
    if let Some(others) = case.level("target.cpu.other_threads") {
        found.push(evidence("target.cpu.other_threads", format!("its other threads used {others:.2} cores")));
    }
    if let (Some(host), Some(cores)) = (case.level("host.cpu"), case.peak("host.cores")) {
        found.push(evidence(
            "host.cpu",
            format!("the machine's {cores} cores were {} busy", percent(host), cores = whole(cores)),
        ));
    }
    if let Some((thread, _)) = busiest(case) {
        found.push(evidence("target.cpu.thread", format!("the busiest thread is {thread}")));
    }
    let holder = case.loop_holder().map(|holder| format!(", held by {holder}")).unwrap_or_default();
    Ruling::Fires(Finding {
        id: "event_loop",
        title: format!("One thread of the target did all the work, and it was full{holder}."),
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

/// Neither is full, as far as that was measured.
fn is_free(case: &Case<'_>) -> Ruling {
    let busy = most(&case.timeline.highest("runtime.loop_utilisation"), case.whole());
    match (case.peak("target.cpu.main_thread"), busy) {
        (Some(peak), _) => {
            Ruling::RuledOut(format!("no first thread used more than {} of a core for long", percent(peak)))
        }
        (None, Some(busy)) => Ruling::RuledOut(format!(
            "the event loop was not busy more than {} of the time for long",
            percent(busy)
        )),
        (None, None) => unmeasured("CPU by thread"),
    }
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
