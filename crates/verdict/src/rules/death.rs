//! Death: a process of the target ended while it was needed. What killed it may be known from another rule.

use super::{Ruling, evidence, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Evidence, Finding};
use crate::remedy::remedy;
use crate::series::sum;
use crate::story::{Symptom, SymptomKind};

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    let seen = case.story.symptoms.iter().find(|symptom| symptom.kind == SymptomKind::Died);
    if !case.has("target.processes") {
        return seen.map_or_else(|| unmeasured("the target's processes"), from_afar);
    }
    let (Some(ended), began) =
        (case.total("target.ended").filter(|ended| *ended > 0.0), case.total("target.started"))
    else {
        return Ruling::RuledOut("all of the target's processes lived on".to_owned());
    };
    let onset_s = case.first("target.ended");
    // Workers that come and go are the target's business; users must have noticed at about that second.
    if case.peak("target.processes").is_some_and(|most| ended < most) && case.story.onset() > onset_s + 3 {
        return Ruling::RuledOut("a process that ended was not missed".to_owned());
    }
    let mut found = vec![evidence(
        "target.ended",
        format!("{ended} ended, the first at {onset_s} s", ended = whole(ended)),
    )];
    found.extend(
        case.happened()
            .filter(|(_, text)| text.starts_with("process "))
            .take(3)
            .map(|(at, text)| evidence("events", format!("{text} at {at} s"))),
    );
    found.extend(seen.map(|symptom| evidence("connections.closed", symptom.text.clone())));
    // A database ends a process with each connection that nobody needs any more.
    if seen.is_none() && case.total("target.ended.workers").is_some_and(|workers| workers >= ended) {
        let title = "Some of the target's workers ended, and others like them lived on.".to_owned();
        // It cost somebody a connection, if not everybody.
        let near = onset_s.saturating_sub(1)..onset_s + 2;
        let lost = sum(&case.timeline.rate("connections.lost"), near);
        let confidence = if lost > 0.0 { Confidence::Likely } else { Confidence::Possible };
        return fires(title, confidence, onset_s, found);
    }
    let title = match began {
        Some(began) if began > 0.0 => "The target's process ended and was started again.".to_owned(),
        _ => format!("The target died {onset_s} s into the run: nothing was answered after."),
    };
    fires(title, Confidence::Certain, onset_s, found)
}

/// A death that only the load noticed: who watches nothing sees connections close, and no more answers.
fn from_afar(seen: &Symptom) -> Ruling {
    let title = format!("The target died {} s into the run, or what leads to it.", seen.onset_s);
    fires(title, Confidence::Likely, seen.onset_s, vec![evidence("connections.closed", seen.text.clone())])
}

fn fires(title: String, confidence: Confidence, onset_s: usize, evidence: Vec<Evidence>) -> Ruling {
    let remedies = vec![
        remedy(
            "read the target's last lines and the kernel's (journalctl -u SERVICE -k, dmesg): they say what ended it",
            [3, 3, 3, 3, 1, 3, 3],
        ),
        remedy(
            "have it restarted at once (systemd: Restart=always; pm2; a container's restart policy)",
            [2, 3, 3, 3, 2, 3, 3],
        ),
        remedy("run two instances, so that one's death is not the service's", [2, 1, 2, 1, 3, 3, 2]),
    ];
    Ruling::Fires(Finding { id: "death", title, confidence, onset_s, evidence, remedies })
}
