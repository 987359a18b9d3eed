//! The names a run measures, and which of them a misspelt one was meant to be.
//!
//! Most names are the same for every run; those of operations, kinds and scenarios are the script's. Functions of a
//! script may add names of their own: what becomes of an unknown name is for the caller to say.

use serde_json::{Value, to_value};
use sonagi_measure::outcome::{Operation, OperationKind};
use sonagi_measure::summary::{Cause, Delivery, Generator, Quantiles, Statuses, Traffic, Users};
use sonagi_measure::watched;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::metrics::{COUNTS, RATES, TIMES, figures_of};

/// A family of names: the words behind its first dot.
struct Family {
    name: &'static str,
    /// Single figures, and groups whose members hang on the run.
    figures: Vec<String>,
    /// Distributions: behind them stands which figure of it.
    distributions: Vec<String>,
}

impl Family {
    /// A member of the summary, all whose numbers have names.
    fn of_summary(name: &'static str, document: serde_json::Result<Value>) -> Family {
        let mut family = Family { name, figures: Vec::new(), distributions: Vec::new() };
        for (field, value) in document.unwrap_or_default().as_object().into_iter().flatten() {
            match value {
                Value::Array(_) | Value::String(_) => {}
                Value::Object(figures) if figures.contains_key("p999") => {
                    family.distributions.push(field.clone());
                }
                _ => family.figures.push(field.clone()),
            }
        }
        family
    }

    /// One with these figures and distributions, and those of [`COUNTS`] and [`RATES`] that are named so.
    fn listed(name: &'static str, figures: &[&str], distributions: &[&str]) -> Family {
        let named = |(known, _): &(&str, _)| Some(known.strip_prefix(name)?.strip_prefix('.')?.to_owned());
        let counts = COUNTS.iter().filter_map(named);
        let figures = counts.chain(figures.iter().map(|figure| (*figure).to_owned()));
        let figures = figures.chain(RATES.iter().filter_map(named)).collect();
        Family { name, figures, distributions: distributions.iter().map(|one| (*one).to_owned()).collect() }
    }

    fn members(&self) -> impl Iterator<Item = &str> {
        self.figures.iter().chain(&self.distributions).map(String::as_str)
    }
}

static FAMILIES: LazyLock<[Family; 12]> = LazyLock::new(|| {
    let vusers = ["created", "completed", "failed", "skipped", "created_by_name"];
    // A missing cause is `null`, which would pass for a figure; one that is set is text, which has no name.
    let generator = Generator { cause: Some(Cause::Bursts), ..Generator::default() };
    [
        Family::of_summary("delivery", to_value(Delivery::default())),
        Family::listed("vusers", &vusers, &["session_length"]),
        Family::listed("http", &["codes"], &["response_time", "dns", "tcp", "tls", "total"]),
        Family::listed("websocket", &[], &[]),
        Family::listed("socketio", &[], &["response_time"]),
        Family::of_summary("users", to_value(Users::default())),
        Family::of_summary("traffic", to_value(Traffic::default())),
        Family::of_summary("generator", to_value(generator)),
        Family::of_summary("statuses", to_value(Statuses::default())),
        Family::listed("duration_s", &[], &[]),
        Family::listed("metrics_left_out", &[], &[]),
        Family::listed("samples_left_out", &[], &[]),
    ]
});

/// Families whose members hang on the run.
const OPEN: [&str; 17] = [
    "metrics",
    "errors",
    "operations",
    "kinds",
    "http_codes",
    "http_answers_ms",
    "http_classes",
    "scenarios",
    "plugins",
    "expectations",
    "apdex",
    "polls",
    "sse",
    "stomp",
    "connections",
    "reconnects",
    "service",
];

/// The figures of a distribution.
static QUANTILES: LazyLock<[&str; 11]> =
    LazyLock::new(|| figures_of(&Quantiles::default()).map(|(figure, _)| figure));

/// Times of answers by the first digit of their statuses.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name).chain(OPEN)
}

/// What the steps of a script can measure.
#[derive(Clone, Debug)]
pub struct Measured<'s> {
    /// Its operations.
    pub operations: &'s [Operation],
    /// The names of its scenarios.
    pub scenarios: Vec<&'s str>,
    /// Whether it tracks the delivery of messages.
    pub tracks_delivery: bool,
}

/// A metric that no run, or no run of this script, measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What is wrong, as a fragment.
    pub what: String,
    /// What was probably meant, or what to do.
    pub hint: String,
    /// No run measures it, whatever its script: its name is wrong.
    pub is_misspelt: bool,
}

impl Measured<'_> {
    /// Whether the script can measure a metric without functions of its own.
    ///
    /// # Errors
    /// Nothing measures it.
    pub fn check(&self, name: &str) -> Result<(), Unknown> {
        if watched::figures().any(|figure| figure == name) {
            return Ok(());
        }
        check(name)?;
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        if !families().any(|family| family == first) {
            let hint = "functions report metrics of their own: `events.emit(\"counter\", name, 1)`";
            return self.nothing_measures(name, hint.to_owned());
        }
        match (first, rest) {
            ("delivery", _) if !self.tracks_delivery => {
                self.nothing_measures(name, "a message with `{{ $stamp }}` is tracked".to_owned())
            }
            ("operations", "cut") => Ok(()),
            ("operations", _) => {
                let names = self.operations.iter().map(|operation| operation.name.as_str());
                self.member(name, rest, &names.collect::<Vec<_>>(), "operations")
            }
            ("kinds", _) => {
                let kinds: BTreeSet<&str> = self.operations.iter().map(|one| one.kind.name()).collect();
                self.member(name, rest, &Vec::from_iter(kinds), "kinds of operations")
            }
            ("scenarios", scenario) => self.scenario(name, scenario),
            _ => match name.strip_prefix("vusers.created_by_name.") {
                Some(scenario) => self.scenario(name, scenario),
                None => self.times(name, first, rest),
            },
        }
    }

    /// A figure of one of these operations or kinds. If it is none: which of them was meant, or which figure of one.
    fn member(&self, name: &str, rest: &str, names: &[&str], what: &str) -> Result<(), Unknown> {
        let (member, figure) = split_figure(rest);
        if !figure.is_empty() && names.contains(&member) {
            return Ok(());
        }
        let begins = |known: &&str| {
            rest.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if names.iter().any(begins) {
            let figures = format!("say which figure of it: {}", FIGURES_OF_OPERATION.join(", "));
            return self.nothing_measures(name, figures);
        }
        self.nothing_measures(
            name,
            match nearest(names.iter().copied(), member) {
                Some(near) => {
                    let first = &name[..name.len() - rest.len()];
                    format!("did you mean `{first}{near}{figure}`?")
                }
                None if names.is_empty() => format!("the script has no {what}"),
                None => {
                    let some: Vec<&str> = names.iter().take(10).copied().collect();
                    format!("the {what} of the script are: {}", some.join(", "))
                }
            },
        )
    }

    fn scenario(&self, name: &str, scenario: &str) -> Result<(), Unknown> {
        if self.scenarios.contains(&scenario) {
            return Ok(());
        }
        self.nothing_measures(
            name,
            match nearest(self.scenarios.iter().copied(), scenario) {
                Some(near) => format!("did you mean `{}{near}`?", &name[..name.len() - scenario.len()]),
                None => format!("the scenarios are: {}", self.scenarios.join(", ")),
            },
        )
    }

    /// Response times come from operations of one kind.
    fn times(&self, name: &str, family: &str, rest: &str) -> Result<(), Unknown> {
        let is_of = |(_, metric): &&(OperationKind, &str)| metric.split('.').next() == Some(family);
        let Some((kind, _)) = TIMES.iter().find(is_of) else { return Ok(()) };
        if !rest.starts_with("response_time.")
            || self.operations.iter().any(|operation| operation.kind == *kind)
        {
            return Ok(());
        }
        self.nothing_measures(name, format!("it is taken of `{}`, which the script has none of", kind.name()))
    }

    fn nothing_measures(&self, name: &str, hint: String) -> Result<(), Unknown> {
        Err(Unknown { what: format!("nothing in the script measures `{name}`"), hint, is_misspelt: false })
    }
}

/// Figures of an operation; behind those in milliseconds stands a figure of the distribution.
const FIGURES_OF_OPERATION: [&str; 6] =
    ["count", "failed", "rate_per_s", "response_ms.p95", "service_ms.p95", "first_byte_ms.p95"];

/// An operation's name, and the dot and the figure behind it; no figure where there is none.
fn split_figure(rest: &str) -> (&str, &str) {
    let is_figure = |figure: &str| {
        FIGURES_OF_OPERATION.iter().any(|known| match known.strip_suffix(".p95") {
            Some(distribution) => figure
                .strip_prefix(distribution)
                .and_then(|figure| figure.strip_prefix('.'))
                .is_some_and(|figure| QUANTILES.contains(&figure)),
            None => figure == *known,
        })
    };
    // The longer figure first: in `response_ms.count` the whole is one.
    let dots = rest.rmatch_indices('.').take(2).map(|(at, _)| at);
    let at = dots.filter(|at| is_figure(&rest[at + 1..])).min();
    rest.split_at(at.unwrap_or(rest.len()))
}

/// Refuses names that are obviously misspelt: near that of a family, or of a family that has no such member.
fn check(name: &str) -> Result<(), Unknown> {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    let wrong =
        |hint: String| Err(Unknown { what: format!("`{name}` is not a metric"), hint, is_misspelt: true });
    let did_you_mean = |right: String| wrong(format!("did you mean `{right}`?"));
    let Some(family) = FAMILIES.iter().find(|family| family.name == first) else {
        if let Some(near) = nearest_watched(name) {
            return did_you_mean(near);
        }
        // Plugins and functions of scripts add families of their own; only near misses are refused.
        return match nearest(families(), first).filter(|_| !OPEN.contains(&first)) {
            Some(near) => did_you_mean(name.replacen(first, near, 1)),
            None => Ok(()),
        };
    };
    let (field, rest) = rest.split_once('.').unwrap_or((rest, ""));
    if family.figures.iter().any(|known| known == field)
        || (field.is_empty() && family.members().next().is_none())
    {
        return Ok(());
    }
    if !family.distributions.iter().any(|known| known == field) {
        return match nearest(family.members(), field) {
            Some(near) => did_you_mean(name.replacen(field, near, 1)),
            None => wrong(format!("there are: {}", family.members().collect::<Vec<_>>().join(", "))),
        };
    }
    let figure = match rest.split_once('.') {
        Some((class, figure)) if CLASSES.contains(&class) => figure,
        _ => rest,
    };
    match nearest(QUANTILES.iter().copied(), figure) {
        _ if QUANTILES.contains(&figure) => Ok(()),
        Some(near) => did_you_mean(format!("{}{near}", &name[..name.len() - figure.len()])),
        None => wrong(format!("say which figure of it: {}", QUANTILES.join(", "))),
    }
}

/// The figure of a probe's metric that a name was meant to be; None: it looks like none of them.
fn nearest_watched(name: &str) -> Option<String> {
    let (family, _) = name.split_once('.')?;
    let figures: Vec<String> =
        watched::figures().filter(|figure| figure.split('.').next() == Some(family)).collect();
    // Whoever leaves out which figure of a level is meant asks for the highest.
    let highest = figures.iter().find(|figure| figure.strip_suffix(".max") == Some(name));
    highest.cloned().or_else(|| nearest(figures.iter().map(String::as_str), name).map(str::to_owned))
}

fn nearest<'w>(words: impl Iterator<Item = &'w str>, word: &str) -> Option<&'w str> {
    let near = words.map(|known| (strsim::damerau_levenshtein(known, word), known)).min()?;
    let most = match word.len() {
        0..=2 => 0,
        // Of three signs with a digit, `p80` say, one more or less makes another figure, not the same misspelt.
        3 if word.contains(|c: char| c.is_ascii_digit()) => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    (near.0 <= most).then_some(near.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_figure_is_told_with_the_right_one() {
        let hint = |name: &str| check(name).map_err(|unknown| unknown.hint);
        for (name, meant) in [
            ("http.respons_time.p95", "http.response_time.p95"),
            ("htp.response_time.p95", "http.response_time.p95"),
            ("vusers.fialed", "vusers.failed"),
            ("statuses.erors", "statuses.errors"),
            ("vusers.session_length.p9999", "vusers.session_length.p999"),
            ("traffic.messages_recieved", "traffic.messages_received"),
            ("target.cpu", "target.cpu.max"),
            ("target.memroy.max", "target.memory.max"),
            ("host.oom_kill", "host.oom_kills"),
        ] {
            assert_eq!(hint(name), Err(format!("did you mean `{meant}`?")), "{name}");
        }
        assert!(hint("http.response_time").unwrap_err().starts_with("say which figure of it: min, max"));
        assert!(hint("vusers.nonsense").unwrap_err().starts_with("there are: created, completed"));
        assert!(
            hint("websocket.nonsense").unwrap_err().ends_with("messages_received, send_rate, receive_rate")
        );
        assert!(hint("statuses.fail_on").is_err() && hint("delivery.rooms").is_err());
        for name in [
            "http.request_rate",
            "traffic.stomp_sent",
            "users.wanted",
            "users.session_ms.p95",
            "delivery.lost_after_join",
            "delivery.replay_latency_ms.max",
            "statuses.codes.404",
            "http.response_time.2xx.p99",
            "http.codes.200",
            "statuses.errors",
            "http.dns.max",
            "vusers.created_by_name.chat",
            "errors.ETIMEDOUT",
            "plugins.expect.ok",
            "duration_s",
            "checkouts",
        ] {
            assert_eq!(hint(name), Ok(()), "{name}");
        }
    }

    #[track_caller]
    fn measured(name: &str, expected: Result<(), &str>) {
        let operation = |name: &str, kind| Operation { name: name.to_owned(), kind };
        let operations =
            [operation("GET /a.b", OperationKind::Http), operation("talk", OperationKind::WebsocketSend)];
        let script = Measured {
            operations: &operations,
            scenarios: vec!["shoppers", "all things"],
            tracks_delivery: false,
        };
        let expected = expected.map_err(|hint| Unknown {
            what: format!("nothing in the script measures `{name}`"),
            hint: hint.to_owned(),
            is_misspelt: false,
        });
        assert_eq!(script.check(name), expected, "{name}");
    }

    #[test]
    fn what_the_script_does_not_do_is_not_measured() {
        for name in [
            "operations.GET /a.b.response_ms.p95",
            "operations.talk.count",
            "operations.cut",
            "kinds.http.failed",
            "kinds.websocket_send.service_ms.max",
            "scenarios.shoppers",
            "vusers.created_by_name.all things",
            "http.response_time.p95",
            "errors.anything at all",
            "polls",
        ] {
            measured(name, Ok(()));
        }
        measured("operations.GET /a.c.failed", Err("did you mean `operations.GET /a.b.failed`?"));
        measured("operations.tlak.response_ms.p99", Err("did you mean `operations.talk.response_ms.p99`?"));
        measured("operations.checkout.count", Err("the operations of the script are: GET /a.b, talk"));
        let figures = "say which figure of it: count, failed, rate_per_s, response_ms.p95, service_ms.p95, \
                       first_byte_ms.p95";
        measured("operations.talk", Err(figures));
        measured("operations.talk.response_ms", Err(figures));
        measured("kinds.poll.count", Err("the kinds of operations of the script are: http, websocket_send"));
        measured("kinds.htpp.count", Err("did you mean `kinds.http.count`?"));
        measured("vusers.created_by_name.shopper", Err("did you mean `vusers.created_by_name.shoppers`?"));
        measured("scenarios.night", Err("the scenarios are: shoppers, all things"));
        measured("delivery.lost", Err("a message with `{{ $stamp }}` is tracked"));
        measured(
            "socketio.response_time.p95",
            Err("it is taken of `socketio_request`, which the script has none of"),
        );
        measured(
            "checkouts",
            Err("functions report metrics of their own: `events.emit(\"counter\", name, 1)`"),
        );
    }
}
