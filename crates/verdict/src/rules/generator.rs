//! The generator: when it falls behind itself, the run says nothing of the target, whatever else is seen.

use super::{Ruling, evidence, figure};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;
use sonagi_measure::summary::Health;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let generator = &case.summary.generator;
    if generator.state != Health::Invalid {
        return Ruling::RuledOut(format!(
            "its scheduling delay p99 was {} ms",
            figure(generator.send_lag_ms.p99)
        ));
    }
    Ruling::Fires(Finding {
        id: "generator",
        title: "The load generator fell behind its own plan: the target is not to be judged by this run."
            .to_owned(),
        confidence: Confidence::Certain,
        onset_s: case.story.onset(),
        evidence: generator
            .findings
            .iter()
            .map(|finding| evidence("generator.lag", finding.clone()))
            .collect(),
        remedies: vec![
            remedy(
                "run the generator on a machine of its own, or with cores of its own (`taskset`)",
                [3, 2, 2, 2, 3, 3, 3],
            ),
            remedy(
                "lower the load until the generator's health is ok, to learn what the target does below it",
                [2, 3, 3, 3, 1, 3, 3],
            ),
        ],
    })
}
