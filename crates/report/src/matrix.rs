//! A script's runs over its matrix, side by side: one document, one table.
//!
//! Everything shown is computed from the runs' summaries ([`figures`]), so the table on the terminal, the one in
//! Markdown and the document cannot disagree. The one decision a reader would question: a run *held its users* only
//! when it passed, every copy owed arrived, and the population asked for was connected at one time. Whether it was also
//! fast is for the reader of the latencies.

mod figures;
mod fingerprint;
mod judged;
mod markdown;
mod paged;
mod rows;
mod table;

pub use figures::Figures;
pub use fingerprint::Fingerprint;
pub use judged::{Answer, Asked, MARGIN};
pub use markdown::markdown;

use crate::figures::{bytes, count, counted};
use crate::page::{Page, Tone, tame};
use crate::{choice, comparison};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sonagi_measure::summary::{Cause, Conclusion, Summary};

/// Runs that did not hold their users and are told one by one.
const OTHERS: usize = 20;

/// A script's runs over its matrix, as far as they have got. `matrix.json` in the folder that holds the runs' folders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// The script's name.
    pub name: String,
    /// When the first run began, RFC 3339 in UTC.
    pub started: String,
    /// Sonagi's version.
    pub version: String,
    /// The command that began it, word by word, secrets masked.
    #[serde(default)]
    pub command: Vec<String>,
    /// The machine of both sides, in words; empty if unknown.
    #[serde(default)]
    pub machine: String,
    /// Names of the axes, in the matrix's order.
    pub axes: Vec<String>,
    /// How many runs the matrix asks for, but for the one that shows drift.
    pub planned: usize,
    /// How often each combination is run; 0 and 1: once.
    #[serde(default)]
    pub repeat: usize,
    /// Draws the order of each round, and the seed of its runs if they have any; None where nothing is repeated.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The combinations, in the matrix's order.
    #[serde(default)]
    pub combinations: Vec<Map<String, Value>>,
    /// What the script asks of its runs.
    #[serde(default)]
    pub compare: Option<Asked>,
    /// The finished runs, in the order in which they were made.
    pub runs: Vec<Run>,
    /// What they say together; see [`Matrix::judge`].
    #[serde(skip)]
    pub answer: Answer,
}

/// A run of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// A value for each axis.
    pub combination: Map<String, Value>,
    /// The round it is of, from 1; None where nothing is repeated.
    #[serde(default)]
    pub round: Option<usize>,
    /// Whether it is the first combination run once more behind all rounds, to show what the machine did meanwhile; it
    /// is compared with nothing else.
    #[serde(default)]
    pub is_anchor: bool,
    /// The seed of its random choices, where runs are repeated.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The machine just before it.
    #[serde(default)]
    pub before: Option<Fingerprint>,
    /// The run's summary; None: it could not be run.
    pub summary: Option<Summary>,
    /// Why there is no summary: what could not be started.
    pub error: Option<String>,
    /// What broke first in it, in a sentence, if that was found.
    #[serde(default)]
    pub cause: Option<String>,
}

impl Run {
    /// `sse 1,000`: the values of its axes; `sse 1,000, round 2` where runs are repeated.
    pub fn label(&self) -> String {
        let turn = match self.round {
            _ if self.is_anchor => Some("once more".to_owned()),
            round => round.map(|round| format!("round {round}")),
        };
        let combination = Some(label(&self.combination)).filter(|label| !label.is_empty());
        combination.into_iter().chain(turn).collect::<Vec<_>>().join(", ")
    }

    /// Whether it passed with all its users connected at one time and every copy owed delivered.
    pub fn held(&self) -> bool {
        self.summary.as_ref().is_some_and(held)
    }
}

fn held(run: &Summary) -> bool {
    let all_arrived = run.delivery.as_ref().is_none_or(|delivery| delivery.counts.lost == 0);
    let all_connected = run.users.wanted.is_none_or(|wanted| figures::users_held(run) >= wanted);
    run.verdict.result == Conclusion::Pass && run.complete && !run.interrupted && all_arrived && all_connected
}

/// A run's environment (`run.json`) in words: `2 cores of AMD EPYC, 24.7 GB, kernel 6.8.0`.
pub fn machine(environment: &Value) -> String {
    let text = |name: &str| environment[name].as_str().map(tame).filter(|text| !text.is_empty());
    let cores = environment["cpus"].as_u64().map(|cores| counted(cores, "core"));
    let cores = match (cores, text("cpu")) {
        (Some(cores), Some(model)) => Some(format!("{cores} of {model}")),
        (cores, model) => cores.or(model),
    };
    let kib = text("memory").and_then(|memory| memory.split(' ').next()?.parse::<u64>().ok());
    let parts =
        [cores, kib.map(|kib| bytes(kib * 1024)), text("kernel").map(|kernel| format!("kernel {kernel}"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// No more sentences than anybody reads, and how many are left out.
fn bounded(mut others: Vec<String>, what: &str) -> Vec<String> {
    let left_out = others.len().saturating_sub(OTHERS);
    others.truncate(OTHERS);
    if left_out > 0 {
        others.push(format!("and {}", counted(left_out as u64, &format!("more {what}"))));
    }
    others
}

/// What most of them are, if they are anything.
fn usual<'c>(causes: impl Iterator<Item = Option<&'c str>> + Clone) -> Option<&'c str> {
    let all = causes.clone().count();
    let of = |cause: &str| causes.clone().filter(|other| *other == Some(cause)).count();
    causes.clone().flatten().find(|cause| 2 * of(cause) > all)
}

/// A combination with the names of its axes: `rate 10, pool 2`.
pub(crate) fn named(combination: &Map<String, Value>) -> String {
    let values = combination.iter().map(|(axis, of)| format!("{axis} {}", value(of)));
    values.collect::<Vec<_>>().join(", ")
}

/// The values of a combination.
fn label(combination: &Map<String, Value>) -> String {
    combination.values().map(value).collect::<Vec<_>>().join(" ")
}

/// A value of an axis as a person reads it.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), count),
        Value::String(text) => tame(text),
        other => other.to_string(),
    }
}

impl Matrix {
    /// Whether each combination is run several times.
    pub fn is_repeated(&self) -> bool {
        self.repeat > 1
    }

    /// The runs, but for the one that shows drift.
    fn compared(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| !run.is_anchor)
    }

    /// Whether a number of users was asked for, as closed runs do.
    fn asks_for_users(&self) -> bool {
        let wanted = |run: &Run| run.summary.as_ref().and_then(|summary| summary.users.wanted);
        self.compared().any(|run| wanted(run).is_some())
    }

    /// Verdict first: how many runs held their users, and why the others did not. One sentence each.
    pub fn verdict(&self) -> (String, Vec<String>) {
        let held = self.compared().filter(|run| run.held()).count();
        let owed = |run: &Run| run.summary.as_ref()?.delivery.as_ref().map(|delivery| delivery.counts.owed);
        let how = if self.compared().filter_map(owed).any(|owed| owed > 0) {
            " with every message delivered"
        } else {
            ""
        };
        let runs = counted(self.planned as u64, "run");
        let what = if self.asks_for_users() { "sustained all users" } else { "passed" };
        let mut headline = format!("{held} of {runs} {what}{how}");
        let made = self.compared().count();
        if made < self.planned {
            headline.push_str(&format!("; {} not run", self.planned - made));
        }
        let others = self.compared().filter(|run| !run.held());
        (headline, others.map(|run| format!("{}: {}", run.label(), run.why_not())).collect())
    }

    /// Whether every run asked for was run and held its users.
    pub fn all_held(&self) -> bool {
        self.compared().count() == self.planned && self.compared().all(Run::held)
    }

    /// The whole on a terminal of `width` columns: verdict, which is best, the table, then what that stands on.
    pub fn console(&self, width: usize, colour: bool) -> String {
        let mut page = Page::new(width, colour);
        let (headline, others) = self.verdict();
        let tone = if self.all_held() { Tone::Good } else { Tone::Bad };
        page.entry("matrix", tone, &format!("{headline} · {}", self.name));
        bounded(others, "run").iter().for_each(|why| page.more(why));
        for choice in &self.answer.choices {
            page.entry(choice::label(choice), choice::tone(choice), &choice::headline(choice));
        }
        table::draw(&mut page, self);
        self.answer.choices.iter().for_each(|choice| choice::draw(&mut page, choice));
        let remarks = self.remarks();
        if !remarks.is_empty() {
            page.blank();
        }
        remarks.iter().for_each(|(label, sentence)| page.entry(label, Tone::Faint, sentence));
        page.finish()
    }

    /// What broke first in most runs of a combination, each cause once with the combinations that have it.
    fn causes(&self) -> Vec<String> {
        let mut all: Vec<(&str, Vec<String>)> = Vec::new();
        for (combination, runs) in self.by_combination() {
            let Some(cause) = usual(runs.iter().map(|run| run.cause.as_deref())) else { continue };
            let name = named(combination);
            match all.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, names)) => names.push(name),
                None => all.push((cause, vec![name])),
            }
        }
        let told = |(cause, names): (&str, Vec<String>)| {
            let names = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join("; ");
            if names.is_empty() { cause.to_owned() } else { format!("{names}: {cause}") }
        };
        bounded(all.into_iter().map(told).collect(), "cause")
    }

    /// What else there is to say, each with its label.
    fn remarks(&self) -> Vec<(&'static str, String)> {
        let causes = self.causes().into_iter().map(|cause| ("cause", cause));
        let drift = self.answer.drift.as_ref().map(|drift| ("drift", choice::drift(drift)));
        let asks = self.compare.is_some() || self.is_repeated();
        let warm_up = asks.then(|| comparison::warm_up(&self.answer.observed)).flatten();
        let machine = [fingerprint::sentence(self), fingerprint::frequency(self)].into_iter().flatten();
        let seed = self.seed.filter(|_| self.is_repeated());
        let are_seeded = self.runs.iter().any(|run| run.seed.is_some());
        let drawn = |seed| match are_seeded {
            true => format!("{seed} draws the order of each round and its runs' seeds"),
            false => format!("{seed} draws the order of each round"),
        };
        let seed = seed.map(|seed| ("seed", drawn(seed)));
        causes
            .chain(drift)
            .chain(warm_up.map(|sentence| ("warm-up", sentence)))
            .chain(machine.map(|sentence| ("machine", sentence)))
            .chain(seed)
            .collect()
    }

    /// A JSON document: the matrix, its verdict, and beside each summary the table's figures. Ends with a newline.
    pub fn document(&self) -> String {
        let (headline, others) = self.verdict();
        let runs: Vec<Value> = self.runs.iter().map(Run::document).collect();
        let document = json!({
            "name": self.name,
            "started": self.started,
            "version": self.version,
            "machine": self.machine,
            "command": self.command,
            "axes": self.axes,
            "planned": self.planned,
            "repeat": self.repeat.max(1),
            "seed": self.seed,
            "combinations": self.combinations,
            "compare": self.compare,
            "verdict": { "headline": headline, "others": others },
            "comparison": (self.answer != Answer::default()).then_some(&self.answer),
            "runs": runs,
        });
        format!("{document:#}\n")
    }

    /// Reads what [`Matrix::document`] wrote; what it adds for readers is computed again.
    ///
    /// # Errors
    /// The text is no such document.
    pub fn read(document: &str) -> Result<Matrix, serde_json::Error> {
        serde_json::from_str(document)
    }
}

impl Run {
    fn document(&self) -> Value {
        json!({
            "combination": self.combination,
            "round": self.round,
            "is_anchor": self.is_anchor,
            "seed": self.seed,
            "before": self.before,
            "held": self.held(),
            "why_not": (!self.held()).then(|| self.why_not()),
            "figures": self.summary.as_ref().map(Figures::of),
            "error": self.error,
            "cause": self.cause,
            "summary": self.summary,
        })
    }

    /// The side that was at its limit, or another reason, for a run that did not hold its users.
    fn why_not(&self) -> String {
        let Some(run) = &self.summary else {
            let why = self.error.as_deref().unwrap_or("it was not run");
            let first = why.lines().next().unwrap_or_default();
            return format!("could not run: {}", tame(first.trim_start_matches("error: ")));
        };
        let sides = saturated(run);
        // A service that ended is the first reason; the generator's own findings are among the sides; and beside a side
        // at its limit the first reason is enough.
        let has_ended = run.service.as_ref().is_some_and(|service| service.ended.is_some());
        let reasons = match (run.verdict.result, sides.len()) {
            (Conclusion::Invalid, _) => usize::from(has_ended),
            (_, 0) => usize::MAX,
            _ => 1,
        };
        let mut causes: Vec<String> = troubles(run).into_iter().take(reasons).collect();
        causes.extend(sides);
        format!("{}; {}", run.verdict.result.word(), causes.join("; "))
    }
}

/// The sides that were at their limit, the one that makes the others' figures doubtful first.
pub fn saturated(run: &Summary) -> Vec<String> {
    let mut sides = Vec::new();
    if run.verdict.result == Conclusion::Invalid {
        let finding = run.generator.findings.first().map_or("it fell behind", String::as_str);
        let was = if run.generator.cause == Some(Cause::Starved) { "was starved" } else { "saturated" };
        sides.push(format!("the generator {was}: {}", tame(finding)));
    }
    let Some(service) = &run.service else { return sides };
    if service.is_saturated() {
        let (seconds, workers) = (counted(service.full_s, "second"), counted(service.workers, "worker"));
        sides.push(format!("the service saturated: its {workers} had no time left for {seconds}"));
    }
    if service.is_machine_saturated() {
        let (seconds, cores) = (counted(service.machine_full_s, "second"), service.machine_cores);
        sides.push(format!(
            "the machine saturated: both sides together filled its {cores} cores for {seconds}"
        ));
    }
    sides
}

/// The failures of a run that no side's limit explains.
fn troubles(run: &Summary) -> Vec<String> {
    let mut troubles: Vec<String> = run.verdict.reasons.iter().map(|reason| tame(reason)).collect();
    if run.verdict.result == Conclusion::Pass {
        troubles.clear();
    }
    let most = figures::users_held(run);
    if let Some(wanted) = run.users.wanted.filter(|wanted| most < *wanted) {
        let connected = count(most);
        troubles.push(format!("{connected} of {} users were connected at one time", count(wanted)));
    }
    if troubles.is_empty() {
        troubles.push("it was cut off".to_owned());
    }
    troubles
}
