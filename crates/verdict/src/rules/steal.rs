//! Steal: a virtual machine wanted a core and another one got it; on burstable instances also when the credits are
//! gone.

use super::{Ruling, evidence, percent, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// Below this it is the usual noise of a shared machine.
const STOLEN: f64 = 0.10;

/// From here on it alone may be what users notice. A smaller share costs the target that share of its capacity and no
/// more, so what was full beside it is the likelier cause.
const MUCH: f64 = 0.25;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let Some(share) = case.level("host.cpu.steal") else { return unmeasured("steal") };
    let Some(stolen) = case.saturated("host.cpu.steal", STOLEN) else {
        return Ruling::RuledOut(format!("{} of CPU time was stolen", percent(share)));
    };
    Ruling::Fires(Finding {
        id: "steal",
        title: "The target's virtual machine did not get the CPU time it wanted.".to_owned(),
        confidence: if stolen.level < MUCH { Confidence::Possible } else { Confidence::Likely },
        onset_s: stolen.onset_s,
        evidence: vec![evidence(
            "host.cpu.steal",
            format!("{} stolen, from {} s on", percent(stolen.level), stolen.onset_s),
        )],
        remedies: vec![
            remedy(
                "repeat after an idle hour: a burstable instance (t2, t3) earns credits while it rests",
                [2, 3, 3, 3, 1, 2, 3],
            ),
            remedy("use an instance type without credits, or its unlimited mode", [3, 2, 2, 1, 3, 3, 3]),
        ],
    })
}
