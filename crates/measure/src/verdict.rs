//! From figures to PASS, FAIL or INVALID, with a sentence for each reason.
//!
//! Without a word in the script, a load test of a real-time service fails when a copy was lost, doubled, reordered or
//! leaked, when a user failed, or when no user got through. A threshold on one of these replaces its default rule. Slow
//! is never a failure by default: how slow is too slow is the user's to say.

use crate::figures::{count, counted};
use crate::ledger::Counts;
use crate::outcome::Failure;
use crate::summary::{
    Cause, Conclusion, ErrorSummary, FailOnStatus, Generator, Health, Naming, Statuses, Summary, Users,
    Verdict,
};
use crate::thresholds::{Judged, Subject};

/// The reliability of an INVALID run's figures, and the remedy; `spreading` are the settings of the script's language
/// that spread a load.
pub fn advice(generator: &Generator, spreading: &str) -> String {
    let helps: String = match generator.cause {
        Some(Cause::Starved) => {
            "it was starved, not overloaded: stop what else runs on this machine, give it cores of its own (`taskset`, \
             a higher CPU limit of its container), or use another machine"
                .into()
        }
        Some(Cause::Exhausted) => {
            return "results unreliable: the load generator ran out of local ports or file descriptors; raise `ulimit \
                    -n`, or spread connections over several local addresses (`--source-address`)".to_owned();
        }
        Some(Cause::Bursts) => format!(
            "its cores had time left: spread what is planned for the same instant{spreading}, or ask for no less than \
             this machine's timers can tell"
        ),
        Some(Cause::Overloaded) | None => {
            "lower the load per shard, add shards, or use a faster or idle machine".into()
        }
    };
    format!("results unreliable: the load generator fell behind; {helps}")
}

impl Summary {
    /// The same run as its script's language judges it, by rules of its own: what its thresholds came to, for what else
    /// it failed (a sentence each), and what is worth knowing. A generator that fell behind and a stop are what they
    /// are in every run.
    #[must_use]
    pub fn judged_by_rules(
        mut self,
        thresholds: Vec<Judged>,
        failures: Vec<String>,
        hints: Vec<String>,
    ) -> Summary {
        self.thresholds = thresholds;
        let mut verdict = judge_thresholds(&self);
        failures.into_iter().for_each(|reason| verdict.fail(reason));
        verdict.hints.extend(hints);
        self.verdict = concluded(&self, &Naming::PATHS, verdict);
        self
    }
}

/// Judges a summary whose other fields are filled in.
pub(crate) fn judge(summary: &Summary, naming: &Naming) -> Verdict {
    let limited = limited(summary, naming);
    let mut verdict = judge_demands(summary, &limited, naming);
    judge_users(summary, &limited, naming, &mut verdict);
    judge_statuses(&summary.statuses, &limited, naming, &mut verdict);
    concluded(summary, naming, verdict)
}

/// The verdict with what the errors hint at, what the generator's health means and whether the run was stopped.
fn concluded(summary: &Summary, naming: &Naming, mut verdict: Verdict) -> Verdict {
    hint_errors(summary, &mut verdict);
    if summary.generator.state == Health::Invalid {
        verdict.result = Conclusion::Invalid;
        let findings = summary.generator.findings.iter().cloned();
        verdict.reasons.splice(0..0, findings);
        verdict.hints.insert(0, advice(&summary.generator, naming.spreading));
    } else if summary.generator.state == Health::Warn {
        verdict.hints.extend(summary.generator.findings.iter().cloned());
    }
    if verdict.reasons.is_empty() {
        verdict.reasons.push(praise(summary));
    }
    if summary.interrupted {
        interrupt(summary, &mut verdict);
    }
    verdict
}

/// The prefix of statements about a part of a run.
const UNTIL_THEN: &str = "until then: ";

/// A run that was stopped is neither passed nor failed: its plan was not carried out. What did not hold and what did is
/// said of the part that was.
fn interrupt(summary: &Summary, verdict: &mut Verdict) {
    let mut said = std::mem::take(&mut verdict.reasons);
    let held = summary.thresholds.iter().filter(|threshold| threshold.held).count() as u64;
    if held > 0 {
        let all = counted(summary.thresholds.len() as u64, "threshold");
        said.push(format!("{} of {all} passed", count(held)));
    }
    if verdict.result != Conclusion::Pass {
        said.extend(summary.delivery.as_ref().and_then(|delivery| all_arrived(&delivery.counts)));
    }
    verdict.result = Conclusion::Interrupted;
    verdict.reasons =
        vec![format!("stopped after {:.1} s: the figures cover what ran until then", summary.duration_s)];
    verdict.reasons.extend(said.into_iter().map(|reason| format!("{UNTIL_THEN}{reason}")));
}

/// The subjects that thresholds are about: their default rules do not apply.
fn limited(summary: &Summary, naming: &Naming) -> Vec<Subject> {
    let metrics = summary.thresholds.iter().flat_map(|threshold| &threshold.metrics);
    metrics.filter_map(|metric| (naming.subject)(metric)).collect()
}

/// Judges the script's demands on the whole run: its thresholds, and the delivery of its messages.
fn judge_demands(summary: &Summary, limited: &[Subject], naming: &Naming) -> Verdict {
    let mut verdict = judge_thresholds(summary);
    judge_delivery(summary, limited, naming, &mut verdict);
    verdict
}

fn judge_thresholds(summary: &Summary) -> Verdict {
    let mut verdict = Verdict::default();
    for threshold in summary.thresholds.iter().filter(|t| !t.held) {
        if threshold.strict {
            verdict.fail(broken(threshold));
        } else {
            verdict.hints.push(format!("not strict, but {}", broken(threshold)));
        }
    }
    verdict
}

/// Adds to a verdict that responses were not as the script expected. Whether that decides the exit code: users that
/// failed, perhaps by the same responses, do not take it from them; a demand on the whole run does.
pub(crate) fn expect(summary: &mut Summary, naming: &Naming) -> bool {
    let expectations = &summary.expectations;
    if expectations.failed == 0 {
        return false;
    }
    let all = expectations.ok + expectations.failed;
    let kinds = expectations.kinds.iter().filter(|(_, expected)| expected.failed > 0);
    let kinds: Vec<&str> = kinds.take(3).map(|(kind, _)| kind.as_str()).collect();
    let failed = of(expectations.failed, all, "expectations");
    let reason = format!("{failed} not met ({})", kinds.join(", "));
    let demands = judge_demands(summary, &limited(summary, naming), naming);
    let is_decisive = demands.result == Conclusion::Pass && failed_before(summary, naming).is_none();
    let verdict = &mut summary.verdict;
    match verdict.result {
        // They stay what they are, but what was not as expected is still worth reading.
        Conclusion::Invalid => verdict.reasons.push(reason),
        Conclusion::Interrupted => verdict.reasons.insert(1, format!("{UNTIL_THEN}{reason}")),
        Conclusion::Pass => verdict.reasons = vec![reason],
        Conclusion::Fail => verdict.reasons.push(reason),
    }
    if matches!(verdict.result, Conclusion::Invalid | Conclusion::Interrupted) {
        return false;
    }
    verdict.result = Conclusion::Fail;
    is_decisive
}

/// Client errors (4xx) that nobody asked for are told of from so many on, and from this share of all.
const REFUSALS: (u64, f64) = (3, 0.005);

impl Verdict {
    fn fail(&mut self, reason: String) {
        self.result = Conclusion::Fail;
        self.reasons.push(reason);
    }
}

fn broken(threshold: &Judged) -> String {
    let Judged { expression, evidence, ended_run_s, .. } = threshold;
    let ended = ended_run_s.map(|after| format!(" and ended the run after {after:.1} s")).unwrap_or_default();
    format!("the threshold `{expression}` failed{ended}: {evidence}")
}

fn judge_delivery(summary: &Summary, limited: &[Subject], naming: &Naming, verdict: &mut Verdict) {
    let Some(delivery) = &summary.delivery else { return };
    let Delivered { faults, hints } = delivered(&delivery.counts, naming);
    let faults = faults.into_iter().filter(|fault| !limited.contains(&fault.subject));
    faults.for_each(|fault| verdict.fail(fault.reason));
    verdict.hints.extend(hints);
}

/// The statements about a run's deliveries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// The faults, worst first.
    pub faults: Vec<Fault>,
    /// Further remarks.
    pub hints: Vec<String>,
}

/// Copies that did not come as they should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A threshold on this takes the place of the rule that this is a failure.
    pub subject: Subject,
    /// In a sentence.
    pub reason: String,
}

/// Says what the ledger's counts mean.
pub fn delivered(counts: &Counts, naming: &Naming) -> Delivered {
    let Counts { lost, leaked, duplicate, reordered, .. } = *counts;
    let of_owed = of(lost, counts.owed, "expected deliveries");
    let each = [
        (lost, Subject::Lost, format!("{of_owed} lost ({})", percent(lost, counts.owed))),
        (leaked, Subject::Leaked, format!("{} received by users who were not in the room", copies(leaked))),
        (duplicate, Subject::Duplicate, counted(duplicate, "duplicate")),
        (reordered, Subject::Reordered, format!("{} out of order", copies(reordered))),
    ];
    let faults = each.into_iter().filter(|(count, ..)| *count > 0);
    let faults = faults.map(|(_, subject, reason)| Fault { subject, reason }).collect();
    Delivered { faults, hints: doubts(counts, naming) }
}

fn doubts(counts: &Counts, naming: &Naming) -> Vec<String> {
    let mut hints = Vec::new();
    if counts.unknown > 0 {
        let belong = match counts.unknown {
            1 => "1 copy belongs to a message".to_owned(),
            unknown => format!("{} copies belong to messages", count(unknown)),
        };
        hints.push(format!("{belong} the target never acknowledged: not counted as lost"));
    }
    hints.extend(why_lost(counts, naming));
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

/// The usual cause of losses of these kinds, if it is more likely than a target that loses messages.
fn why_lost(counts: &Counts, naming: &Naming) -> Option<String> {
    let Counts { owed, lost, lost_own, leaked, settling, foreign, .. } = *counts;
    if lost == 0 {
        return None;
    }
    if lost < owed {
        let why = "every lost copy was the sender's own: if the target sends to everybody but the sender \
                   (`socket.to(room).emit`), set `delivery: { echo: false }`";
        return if lost == lost_own { Some(why.to_owned()) } else { where_lost(counts) };
    }
    let why = match (leaked, settling + foreign) {
        (0, 0) => {
            let why = "nobody received a message with a stamp: does the target send on what this event or destination \
                       brings, with its text, and is the script's `room` the room users really join?";
            return Some(format!("{why}{}", naming.answer_shown));
        }
        (0, _) => {
            "nobody received what was owed to it: what came was near a join or leave, the sender's own (`echo: \
             false`), or of another run"
        }
        _ => {
            "messages came only to users outside the room: is the script's `room` the room users really join?"
        }
    };
    Some(why.to_owned())
}

/// Where most of the lost copies were, which says what to look at.
fn where_lost(counts: &Counts) -> Option<String> {
    let Counts { lost, lost_tail, lost_gap, never_accepted, lost_after_join, .. } = *counts;
    let after_join = "sent within a second of the receiver's join, before anything reached it: a target may say that \
                      somebody is in before it is so; `settle: 1` (`delivery`) leaves that second out";
    let tail = "the last ones their receivers were owed, and nothing came after them: a backlog or a dead target; a \
                longer `drain` (`delivery`) tells whether they were only late";
    let nowhere = "of messages that reached nobody: the target had not read them when the `drain` (`delivery`) was \
                   over, or dropped them before it sent a copy";
    let gap =
        "left out between others that arrived: does the target drop copies when a client's queue is full?";
    let parts =
        [(lost_after_join, after_join), (lost_tail, tail), (never_accepted, nowhere), (lost_gap, gap)];
    let (part, why) = parts.into_iter().find(|(part, _)| 2 * part >= lost)?;
    Some(format!("{} {why}", of(part, lost, "lost copies")))
}

fn judge_users(summary: &Summary, limited: &[Subject], naming: &Naming, verdict: &mut Verdict) {
    let users = &summary.users;
    let noun = users.noun();
    if let Some(cause) = failed_before(summary, naming) {
        // Whatever else did not hold follows from it.
        verdict.result = Conclusion::Fail;
        verdict.reasons.insert(0, format!("no {noun} was started: {cause}"));
    } else if users.completed == 0 && !ran_until_stopped(summary) && !summary.interrupted {
        verdict.fail(match users.started {
            0 => format!("no {noun} was started"),
            1 if users.failed == 1 => format!("the only {noun} failed"),
            1 => format!("the only {noun} did not complete"),
            started => format!("none of {} completed", counted(started, noun)),
        });
    }
    if users.failed > 0 && !limited.contains(&Subject::FailedUsers) {
        let failed = format!("{} of {} failed", count(users.failed), counted(users.started, noun));
        verdict.fail(format!("{failed} ({}){}", percent(users.failed, users.started), because(summary)));
    }
    let is_judged = summary.statuses.fail_on != FailOnStatus::All || are_all_errors(summary);
    if !is_judged {
        verdict.hints.extend(hint_statuses(summary, naming));
    }
}

/// Error statuses that fail no run and are worth a word: the fast answers of a target that refuses look good otherwise.
fn hint_statuses(summary: &Summary, naming: &Naming) -> Vec<String> {
    let all: u64 = summary.http_codes.values().sum();
    let answered =
        |codes: std::ops::Range<u16>| summary.http_codes.range(codes).map(|(_, times)| times).sum::<u64>();
    let unasked = answered(400..500).saturating_sub(summary.statuses.expected);
    let mut hints = Vec::new();
    let mut hint = |times: u64, what: &str| {
        let (were, share) = (of(times, all, "HTTP responses"), percent(times, all));
        let counts = naming.status_counts;
        let how = format!("they fail a run by a threshold on `{counts}.<code>` or by `--fail-on-status any`");
        hints.push(format!("{were} {what} ({share}); {how}"));
    };
    let refused = answered(500..u16::MAX);
    if refused > 0 {
        hint(refused, "server errors");
    }
    if unasked >= REFUSALS.0 && unasked as f64 >= REFUSALS.1 * all as f64 {
        hint(unasked, "client errors");
    }
    hints
}

/// Whether all answers were errors that nobody asked for.
fn are_all_errors(summary: &Summary) -> bool {
    let Statuses { answers, errors, expected, .. } = summary.statuses;
    answers > 0 && errors == answers && expected == 0
}

/// Answers that are nothing but errors are no answers to a load test: a wrong path or token makes the fastest target of
/// all.
fn judge_statuses(statuses: &Statuses, limited: &[Subject], naming: &Naming, verdict: &mut Verdict) {
    let Statuses { answers, errors, expected, fail_on, codes } = statuses;
    let unasked = errors.saturating_sub(*expected);
    let fails = match fail_on {
        FailOnStatus::All => unasked > 0 && unasked == *answers,
        FailOnStatus::Any => unasked > 0,
        FailOnStatus::Never => false,
    };
    if !fails || limited.contains(&Subject::Statuses) {
        return;
    }
    let by_code = codes.iter().map(|(code, times)| format!("{code}: {}", count(*times)));
    let by_code = by_code.collect::<Vec<_>>().join(", ");
    let were = if unasked == 1 { "was an error status" } else { "were error statuses" };
    let all = count(*answers);
    verdict.fail(match (unasked == *answers, answers) {
        (true, 1) => format!("the only HTTP answer was an error status ({by_code})"),
        (true, _) => format!("every one of {all} HTTP answers was an error status ({by_code})"),
        (false, _) => format!("{} of {all} HTTP answers {were} ({by_code})", count(unasked)),
    });
    let Naming { status_wanted, status_counts, .. } = naming;
    verdict.hints.push(format!(
        "check the path and the credentials; to ask for such a status: {status_wanted}a threshold on \
         `{status_counts}.404`, or `--fail-on-status never`"
    ));
}

/// Whether users got on with flows that only the end of the run's time, or its user, ended: no user completes an
/// endless flow, so that nobody did is no failure. A run in which nothing at all succeeded has no such excuse.
fn ran_until_stopped(summary: &Summary) -> bool {
    summary.users.stopped > 0 && summary.kinds.iter().any(|kind| kind.count > kind.failed)
}

/// The failure of what is done before the load: nobody arrives after it has failed, so all errors of such a run are
/// its.
fn failed_before(summary: &Summary, naming: &Naming) -> Option<String> {
    let Users { started, missed, skipped, .. } = summary.users;
    if started + missed + skipped > 0 {
        return None;
    }
    let first = summary.errors.iter().min_by(|a, b| a.first_at_s.total_cmp(&b.first_at_s))?;
    let at = first.operation.as_ref().map(|name| format!(" at {name}")).unwrap_or_default();
    Some(format!("{} failed{at}: {}", naming.before, first.code))
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
    let Some((most, times)) = places.into_iter().rev().max_by_key(|(_, times)| *times) else {
        return String::new();
    };
    let at = most.operation.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
    format!("; most frequent error: {}{at} ({})", most.code, count(times))
}

fn hint_errors(summary: &Summary, verdict: &mut Verdict) {
    for error in summary.errors.iter().take(3) {
        let hint = Failure::from_code(&error.code).and_then(Failure::hint);
        let hint = hint.map(|hint| format!("{}: {hint}", error.code));
        verdict.hints.extend(hint.filter(|hint| !verdict.hints.contains(hint)));
    }
}

fn praise(summary: &Summary) -> String {
    let noun = summary.users.noun();
    if let Some(praise) = summary.delivery.as_ref().and_then(|delivery| all_arrived(&delivery.counts)) {
        return praise;
    }
    match (summary.users.completed, summary.users.stopped) {
        (0, stopped @ 1..) => {
            let were = if stopped == 1 { "was" } else { "were" };
            let failed = count(summary.users.failed);
            format!("{} {were} stopped in mid-flow, {failed} failed", counted(stopped, noun))
        }
        (0, 0) if summary.users.started == 0 => format!("no {noun} was started"),
        (0, 0) => format!("no {noun} completed"),
        (completed, _) => format!("{} completed", counted(completed, noun)),
    }
}

/// Says so when something was owed and all of it came.
pub fn all_arrived(counts: &Counts) -> Option<String> {
    let Counts { owed, lost, outstanding, .. } = *counts;
    (owed > 0 && lost == 0 && outstanding == 0).then(|| match owed {
        1 => "the only expected delivery received".to_owned(),
        _ => format!("all {} expected deliveries received", count(owed)),
    })
}

/// Says why nothing was owed to anybody, when nothing was.
pub fn nothing_owed(counts: &Counts) -> Option<String> {
    let why = match *counts {
        Counts { owed: 1.., .. } => return None,
        Counts { messages: 0, .. } => "none with a stamp was sent",
        Counts { unknown: 1.., .. } => "the target acknowledged none",
        Counts { settling: 1.., .. } => "all fell near a join or leave",
        _ => "nobody to receive one had joined its room",
    };
    Some(format!("no message was owed: {why}"))
}

/// `3,012 of 100,000 expected deliveries were`
fn of(part: u64, whole: u64, what: &str) -> String {
    format!("{} of {} {what} {}", count(part), count(whole), if part == 1 { "was" } else { "were" })
}

/// `3,012 copies were`
fn copies(n: u64) -> String {
    if n == 1 { "1 copy was".to_owned() } else { format!("{} copies were", count(n)) }
}

/// `3.0 %`
fn percent(part: u64, whole: u64) -> String {
    match 100.0 * part as f64 / whole.max(1) as f64 {
        share if share >= 0.1 => format!("{share:.1} %"),
        share if share >= 0.001 => format!("{share:.3} %"),
        _ => "< 0.001 %".to_owned(),
    }
}
