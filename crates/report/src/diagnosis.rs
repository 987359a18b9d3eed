//! A diagnosis on a terminal: what users noticed, the cause, what it stands on, what was ruled out, and what to try.

use crate::page::{Page, Tone};
use sonagi_verdict::{Confidence, Diagnosis, Finding, Symptom, SymptomKind};

/// Causes that are told with all they stand on; those behind them in a line.
const TOLD: usize = 2;
/// Further causes that the end of a run names.
const NAMED: usize = 2;
/// Causes that were ruled out and are told; the others in JSON.
const RULED_OUT: usize = 6;

/// The gist of it for the end of a run, for a terminal of this width; `folder` has the rest, if there is one. None:
/// there is nothing to say that the summary has not said.
pub fn brief(diagnosis: &Diagnosis, folder: Option<&str>, width: usize, colour: bool) -> Option<String> {
    let mut page = Page::new(width, colour);
    // Of a generator that fell behind the verdict itself has said all there is.
    if diagnosis.findings.first().is_some_and(|finding| finding.id == "generator") {
        return None;
    }
    doubts(&mut page, diagnosis);
    if diagnosis.story.is_calm() {
        return (!diagnosis.doubts.is_empty()).then(|| page.finish());
    }
    let mut findings = diagnosis.findings.iter();
    if let Some(first) = findings.next() {
        self::evidence(&mut page, first);
        if let Some(best) = first.remedies.first() {
            page.entry("try", Tone::Faint, &best.text);
        }
        for finding in findings.take(NAMED) {
            page.entry("as well", Tone::Faint, &finding.title);
        }
        page.entry("noticed", Tone::Faint, &noticed(diagnosis.story.symptoms.first()?));
    } else {
        // Why operations failed is told where they are counted, and so are lost copies.
        let is_told = |kind| matches!(kind, SymptomKind::Failing | SymptomKind::Lost);
        let symptom = diagnosis.story.symptoms.iter().find(|symptom| !is_told(symptom.kind))?;
        unexplained(&mut page, diagnosis, &noticed(symptom));
    }
    if let Some(folder) = folder {
        page.entry("more", Tone::Faint, &format!("sonagi explain {folder}"));
    }
    Some(page.finish())
}

fn noticed(symptom: &Symptom) -> String {
    format!("{}, from {} s on", symptom.text, symptom.onset_s)
}

/// What the run's own figures do not agree on.
fn doubts(page: &mut Page, diagnosis: &Diagnosis) {
    diagnosis.doubts.iter().for_each(|doubt| page.entry("doubt", Tone::Doubtful, &doubt.text));
}

/// What there is to say when no rule fires.
fn unexplained(page: &mut Page, diagnosis: &Diagnosis, what: &str) {
    page.entry("diagnosis", Tone::Doubtful, &format!("{what}, and no rule knows why"));
    for change in &diagnosis.changed {
        page.more(&format!("changed most when it began: {}", change.text));
    }
    if !diagnosis.is_watched {
        page.more(
            "nothing of the target was watched: `--watch` takes its port, metrics page, database, … \
                   (docs/watch.md)",
        );
    }
}

/// The text for a terminal of this width. Ends with a newline.
pub fn text(diagnosis: &Diagnosis, width: usize, colour: bool) -> String {
    let mut page = Page::new(width, colour);
    doubts(&mut page, diagnosis);
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
        unexplained(&mut page, diagnosis, "the target did not keep up");
    }
    let symptoms = &diagnosis.story.symptoms;
    for (at, symptom) in symptoms.iter().enumerate() {
        let label = if at == 0 { "noticed" } else { "" };
        page.entry(label, Tone::Faint, &noticed(symptom));
        if let Some(hint) = &symptom.hint {
            page.more(&format!("hint: {hint}"));
        }
    }
    let with = |is_unmeasured: bool| {
        let rules = diagnosis.ruled_out.iter().filter(move |rule| rule.is_unmeasured == is_unmeasured);
        rules.map(|rule| format!("{}: {}", rule.id.replace('_', " "), rule.why))
    };
    page.entries("ruled out", with(false).take(RULED_OUT));
    page.entries("not known", with(true));
    page.finish()
}

fn evidence(page: &mut Page, finding: &Finding) {
    let (word, tone) = match finding.confidence {
        Confidence::Certain => ("cause", Tone::Bad),
        Confidence::Likely => ("likely", Tone::Bad),
        Confidence::Possible => ("possible", Tone::Doubtful),
    };
    page.entry(word, tone, &finding.title);
    page.entries("evidence", finding.evidence.iter().map(|evidence| evidence.text.clone()));
}

fn finding(page: &mut Page, finding: &Finding) {
    evidence(page, finding);
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let label = if at == 0 { "try" } else { "" };
        page.entry(label, Tone::Faint, &format!("{}. {}", at + 1, remedy.text));
        page.more(&format!("   {}", remedy.criteria.told()));
    }
}
