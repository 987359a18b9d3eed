//! A CPU quota: the cgroup's time is used up in part of its periods, and its threads are stopped until the next one.
//! The machine looks idle, and so does the target. (admin-guide/cgroup-v2.rst, `cpu.max`, `cpu.stat`.)

use super::{Ruling, evidence, percent, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// The share of periods that kubernetes-mixin warns from.
const THROTTLED: f64 = 0.25;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let Some(quota) = case.peak("target.quota") else {
        return match case.has("target.cpu") {
            true => Ruling::RuledOut("its cgroup has no quota".to_owned()),
            false => unmeasured("the target's cgroup"),
        };
    };
    let Some(throttled) = case.saturated("target.throttled", THROTTLED) else {
        let share = case.level("target.throttled").unwrap_or(0.0);
        return Ruling::RuledOut(format!("it was stopped in {} of its periods", percent(share)));
    };
    let mut found = vec![evidence(
        "target.throttled",
        format!(
            "stopped in {} of the quota's periods, from {} s on",
            percent(throttled.level),
            throttled.onset_s
        ),
    )];
    if let Some(cpu) = case.level("target.cpu") {
        found.push(evidence("target.cpu", format!("{cpu:.2} cores used of {quota:.2} allowed")));
    }
    if let Some(host) = case.level("host.cpu") {
        found.push(evidence("host.cpu", format!("the machine itself was {} busy", percent(host))));
    }
    Ruling::Fires(Finding {
        id: "cpu_quota",
        title: format!(
            "The target's quota of {quota:.2} cores was used up: it was stopped although the machine had time."
        ),
        confidence: Confidence::Certain,
        onset_s: throttled.onset_s,
        evidence: found,
        remedies: vec![
            remedy(
                "raise the quota once and compare (systemd: CPUQuota=; Kubernetes: resources.limits.cpu; docker run \
                 --cpus)",
                [3, 3, 3, 2, 2, 3, 3],
            ),
            remedy("give it requests without a limit, where the machine is its own", [3, 3, 2, 2, 2, 3, 2]),
            remedy(
                "start no more worker threads than the quota has cores: they only use it up sooner",
                [2, 2, 3, 3, 2, 2, 3],
            ),
        ],
    })
}
