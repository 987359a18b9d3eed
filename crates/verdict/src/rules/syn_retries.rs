//! Connect times in steps of whole seconds: a SYN that nobody answers is sent again by the client's kernel after one
//! second (RFC 6298; Linux from 6.5 on then each second four times, before at 3 and 7 s), and nothing else that takes
//! time does so in steps. So most connects are quick, and the others take 1 s, 2 s or 3 s and hardly any a time
//! between.
//!
//! It says that SYNs were dropped, not by whom. Where the target's machine counted that itself (a full accept queue,
//! lost segments) this rule is silent and is evidence of theirs; of a machine that nobody watches it is all there is.

use super::{Ruling, evidence, network, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Evidence, Finding};
use crate::remedy::remedy;
use sonagi_measure::frame::Buckets;
use std::collections::BTreeSet;

/// Where steps are looked for: times of operations that connect, and k6's own of connecting alone.
const TIMES: [&str; 3] = ["service_time", "http_req_connecting", "ws_connecting"];
/// What takes longer than this has waited for a second SYN (ms).
const SLOW_MS: f64 = 900.0;
/// So many of them at least, and this share of them in steps. Of times that are spread evenly a quarter would be.
const STEPS: (u64, f64) = (5, 0.8);
/// Connects are quick unless their SYN was dropped (ms).
const QUICK_MS: f64 = 300.0;
/// A step is as wide as the quick ones differ, and this much at least (ms); and as a bucket is wide.
const WIDTH: (f64, f64) = (150.0, 0.025);
/// Steps that are named.
const NAMED: usize = 4;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if connecting(case).all.count() == 0 {
        return unmeasured("how long connects took");
    }
    let Some(steps) = steps(case) else {
        return Ruling::RuledOut("connects did not come in steps of whole seconds".to_owned());
    };
    let overflows = case.total("host.tcp.listen_overflows");
    if overflows.is_some_and(|overflows| overflows > 0.0) {
        return Ruling::RuledOut("SYNs were dropped because an accept queue overflowed".to_owned());
    }
    if network::is_lossy(case) {
        return Ruling::RuledOut("SYNs were lost as other segments were".to_owned());
    }
    let mut found = vec![steps];
    if overflows.is_some() {
        let text = "no accept queue of the target's machine overflowed: what stands before it dropped them";
        found.push(evidence("host.tcp.listen_overflows", text));
    }
    Ruling::Fires(Finding {
        id: "syn_retries",
        title: "Connects came in steps of whole seconds: SYNs to the target were dropped.".to_owned(),
        confidence: Confidence::Possible,
        onset_s: case.story.onset(),
        evidence: found,
        remedies: vec![
            remedy(
                "watch the target's machine under this load (--watch ssh:USER@HOST/port:NUMBER; or nstat -az \
                 TcpExtListenOverflows TcpExtTCPReqQFullDrop there): where they grow, raise the backlog of its \
                 listener",
                [3, 3, 3, 3, 2, 3, 3],
            ),
            remedy(
                "where they do not, look at what stands before it: a full table of connections (conntrack), a \
                 firewall's or balancer's limit of new ones",
                [3, 2, 2, 3, 2, 3, 2],
            ),
            remedy(
                "keep connections open and open fewer at a time (keep-alive, a ramp, jitter before reconnecting)",
                [2, 2, 3, 3, 3, 2, 3],
            ),
        ],
    })
}

/// The steps that connect times came in, as evidence of whatever dropped the SYNs.
pub(super) fn steps(case: &Case<'_>) -> Option<Evidence> {
    let Connecting { series, all } = connecting(case);
    let usual = all.quantile(0.5);
    let (mut slow, mut in_steps, mut at) = (0, 0, BTreeSet::new());
    for (ms, times) in all.values().filter(|(ms, _)| *ms >= SLOW_MS) {
        slow += times;
        // The bucket may begin right below its step.
        let step = ((ms * (1.0 + WIDTH.1)) / 1e3).floor();
        if step >= 1.0 && ms - 1e3 * step <= WIDTH.0.max(3.0 * usual) + WIDTH.1 * ms {
            in_steps += times;
            at.insert(step as u64);
        }
    }
    let is_stepped = slow >= STEPS.0 && in_steps as f64 >= STEPS.1 * slow as f64;
    (is_stepped && usual <= QUICK_MS).then(|| {
        let named: Vec<String> = at.iter().take(NAMED).map(|second| format!("{second} s")).collect();
        let (slow, all) = (whole(slow as f64), whole(all.count() as f64));
        evidence(series, format!("{slow} of {all} connects took whole seconds: {}", named.join(", ")))
    })
}

/// Times of connecting in the whole run.
struct Connecting {
    series: &'static str,
    all: Buckets,
}

fn connecting(case: &Case<'_>) -> Connecting {
    let operations = case.summary.operations.iter();
    let connects = operations.filter(|operation| operation.kind.connects());
    let connects: BTreeSet<&str> = connects.map(|operation| operation.name.as_str()).collect();
    let is_one = |operation: Option<&str>| operation.is_some_and(|name| connects.contains(name));
    let of = |series| {
        let all = case.timeline.whole(series, |tags| series != TIMES[0] || is_one(tags.get("operation")));
        Connecting { series, all }
    };
    let [operations, http, websocket] = TIMES.map(of);
    [http, websocket]
        .into_iter()
        .fold(operations, |most, one| if one.all.count() > most.all.count() { one } else { most })
}
