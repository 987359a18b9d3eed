//! A diagnosis on a terminal: what users noticed, the cause, what it stands on, what was ruled out, and what to try.

use crate::page::{Page, Tone};
use sonagi_verdict::{Confidence, Diagnosis, Finding};

/// Causes that are told with all they stand on; those behind them in a line.
const TOLD: usize = 2;
/// Causes that were ruled out and are told; the others in JSON.
const RULED_OUT: usize = 6;

/// The text for a terminal of this width. Ends with a newline.
pub fn text(diagnosis: &Diagnosis, width: usize, colour: bool) -> String {
    let mut page = Page::new(width, colour);
    if diagnosis.story.is_calm() {
        page.entry("diagnosis", Tone::Good, "the target kept up: nothing to explain");
        return page.finish();
    }
    for finding in diagnosis.findings.iter().take(TOLD) {
        self::finding(&mut page, finding);
        page.blank();
    }
    for finding in diagnosis.findings.iter().skip(TOLD) {
        page.entry("as well", Tone::Faint, &finding.title);
    }
    if diagnosis.findings.is_empty() {
        page.entry("diagnosis", Tone::Doubtful, "the target did not keep up, and no rule knows why");
        for change in &diagnosis.changed {
            page.more(&format!("changed most when it began: {}", change.text));
        }
    }
    let symptoms = &diagnosis.story.symptoms;
    for (at, symptom) in symptoms.iter().enumerate() {
        let label = if at == 0 { "noticed" } else { "" };
        page.entry(label, Tone::Faint, &format!("{}, from {} s on", symptom.text, symptom.onset_s));
        if let Some(hint) = &symptom.hint {
            page.more(&format!("hint: {hint}"));
        }
    }
    let ruled_out = diagnosis.ruled_out.iter().filter(|rule| !rule.is_unmeasured);
    for (at, rule) in ruled_out.take(RULED_OUT).enumerate() {
        let label = if at == 0 { "ruled out" } else { "" };
        page.entry(label, Tone::Faint, &format!("{}: {}", rule.id.replace('_', " "), rule.why));
    }
    for (at, rule) in diagnosis.ruled_out.iter().filter(|rule| rule.is_unmeasured).enumerate() {
        let label = if at == 0 { "not known" } else { "" };
        page.entry(label, Tone::Faint, &format!("{}: {}", rule.id.replace('_', " "), rule.why));
    }
    page.finish()
}

fn finding(page: &mut Page, finding: &Finding) {
    let (word, tone) = match finding.confidence {
        Confidence::Certain => ("cause", Tone::Bad),
        Confidence::Likely => ("likely", Tone::Bad),
        Confidence::Possible => ("possible", Tone::Doubtful),
    };
    page.entry(word, tone, &finding.title);
    for (at, evidence) in finding.evidence.iter().enumerate() {
        page.entry(if at == 0 { "evidence" } else { "" }, Tone::Faint, &evidence.text);
    }
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let label = if at == 0 { "try" } else { "" };
        page.entry(label, Tone::Faint, &format!("{}. {}", at + 1, remedy.text));
        page.more(&format!("   {}", remedy.criteria.told()));
    }
}
