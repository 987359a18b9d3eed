//! The accept queue: connections that the kernel has made and the target has not accepted yet. Full, it drops the
//! handshake's last packet, and the client tries again after one second and more: connect times come in steps.

use super::{Ruling, cpu, evidence, syn_retries, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// A machine that had been full for so many seconds when the queue overflowed was full first, and not along with it.
const BEFORE_S: usize = 2;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let Some(overflows) = case.total("host.tcp.listen_overflows") else {
        return unmeasured("overflows of accept queues");
    };
    let peak = case.peak("target.accept_queue").unwrap_or(0.0);
    if overflows == 0.0 {
        return Ruling::RuledOut(format!(
            "no accept queue overflowed; the target's held {peak} at most",
            peak = whole(peak)
        ));
    }
    let onset_s = case.first("host.tcp.listen_overflows");
    // The count is the machine's: somebody else's queue may have been full.
    let is_own = peak > 0.0;
    let mut found = vec![evidence(
        "host.tcp.listen_overflows",
        format!(
            "{overflows} connections found an accept queue full, from {onset_s} s on",
            overflows = whole(overflows)
        ),
    )];
    let limit = case.peak("target.accept_queue.limit");
    let limit = limit
        .map(|limit| format!(" at once; its backlog is {limit}", limit = whole(limit)))
        .unwrap_or_default();
    let waited = format!("up to {peak} connections waited to be accepted{limit}", peak = whole(peak));
    found.push(evidence("target.accept_queue", waited));
    found.extend(syn_retries::steps(case));
    // A target without CPU time does not come to accept anybody: then the queue is what follows, and no cause.
    let full = cpu::full_of_the_target(case).filter(|full| full.onset_s + BEFORE_S <= onset_s);
    if let Some(full) = &full {
        let text = format!("the machine was full before that, from {} s on", full.onset_s);
        found.push(evidence("host.cpu", text));
    }
    Ruling::Fires(Finding {
        id: "accept_queue",
        title: "Connections come faster than the target accepts them: its accept queue was full.".to_owned(),
        confidence: if is_own && full.is_none() { Confidence::Certain } else { Confidence::Possible },
        onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "raise the backlog where the target listens (Node: server.listen({backlog}); uvicorn --backlog; \
                 Tomcat acceptCount), then sysctl net.core.somaxconn",
                [3, 3, 3, 3, 2, 3, 3],
            ),
            remedy(
                "find what keeps it from accepting: a blocked event loop accepts nobody, nor does a server whose \
                 threads are all taken (Tomcat: server.tomcat.threads.max) or that holds all the connections it may \
                 (server.tomcat.max-connections, 8,192 as it comes)",
                [3, 1, 3, 3, 3, 3, 2],
            ),
            remedy(
                "let clients come more slowly (a ramp, jitter before reconnecting)",
                [2, 3, 3, 3, 2, 2, 3],
            ),
        ],
    })
}
