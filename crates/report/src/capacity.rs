//! The capacity of a target: the verdict first, then the curve of load against latency and delivery.

mod paged;
mod preflight;

pub use preflight::{GeneratorLimit, Preflight, PreflightFinding};

use crate::comparison::percentage;
use crate::figures::{count, counted, figure, median, percent};
use crate::page::{Page, Tone, padded};
use serde::{Deserialize, Serialize};
use sonagi_verdict::capacity::{Bound, End, Found, Goal, Outcome, Trial};
use std::collections::BTreeSet;

/// The share of the capacity that a service is best operated at: what is left is for peaks, and for a host that fails.
const OPERATED_SHARE: f64 = 0.7;
/// A probe of the target's recovery that is longer than this has not seen it at once (s).
const SHORT_PROBE_S: f64 = 5.0;
/// Late copies are told from this share on.
const LATE_SHARE: f64 = 0.001;

/// A search for a capacity, as far as it has got. `capacity.json` in the folder that holds its trials' folders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The script's name.
    pub name: String,
    /// When the first trial began, RFC 3339 in UTC.
    pub started: String,
    /// Sonagi's version.
    pub version: String,
    /// The command that began it, word by word, secrets masked.
    #[serde(default)]
    pub command: Vec<String>,
    /// What was varied: `rate`, `users` or the name of a variable.
    pub varied: String,
    /// The expression that held or did not.
    pub until: String,
    /// The range, and how sure the answer was to be.
    pub goal: Goal,
    /// Why the search ended; None: it goes on, or was cut off.
    pub end: Option<End>,
    /// What is known.
    pub found: Found,
    /// The load to operate the service at.
    pub operate_at: Option<u64>,
    /// What broke first in the lowest trial that failed.
    pub limited_by: Option<String>,
    /// This machine before the first trial; None: nobody looked.
    #[serde(default)]
    pub preflight: Option<Preflight>,
    /// Of a generator that could do no more, the limit that the preflight had found, if that explains it.
    #[serde(default)]
    pub generator_limit: Option<GeneratorLimit>,
    /// What kept the search from an answer.
    pub trouble: Option<String>,
    /// All trials, in their order.
    pub trials: Vec<TrialRow>,
    /// How long the target took to be itself again, trial by trial that failed.
    pub recoveries: Vec<Recovery>,
    /// Seconds that the search might take, and those it took.
    pub budget_s: f64,
    /// Seconds it took so far.
    pub used_s: f64,
}

/// A trial with what it measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// Load, length and outcome.
    #[serde(flatten)]
    pub trial: Trial,
    /// Whether it was of full length.
    pub is_full: bool,
    /// What the target did in a second: of a rate, users that came to their end; else operations.
    pub achieved_per_s: Option<f64>,
    /// Median latency: of deliveries, or else of responses.
    pub p50_ms: Option<f64>,
    /// Its 99th percentile.
    pub p99_ms: Option<f64>,
    /// The share of owed copies that arrived.
    pub delivered: Option<f64>,
    /// The share of them that arrived behind the script's deadline.
    #[serde(default)]
    pub late: Option<f64>,
    /// The values that the expression saw, or why the trial says nothing.
    pub evidence: String,
    /// The trial's folder, beside the document.
    pub folder: Option<String>,
}

/// How long the target took after a trial that failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// The load of the trial.
    pub after: u64,
    /// Seconds until it was itself again; None: it was not in time.
    pub seconds: Option<f64>,
    /// Seconds that it was waited for at most.
    pub patience_s: f64,
    /// How long the probe was that found it so (s); 0 where none did.
    #[serde(default)]
    pub probe_s: f64,
}

impl Capacity {
    /// The document.
    pub fn document(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("it holds texts and numbers only");
        text + "\n"
    }

    /// Reads a document.
    ///
    /// # Errors
    /// It is another one.
    pub fn read(text: &str) -> serde_json::Result<Capacity> {
        serde_json::from_str(text)
    }

    /// Fills in the load to operate at, from what was found.
    #[must_use]
    pub fn advised(mut self) -> Capacity {
        let lower = self.found.lower.as_ref().map(|bound| bound.load as f64);
        self.operate_at = lower.map(|load| rounded(load * OPERATED_SHARE)).filter(|load| *load > 0);
        self
    }

    /// A load as people read it: `840/s`, `12 users`, `room_size 40`.
    pub fn load(&self, load: u64) -> String {
        match self.varied.as_str() {
            "rate" => format!("{}/s", count(load)),
            "users" => counted(load, "user"),
            name => format!("{name} {}", count(load)),
        }
    }

    /// The text for a terminal of this width. Ends with a newline.
    pub fn console(&self, width: usize, colour: bool) -> String {
        let mut page = Page::new(width, colour);
        page.entry("capacity", self.tone(), &self.verdict());
        self.beside().iter().for_each(|sentence| page.more(sentence));
        page.entry("until", Tone::Faint, &self.until);
        self.curve(&mut page);
        page.entries("recovery", self.recovered());
        page.entry("budget", Tone::Faint, &self.budget());
        page.finish()
    }

    fn budget(&self) -> String {
        let (used, budget) = (time(self.used_s), time(self.budget_s));
        format!("{}, {used} of {budget}", counted(self.trials.len() as u64, "trial"))
    }

    fn tone(&self) -> Tone {
        match self.end {
            Some(End::Bracket | End::AtLeast) => Tone::Good,
            Some(End::Below | End::NotRecovered) => Tone::Bad,
            _ => Tone::Doubtful,
        }
    }

    /// What is known, in a sentence.
    pub fn verdict(&self) -> String {
        let Found { lower, upper, .. } = &self.found;
        match (self.end, lower, upper) {
            (Some(End::Bracket), Some(lower), Some(upper)) => {
                let width = self.found.width().unwrap_or_default() * 100.0;
                format!("{}, {}; width {width:.1}\u{a0}%", self.holds(lower), self.fails(upper))
            }
            (Some(End::AtLeast), Some(lower), _) => {
                format!("at least {}: {}, and the range ends there", self.load(lower.load), self.holds(lower))
            }
            (Some(End::Below), _, Some(upper)) => {
                let (load, failed) = (self.load(upper.load), failed(upper));
                format!("below {load}: the lowest load of the range {failed}")
            }
            (Some(End::Generator), Some(lower), _) => {
                let limit = self.generator_limit.map(|limit| format!(" ({})", limit.word()));
                let (load, limit) = (self.load(lower.load), limit.unwrap_or_default());
                format!("at least {load}, generator-limited{limit}: {}", self.holds(lower))
            }
            _ => format!("not found: {}", self.why()),
        }
    }

    fn holds(&self, Bound { load, agreeing, trials, .. }: &Bound) -> String {
        format!("{} holds (confirmed {agreeing} of {trials})", self.load(*load))
    }

    fn fails(&self, bound: &Bound) -> String {
        format!("{} {}", self.load(bound.load), failed(bound))
    }

    fn why(&self) -> String {
        match self.end {
            None => "the search was cut off".to_owned(),
            Some(End::Budget) => format!("the budget of {} is used up", time(self.budget_s)),
            Some(End::Generator) => "the generator fell behind at every load".to_owned(),
            Some(End::TooFewEvents) => "the trials have too few events to assert the expression".to_owned(),
            Some(End::NotRecovered) => {
                "the target did not come back to its lowest load after a trial".to_owned()
            }
            Some(End::Interrupted) => "the search was interrupted".to_owned(),
            _ => "a trial could not be carried out".to_owned(),
        }
    }

    /// What is told beside the verdict.
    fn beside(&self) -> Vec<String> {
        let mut all = Vec::new();
        let is_answered = match self.end {
            Some(End::Bracket | End::AtLeast | End::Below) => true,
            Some(End::Generator) => self.found.lower.is_some(),
            _ => false,
        };
        if !is_answered {
            all.push(self.known());
        }
        let limit = self.generator_limit.and_then(|limit| self.preflight.as_ref()?.finding(limit));
        all.extend(limit.map(|finding| finding.what.clone()));
        let cause = self.limited_by.as_ref().map(|cause| format!("limited by: {cause}"));
        let share = OPERATED_SHARE * 100.0;
        let operate =
            self.operate_at.map(|load| format!("operate at {} ({share:.0}\u{a0}%)", self.load(load)));
        let doubts = self.higher_that_held().into_iter().chain(self.late());
        all.extend(cause.into_iter().chain(operate).chain(doubts).chain(self.trouble.clone()));
        all
    }

    /// That loads from the upper bound on held in some of their trials of full length: the edge is not a sharp one.
    fn higher_that_held(&self) -> Option<String> {
        let upper = self.found.upper.as_ref()?.load;
        let with = |load: u64, outcome: Outcome| {
            let of = |row: &&&TrialRow| row.is_full && row.trial.outcome == outcome;
            self.trials_at(load).iter().filter(of).count()
        };
        let highest =
            self.loads().into_iter().rfind(|load| *load >= upper && with(*load, Outcome::Held) > 0)?;
        let (held, missed) = (with(highest, Outcome::Held), with(highest, Outcome::Missed));
        let of = counted((held + missed) as u64, "trial");
        Some(format!("no sharp edge: {} held in {held} of {of}", self.load(highest)))
    }

    /// That copies came too late at the load that held, if what was asked does not look at it.
    fn late(&self) -> Option<String> {
        let lower = self.found.lower.as_ref()?.load;
        let rows = self.trials_at(lower);
        let late = rows.iter().filter_map(|row| row.late).fold(0.0, f64::max);
        // `delivery.latency_ms.p99` as well as `delivery.late`.
        let is_asked = self.until.contains("late");
        (late >= LATE_SHARE && !is_asked).then(|| {
            let (load, late) = (self.load(lower), percentage(late));
            format!(
                "at {load} up to {late} of the copies came behind the deadline, which counts as delivered"
            )
        })
    }

    /// What is known of a search that has no answer.
    fn known(&self) -> String {
        let Found { lower, upper, held, missed } = &self.found;
        let unconfirmed = |load: u64, what: &str| format!("{} {what} (unconfirmed)", self.load(load));
        let lower = lower.as_ref().map(|lower| self.holds(lower));
        let upper = upper.as_ref().map(|upper| self.fails(upper));
        let lower = lower.or_else(|| held.map(|held| unconfirmed(held, "held")));
        let upper = upper.or_else(|| missed.map(|missed| unconfirmed(missed, "did not")));
        match lower.into_iter().chain(upper).collect::<Vec<_>>().as_slice() {
            [] => "nothing is known yet".to_owned(),
            known => format!("so far: {}", known.join(", ")),
        }
    }

    /// The loads that were tried, from the lowest.
    fn loads(&self) -> BTreeSet<u64> {
        self.trials.iter().map(|row| row.trial.load).collect()
    }

    fn trials_at(&self, load: u64) -> Vec<&TrialRow> {
        self.trials.iter().filter(|row| row.trial.load == load).collect()
    }

    /// Whether messages were expected to arrive.
    fn delivers(&self) -> bool {
        self.trials.iter().any(|row| row.delivered.is_some())
    }

    /// A row for each load.
    fn curve(&self, page: &mut Page) {
        let (loads, delivers) = (self.loads(), self.delivers());
        if loads.is_empty() {
            return;
        }
        page.entry("curve", Tone::Faint, &line(heads(delivers).map(str::to_owned), "verdict"));
        for load in loads {
            let rows = self.trials_at(load);
            let cells = std::iter::once(count(load)).chain(self.cells(&rows, delivers));
            page.more(&line(cells, &self.judged(load, &rows)));
        }
    }

    /// What was measured at a load.
    fn cells(&self, rows: &[&TrialRow], delivers: bool) -> Vec<String> {
        let of_target: Vec<&TrialRow> =
            rows.iter().copied().filter(|row| row.trial.outcome.is_of_target()).collect();
        let rows = if of_target.is_empty() { rows } else { &of_target };
        // The longest say most.
        let longest = rows.iter().map(|row| row.trial.seconds).fold(0.0, f64::max);
        let longest = rows.iter().filter(|row| row.trial.seconds >= longest);
        let of = |value: fn(&TrialRow) -> Option<f64>| {
            median(longest.clone().filter_map(|row| value(row)).collect())
        };
        let cell = |value: Option<f64>, told: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), told);
        let ms = |value: Option<f64>| cell(value, |ms| format!("{}\u{a0}ms", figure(ms)));
        let achieved = cell(of(|row| row.achieved_per_s), |rate| format!("{}/s", figure(rate)));
        let delivered = delivers.then(|| cell(of(|row| row.delivered), percent));
        [achieved, ms(of(|row| row.p50_ms)), ms(of(|row| row.p99_ms))].into_iter().chain(delivered).collect()
    }

    /// What the trials at a load came to.
    fn judged(&self, load: u64, rows: &[&TrialRow]) -> String {
        let with = |outcome| rows.iter().filter(|row| row.trial.outcome == outcome).count();
        let (held, missed) = (with(Outcome::Held), with(Outcome::Missed));
        let is = |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| bound.load == load);
        let judged = held + missed;
        let verdict = match (held, missed) {
            (0, 0) if with(Outcome::Stolen) > 0 => "machine was shared".to_owned(),
            (0, 0) => "generator fell behind".to_owned(),
            // What is an upper bound has failed, even if as many of its trials held.
            (held, missed) if held < missed || is(&self.found.upper) => {
                format!("failed {missed} of {judged}")
            }
            (held, _) => format!("held {held} of {judged}"),
        };
        let bound = match (is(&self.found.lower), is(&self.found.upper)) {
            (true, _) => ", lower",
            (_, true) => ", upper",
            _ => "",
        };
        format!("{verdict}{bound}")
    }

    /// How the target recovered: one line a load, and one for all after which it was itself at once.
    fn recovered(&self) -> Vec<String> {
        let loads: BTreeSet<u64> = self.recoveries.iter().map(|recovery| recovery.after).collect();
        let worst = |load: u64| {
            let of = self.recoveries.iter().filter(move |recovery| recovery.after == load);
            of.max_by(|a, b| a.seconds.unwrap_or(f64::MAX).total_cmp(&b.seconds.unwrap_or(f64::MAX)))
        };
        let told = |recovery: &Recovery| {
            let after = self.load(recovery.after);
            match recovery.seconds {
                Some(seconds) => format!("after {after}: {} until latency was as before", time(seconds)),
                None => format!("after {after}: did not recover within {}", time(recovery.patience_s)),
            }
        };
        let is_at_once = |recovery: &&Recovery| recovery.seconds.is_some_and(|seconds| seconds < 1.0);
        let (at_once, slow): (Vec<&Recovery>, Vec<&Recovery>) =
            loads.into_iter().filter_map(worst).partition(is_at_once);
        let others = (!at_once.is_empty()).then(|| {
            let probe_s = at_once.iter().map(|recovery| recovery.probe_s).fold(0.0, f64::max);
            match (probe_s > SHORT_PROBE_S, slow.is_empty()) {
                (true, true) => {
                    format!("in the first probe ({}) after every load that failed", time(probe_s))
                }
                (true, false) => format!("in the first probe ({}) after the others", time(probe_s)),
                (false, true) => "at once after every load that failed".to_owned(),
                (false, false) => "at once after the others".to_owned(),
            }
        });
        slow.into_iter().map(told).chain(others).collect()
    }
}

fn failed(Bound { agreeing, trials, .. }: &Bound) -> String {
    format!("does not (failed {agreeing} of {trials})")
}

/// The titles of the curve's columns, but for the last.
fn heads(delivers: bool) -> impl Iterator<Item = &'static str> {
    ["load", "achieved", "p50", "p99"].into_iter().chain(delivers.then_some("delivered"))
}

/// Three significant digits, as an advice needs no more; what is cut off is more of a reserve.
fn rounded(load: f64) -> u64 {
    let size = 10_f64.powf((load.max(1.0).log10().floor() - 2.0).max(0.0));
    // A nudge keeps 0.7 × 840 from being a hair below 588.
    ((load / size + 1e-9).floor() * size) as u64
}

/// Widths of the curve's columns, but for the last.
const WIDTHS: [usize; 5] = [8, 8, 8, 9, 9];

/// Cells in columns, and the last one as it is.
fn line(cells: impl IntoIterator<Item = String>, last: &str) -> String {
    // Blanks that no line is broken at, and that are not made one.
    let cells = cells.into_iter().zip(WIDTHS).map(|(cell, width)| padded(&cell, width));
    cells.chain([last.to_owned()]).collect::<Vec<_>>().join(" ").replace(' ', "\u{a0}")
}

/// `300 ms`, `45 s`, `4 min 10 s`.
pub fn time(seconds: f64) -> String {
    if seconds < 1.0 {
        return format!("{:.0} ms", seconds * 1e3);
    }
    let whole = seconds.round() as u64;
    match (whole / 60, whole % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests;
