//! From figures to PASS, FAIL or INVALID, with a sentence for each reason.
//!
//! Without a word in the script, a load test of a real-time service fails when a copy was lost, doubled, reordered or
//! leaked, when a user failed, or when no user got through. A threshold on one of these replaces its default rule. Slow
//! is never a failure by default: how slow is too slow is the user's to say.

use crate::ledger::Counts;
use crate::outcome::Failure;
use crate::summary::{Conclusion, ErrorSummary, Health, Summary, Verdict};
use crate::thresholds::{Judged, names_in};

/// What the figures of an INVALID run are worth.
pub const OVERLOADED: &str = "the figures say nothing of the target: lower the load per shard, add shards, or use a faster or idle machine";

/// Judges a summary whose other fields are filled in.
pub(crate) fn judge(summary: &Summary) -> Verdict {
    let named = named(summary);
    let mut verdict = judge_demands(summary, &named);
    judge_users(summary, &named, &mut verdict);
    hint_errors(summary, &mut verdict);
    if summary.generator.state == Health::Invalid {
        verdict.result = Conclusion::Invalid;
        let findings = summary.generator.findings.iter().cloned();
        verdict.reasons.splice(0..0, findings);
        verdict.hints.insert(0, OVERLOADED.to_owned());
    } else if summary.generator.state == Health::Warn {
        verdict.hints.extend(summary.generator.findings.iter().cloned());
    }
    if verdict.reasons.is_empty() {
        verdict.reasons.push(praise(summary));
    }
    verdict
}

/// The metrics that thresholds speak of.
fn named(summary: &Summary) -> Vec<String> {
    let names = |threshold: &Judged| match names_in(&threshold.expression) {
        // Of another tool's grammar: `sonagi_lost: count<5` is about `sonagi_lost`.
        names if names.is_empty() => {
            threshold.expression.split([':', '{']).next().map(str::to_owned).into_iter().collect()
        }
        names => names,
    };
    summary.thresholds.iter().flat_map(names).collect()
}

/// What the script demands of the run as a whole: its thresholds, and the delivery of its messages.
fn judge_demands(summary: &Summary, named: &[String]) -> Verdict {
    let mut verdict = Verdict { result: Conclusion::Pass, reasons: Vec::new(), hints: Vec::new() };
    for threshold in summary.thresholds.iter().filter(|t| !t.held) {
        if threshold.strict {
            verdict.fail(broken(threshold));
        } else {
            verdict.hints.push(format!("not strict, but {}", broken(threshold)));
        }
    }
    judge_delivery(summary, named, &mut verdict);
    verdict
}

/// Adds to a verdict that responses were not as the script expected. Whether that decides the exit code: users that
/// failed, perhaps by the same responses, do not take it from them; a demand on the whole run does.
pub(crate) fn expect(summary: &mut Summary) -> bool {
    let expectations = &summary.expectations;
    if expectations.failed == 0 {
        return false;
    }
    let all = expectations.ok + expectations.failed;
    let kinds = expectations.kinds.iter().filter(|(_, expected)| expected.failed > 0);
    let kinds: Vec<&str> = kinds.take(3).map(|(kind, _)| kind.as_str()).collect();
    let failed = of(expectations.failed, all, "expectations");
    let reason = format!("{failed} not met ({})", kinds.join(", "));
    let demands_hold = judge_demands(summary, &named(summary)).result == Conclusion::Pass;
    let is_decisive = demands_hold && failed_before(summary).is_none();
    let verdict = &mut summary.verdict;
    if verdict.result == Conclusion::Pass {
        verdict.reasons.clear();
    }
    verdict.reasons.push(reason);
    // An invalid run stays one: its figures say nothing, but what was not as expected is still worth reading.
    if verdict.result == Conclusion::Invalid {
        return false;
    }
    verdict.result = Conclusion::Fail;
    is_decisive
}

impl Verdict {
    fn fail(&mut self, reason: String) {
        self.result = Conclusion::Fail;
        self.reasons.push(reason);
    }
}

fn broken(threshold: &Judged) -> String {
    format!("the threshold `{}` did not hold: {}", threshold.expression, threshold.evidence)
}

fn judge_delivery(summary: &Summary, named: &[String], verdict: &mut Verdict) {
    let Some(delivery) = &summary.delivery else { return };
    let Delivered { faults, hints } = delivered(&delivery.counts);
    for fault in faults {
        if !named.iter().any(|name| fault.metrics.contains(&name.as_str())) {
            verdict.fail(fault.reason);
        }
    }
    verdict.hints.extend(hints);
}

/// What is to be said of a run's deliveries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// What went wrong, worst first.
    pub faults: Vec<Fault>,
    /// What else is worth knowing.
    pub hints: Vec<String>,
}

/// Copies that did not come as they should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A threshold on one of these takes the place of the rule that this is a failure.
    pub metrics: &'static [&'static str],
    /// In a sentence.
    pub reason: String,
}

/// Says what the ledger's counts mean.
pub fn delivered(counts: &Counts) -> Delivered {
    let Counts { lost, leaked, duplicate, reordered, .. } = *counts;
    let mut faults = Vec::new();
    let mut fault = |count: u64, metrics, reason: &dyn Fn() -> String| {
        faults.extend((count > 0).then(|| Fault { metrics, reason: reason() }));
    };
    fault(lost, &["delivery.lost", "delivery.ratio", "sonagi_lost", "sonagi_delivery"], &|| {
        format!("{} lost ({})", of(lost, counts.owed, "owed copies"), percent(lost, counts.owed))
    });
    fault(leaked, &["delivery.leaked", "sonagi_leaked"], &|| {
        format!("{} received by users who were not in the room", copies(leaked))
    });
    fault(duplicate, &["delivery.duplicate", "sonagi_duplicate"], &|| {
        format!("{} received again", copies(duplicate))
    });
    fault(reordered, &["delivery.reordered", "sonagi_reordered"], &|| {
        format!("{} received after a later message of the same sender", copies(reordered))
    });
    Delivered { faults, hints: doubts(counts) }
}

fn doubts(counts: &Counts) -> Vec<String> {
    let mut hints = Vec::new();
    if counts.unknown > 0 {
        let belong = match counts.unknown {
            1 => "1 copy belongs to a message".to_owned(),
            unknown => format!("{} copies belong to messages", grouped(unknown)),
        };
        hints.push(format!("{belong} the target never acknowledged: not counted as lost"));
    }
    if counts.messages > 0 && counts.owed == 0 && counts.unknown == 0 {
        let why = match counts.settling {
            0 => "did the receivers join the room the messages went to?",
            _ => {
                "all copies fell within `settle` (default 100 ms) of a join or leave: let users think before they send"
            }
        };
        hints.push(format!("no copy was owed to anybody: {why}"));
    }
    hints
}

fn judge_users(summary: &Summary, named: &[String], verdict: &mut Verdict) {
    let users = &summary.users;
    if let Some(cause) = failed_before(summary) {
        // Whatever else did not hold follows from it.
        verdict.result = Conclusion::Fail;
        verdict.reasons.insert(0, format!("no user was started: {cause}"));
    } else if users.completed == 0 && !ran_until_stopped(summary) {
        let started = counted(users.started, "user");
        verdict.fail(match (summary.interrupted, users.started) {
            (_, 0) => "no user was started".to_owned(),
            (true, 1) => "the run was stopped before its 1 user completed".to_owned(),
            (true, _) => format!("the run was stopped before any of {started} completed"),
            (false, 1) => "the 1 user did not complete".to_owned(),
            (false, _) => format!("none of {started} completed"),
        });
    }
    let ruled =
        |name: &String| name == "vusers.failed" || name == "users.failed" || name.starts_with("errors.");
    if users.failed > 0 && !named.iter().any(ruled) {
        let failed = format!("{} of {} failed", grouped(users.failed), counted(users.started, "user"));
        verdict.fail(format!("{failed} ({}){}", percent(users.failed, users.started), because(summary)));
    }
    let refused: u64 =
        summary.http_codes.iter().filter(|(code, _)| **code >= 500).map(|(_, count)| count).sum();
    if refused > 0 {
        let all = summary.http_codes.values().sum();
        let (were, share) = (of(refused, all, "HTTP responses"), percent(refused, all));
        let how = "they fail a run only by a threshold on `http.codes.<code>`";
        verdict.hints.push(format!("{were} server errors ({share}); {how}"));
    }
}

/// Whether users got on with flows that only the end of the run's time, or its user, ended: no user completes an endless
/// flow, so that nobody did is no failure. A run in which nothing at all succeeded has no such excuse.
fn ran_until_stopped(summary: &Summary) -> bool {
    summary.users.stopped > 0 && summary.kinds.iter().any(|kind| kind.count > kind.failed)
}

/// What went wrong in `before`: nobody is planned after it has failed, so all errors of such a run are its.
fn failed_before(summary: &Summary) -> Option<String> {
    if summary.users.planned > 0 {
        return None;
    }
    let first = summary.errors.iter().min_by(|a, b| a.first_at_s.total_cmp(&b.first_at_s))?;
    let at = first.operation.as_ref().map(|name| format!(" at {name}")).unwrap_or_default();
    Some(format!("`before` failed{at}: {}", first.code))
}

fn because(summary: &Summary) -> String {
    // Functions name their failures themselves: what goes wrong at one place may have many names.
    let mut places: Vec<(&ErrorSummary, u64)> = Vec::new();
    for error in &summary.errors {
        let is_here = |known: &ErrorSummary| known.code == error.code && known.operation == error.operation;
        match places.iter_mut().find(|(known, _)| is_here(known)) {
            Some((_, count)) => *count += error.count,
            None => places.push((error, error.count)),
        }
    }
    let Some((most, count)) = places.into_iter().rev().max_by_key(|(_, count)| *count) else {
        return String::new();
    };
    let at = most.operation.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    format!("; most frequent error: {}{at} ({})", most.code, grouped(count))
}

fn hint_errors(summary: &Summary, verdict: &mut Verdict) {
    for error in summary.errors.iter().take(3) {
        let hint = Failure::from_code(&error.code).and_then(Failure::hint);
        if let Some(hint) =
            hint.map(|hint| format!("{}: {hint}", error.code)).filter(|h| !verdict.hints.contains(h))
        {
            verdict.hints.push(hint);
        }
    }
}

fn praise(summary: &Summary) -> String {
    match summary.delivery.as_ref().and_then(|delivery| all_arrived(&delivery.counts)) {
        Some(praise) => praise,
        _ => match (summary.users.completed, summary.users.stopped) {
            (0, stopped @ 1..) => {
                let were = if stopped == 1 { "was" } else { "were" };
                let failed = grouped(summary.users.failed);
                format!("{} {were} stopped in mid-flow, {failed} failed", counted(stopped, "user"))
            }
            (completed, _) => format!("{} completed", counted(completed, "user")),
        },
    }
}

/// Says so when something was owed and all of it came.
pub fn all_arrived(counts: &Counts) -> Option<String> {
    let Counts { owed, lost, outstanding, .. } = *counts;
    (owed > 0 && lost == 0 && outstanding == 0).then(|| format!("all {} owed copies arrived", grouped(owed)))
}

/// `1 user`, `2,000 users`
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `3,012 of 100,000 owed copies were`
fn of(part: u64, whole: u64, what: &str) -> String {
    format!("{} of {} {what} {}", grouped(part), grouped(whole), if part == 1 { "was" } else { "were" })
}

/// `3,012 copies were`
fn copies(count: u64) -> String {
    if count == 1 { "1 copy was".to_owned() } else { format!("{} copies were", grouped(count)) }
}

/// `3.0 %`
fn percent(part: u64, whole: u64) -> String {
    match 100.0 * part as f64 / whole.max(1) as f64 {
        share if share >= 0.1 => format!("{share:.1} %"),
        share if share >= 0.001 => format!("{share:.3} %"),
        _ => "< 0.001 %".to_owned(),
    }
}

/// A count with thousands separated: `12,345`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
