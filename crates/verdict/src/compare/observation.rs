//! A run as one observation: its figures by name, and the conditions under which it was made.

use super::WarmUp;
use serde_json::Value;
use sonagi_measure::summary::{Conclusion, Summary};
use sonagi_measure::totals::Header;
use std::collections::BTreeMap;

/// The condition that says whose report a run is, where it is one.
pub(super) const TOOL: &str = "tool";

/// A run as one observation.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Observation {
    /// Its folder's name.
    pub name: String,
    /// When it began, RFC 3339 in UTC; empty where nobody says.
    #[serde(default)]
    pub started: String,
    /// Its figures, by the names that thresholds have for them.
    pub figures: BTreeMap<String, f64>,
    /// What must be the same of two runs that are compared, by name.
    pub conditions: BTreeMap<String, String>,
    /// Why its figures say nothing of the target; None: they do.
    pub unsound: Option<Unsound>,
    /// Whether something that its script asked for did not hold: how fast it failed is no merit.
    #[serde(default)]
    pub failed: bool,
    /// What of its begin its times leave out; None: nobody looked.
    #[serde(default)]
    pub warm_up: Option<WarmUp>,
}

/// Why a run's figures say nothing of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unsound {
    /// The generator fell behind.
    Invalid,
    /// It was stopped before its plan was done.
    Interrupted,
    /// Its folder has no end.
    CutOff,
}

impl Unsound {
    /// What is wrong with a run, if anything is.
    fn of(summary: &Summary) -> Option<Unsound> {
        match summary.verdict.result {
            Conclusion::Invalid => Some(Unsound::Invalid),
            Conclusion::Interrupted => Some(Unsound::Interrupted),
            _ if !summary.complete => Some(Unsound::CutOff),
            _ => None,
        }
    }

    /// In words.
    pub fn why(self) -> &'static str {
        match self {
            Unsound::Invalid => "INVALID: its figures are the load generator's, not the target's",
            Unsound::Interrupted => "it was interrupted before its plan was done",
            Unsound::CutOff => "it was cut off",
        }
    }
}

impl Observation {
    /// A run of a run folder.
    pub fn of_run(name: &str, header: &Header, summary: &Summary) -> Observation {
        let mut conditions = BTreeMap::new();
        let mut tell = |what: &str, value: String| drop(conditions.insert(what.to_owned(), value));
        tell("sonagi", header.version.clone());
        tell("machine", machine(&header.environment));
        tell("threads", header.shards.to_string());
        if let Some(script) = &header.script {
            tell("script", script.sha256.chars().take(12).collect());
        }
        tell("load", load(&header.plan));
        conditions.extend(axes(summary));
        let started = header.started.clone();
        Observation { started, conditions, ..Observation::of_summary(name, summary) }
    }

    /// A run of which only the summary is left: its conditions are the values of its matrix, so that it is compared
    /// with runs of the same command alone.
    pub fn of_summary(name: &str, summary: &Summary) -> Observation {
        Observation {
            name: name.to_owned(),
            started: summary.started.clone(),
            figures: figures(summary),
            conditions: axes(summary),
            unsound: Unsound::of(summary),
            failed: summary.verdict.result == Conclusion::Fail,
            warm_up: None,
        }
    }

    /// Its times are those behind its warm-up, which is a condition like others: a run whose begin was left out is not
    /// compared with one in which it was not.
    #[must_use]
    pub fn warmed_up(mut self, asked: &str, found: WarmUp) -> Observation {
        self.conditions.insert("warm-up".to_owned(), asked.to_owned());
        self.warm_up = Some(found);
        self
    }

    /// What another tool reported of a run of its own.
    pub fn of_report(name: &str, tool: &str, figures: BTreeMap<String, f64>) -> Observation {
        let conditions = BTreeMap::from([(TOOL.to_owned(), tool.to_owned())]);
        Observation {
            name: name.to_owned(),
            started: String::new(),
            figures,
            conditions,
            unsound: None,
            failed: false,
            warm_up: None,
        }
    }
}

/// The values of the matrix that a run is one of.
fn axes(summary: &Summary) -> BTreeMap<String, String> {
    let told = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    summary.combination.iter().map(|(axis, value)| (axis.clone(), told(value))).collect()
}

/// The figures of a run, and those over all its operations.
fn figures(summary: &Summary) -> BTreeMap<String, f64> {
    let mut figures = summary.names();
    let (count, failed) = summary
        .operations
        .iter()
        .fold((0, 0), |(count, failed), operation| (count + operation.count, failed + operation.failed));
    if count > 0 {
        figures.insert("failed_share".to_owned(), failed as f64 / count as f64);
        figures
            .insert("operations_per_s".to_owned(), count as f64 / summary.duration_s.max(f64::MIN_POSITIVE));
    }
    figures
}

/// The machine of a run in a line.
fn machine(environment: &Value) -> String {
    let part = |name: &str| match &environment[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let parts = ["cpu", "cpus", "memory", "kernel"].map(part);
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// What a run did, without whom it did it to, as a short mark: plans are long. A plan is the script as it was written
/// with what flags changed in it: the values of its matrix are told one by one, and what is asked of all its runs
/// together changes none of them.
fn load(plan: &Value) -> String {
    let mut plan = plan.clone();
    if let Some(script) = plan.as_object_mut() {
        script.retain(|key, _| !["matrix", "repeat", "compare"].contains(&key.as_str()));
    }
    if let Some(config) = plan.get_mut("config").and_then(Value::as_object_mut) {
        config.remove("target");
    }
    // FNV-1a: to tell two plans apart, not to hide them.
    let hash = plan.to_string().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use sonagi_measure::ledger::Rules;
    use sonagi_measure::metrics::MetricStore;
    use sonagi_measure::totals::Totals;

    #[test]
    fn the_load_of_a_matrix_tells_overrides_and_no_values_of_the_matrix() {
        let plan = |rate: u64, pool: u64| {
            json!({
                "config": { "target": format!("http://127.0.0.1:{pool}"), "phases": [{ "arrivalRate": rate }] },
                "matrix": { "pool": pool },
                "repeat": pool,
            })
        };
        assert_eq!(load(&plan(5, 2)), load(&plan(5, 10)));
        assert_ne!(load(&plan(5, 2)), load(&plan(6, 2)));
    }

    #[test]
    fn runs_of_a_matrix_tell_their_load() {
        let mut summary = Totals::new(&Header::default(), Rules::default(), MetricStore::default()).summary();
        summary.combination.insert("pool".to_owned(), json!(2));
        let seen = Observation::of_run("pool-2", &Header::default(), &summary);
        assert!(seen.conditions.contains_key("load") && seen.conditions["pool"] == "2", "{seen:?}");
    }
}
