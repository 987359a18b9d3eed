//! Descriptors: a process may have so many files and connections open (RLIMIT_NOFILE); what comes beyond is refused.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use crate::series::{first_above, most};

/// From here on accept() fails as soon as anything else opens a file.
const FULL: f64 = 0.95;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let (open, limit) =
        (case.timeline.level("target.open_files"), case.timeline.level("target.open_files.limit"));
    let shares: Vec<Option<f64>> =
        open.iter().zip(&limit).map(|(open, limit)| Some((*open)? / (*limit)?)).collect();
    let Some(share) = most(&shares, case.whole()) else { return unmeasured("the target's open files") };
    let (peak, limit) =
        (case.peak("target.open_files").unwrap_or(0.0), case.peak("target.open_files.limit").unwrap_or(0.0));
    if share < FULL {
        return Ruling::RuledOut(format!(
            "{peak} of {limit} files were open at most ({})",
            percent(share),
            peak = whole(peak),
            limit = whole(limit)
        ));
    }
    let onset_s = first_above(&shares, case.whole(), FULL, 1).unwrap_or(0);
    let enough = (limit * 4.0).max(65_536.0);
    Ruling::Fires(Finding {
        id: "descriptors",
        title: format!(
            "The target may open {limit} files and connections, and had them open.",
            limit = whole(limit)
        ),
        confidence: Confidence::Certain,
        onset_s,
        evidence: vec![evidence(
            "target.open_files",
            format!(
                "{peak} of {limit} open, full from {onset_s} s on",
                peak = whole(peak),
                limit = whole(limit)
            ),
        )],
        remedies: vec![
            remedy(
                format!(
                    "systemd: LimitNOFILE={enough:.0} in the unit; a shell's `ulimit -n` does not reach services"
                ),
                [3, 3, 3, 3, 2, 3, 3],
            ),
            remedy(
                format!("container: --ulimit nofile={enough:.0}:{enough:.0}; PAM: /etc/security/limits.conf"),
                [3, 3, 3, 3, 2, 3, 3],
            ),
            remedy(
                "nginx in front: worker_rlimit_nofile, for it holds two for each client",
                [2, 3, 3, 3, 2, 2, 3],
            ),
            remedy(
                "close connections that nobody uses (idle timeouts, keep-alive limits)",
                [2, 2, 3, 3, 3, 2, 2],
            ),
        ],
    })
}
