//! Findings over a run, ranked; what was ruled out; and what changed most when nothing was found.

use crate::case::Case;
use crate::littles_law;
use crate::remedy::{Remedy, ranked};
use crate::rules::{Ruling, TABLE};
use crate::series::{mean, median};
use crate::story::Story;
use crate::timeline::Timeline;
use serde::Serialize;
use serde_json::Value;
use sonagi_measure::figures::figure;
use sonagi_measure::summary::Summary;

/// Gauges that are told when no rule fires, at most.
const CHANGES_MAX: usize = 5;

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The system itself said so: it killed, refused, or counted.
    Certain,
    /// It was saturated when the trouble began, and its rivals were not.
    Likely,
    /// It fits, and so may others.
    Possible,
}

/// A measured fact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The series it stands on.
    pub series: String,
    /// In a clause, with values.
    pub text: String,
}

/// A cause of the trouble.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub id: &'static str,
    /// In a sentence.
    pub title: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// The second from which it showed.
    pub onset_s: usize,
    /// What it stands on.
    pub evidence: Vec<Evidence>,
    /// What to do, the best first.
    pub remedies: Vec<Remedy>,
}

/// A rule that did not fire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuledOut {
    /// The rule's id.
    pub id: &'static str,
    /// Why not.
    pub why: String,
    /// Whether it could not be judged, because what it needs was not measured.
    pub is_unmeasured: bool,
}

/// What became of a run, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// What users noticed.
    pub story: Story,
    /// Whether anything of the target was watched.
    pub is_watched: bool,
    /// Causes, the most likely one first.
    pub findings: Vec<Finding>,
    /// Other causes, and why they are none.
    pub ruled_out: Vec<RuledOut>,
    /// What the run's own figures do not agree on: it says nothing certain of the target before that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Evidence>,
    /// Gauges that changed most when the trouble began, for when nothing was found: not causes, but where to look.
    pub changed: Vec<Evidence>,
}

/// Diagnoses a run. A target that followed is not accused: without a symptom there is no finding.
pub fn diagnose(timeline: &Timeline, summary: &Summary, events: &[Value]) -> Diagnosis {
    let story = Story::of(timeline, summary);
    let mut diagnosis = Diagnosis {
        story: story.clone(),
        is_watched: timeline.metrics().any(is_watched),
        findings: Vec::new(),
        ruled_out: Vec::new(),
        doubts: littles_law::mismatch(timeline, summary).into_iter().collect(),
        changed: Vec::new(),
    };
    if story.is_calm() {
        return diagnosis;
    }
    let case = Case { timeline, summary, events, story: &story };
    for rule in TABLE {
        match (rule.judge)(&case) {
            Ruling::Fires(mut finding) => {
                finding.remedies = ranked(finding.remedies);
                diagnosis.findings.push(finding);
            }
            Ruling::RuledOut(why) => {
                diagnosis.ruled_out.push(RuledOut { id: rule.id, why, is_unmeasured: false });
            }
            Ruling::Unmeasured(why) => {
                diagnosis.ruled_out.push(RuledOut { id: rule.id, why, is_unmeasured: true });
            }
        }
    }
    // A generator that was late measured its own lateness: only what the system itself said stands beside that.
    if diagnosis.findings.iter().any(|finding| finding.id == "generator") {
        diagnosis.findings.retain(|finding| finding.confidence == Confidence::Certain);
    }
    // The table is in the order of how directly a signal names its cause: a sort that keeps it decides between equals.
    diagnosis.findings.sort_by_key(|finding| finding.confidence);
    if diagnosis.findings.is_empty() {
        diagnosis.changed = changed(&case);
    }
    diagnosis
}

/// Whether a metric is one of the target, or of what it depends on.
fn is_watched(metric: &str) -> bool {
    const WATCHED: [&str; 7] = ["target.", "host.", "pool.", "runtime.", "postgres.", "redis.", "nginx."];
    WATCHED.iter().any(|prefix| metric.starts_with(prefix))
}

/// The gauges of the target, and of what it depends on, that changed most when the trouble began.
fn changed(case: &Case<'_>) -> Vec<Evidence> {
    let (calm, trouble) = (case.story.calm(), case.story.trouble());
    let mut found: Vec<(f64, Evidence)> = Vec::new();
    for metric in case.timeline.metrics().filter(|metric| is_watched(metric)) {
        let levels = case.timeline.level(metric);
        let (Some(before), Some(after)) = (median(&levels, calm.clone()), mean(&levels, trouble.clone()))
        else {
            continue;
        };
        let change = (after - before).abs() / before.abs().max(after.abs()).max(f64::MIN_POSITIVE);
        if change > 0.25 {
            let text = format!("{metric} went from {} to {}", figure(before), figure(after));
            found.push((change, Evidence { series: metric.to_owned(), text }));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(CHANGES_MAX).map(|(_, evidence)| evidence).collect()
}
