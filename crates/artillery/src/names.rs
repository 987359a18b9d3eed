//! What Artillery calls the figures of a run. Sonagi's own names are the paths of the summary; thresholds read both.

mod about;
mod failures;
mod known;
mod metrics;

use sonagi_measure::summary::{Naming, Summary};
use sonagi_measure::thresholds::{Figures, Subject};

pub use about::about;
pub(crate) use failures::{FAILED_MATCH, WRONG_DATA};
pub use failures::{failure, stem};
pub use known::{Measured, Unknown};
pub use metrics::Metrics;
pub(crate) use metrics::figures_of;

/// The plugin that tells requests by endpoint.
pub(crate) const METRICS_BY_ENDPOINT: &str = "metrics-by-endpoint";

/// What the names of endpoints begin with: what the script says, if it does.
pub(crate) fn endpoint_prefix(given: &str) -> String {
    if given.is_empty() { format!("plugins.{METRICS_BY_ENDPOINT}") } else { given.to_owned() }
}

/// Artillery's names beside Sonagi's own, and settings of its scripts.
pub const NAMING: Naming = Naming {
    figures,
    subject,
    status_counts: "http.codes",
    status_wanted: "`expect: { statusCode: 404 }`, ",
    before: "`before`",
    spreading: " (jitter in `think` or `pace`)",
    answer_shown: " A `match` in `acknowledge` shows what it answers",
};

/// Every number of a run: by Artillery's name (`vusers.failed`, `http.response_time.p95`, `errors.ECONNREFUSED`) and by
/// its path in the summary.
fn figures(run: &Summary) -> Figures {
    let mut measured = run.names();
    measured.retain(|name, _| !name.starts_with("errors."));
    let Metrics { counters, rates, summaries } = Metrics::complete(run);
    measured.extend(counters);
    measured.extend(rates);
    for (name, values) in &summaries {
        // Nothing measured has no quantiles: a threshold on them must not hold by default.
        let told = |(figure, _): &(&str, f64)| values.count > 0 || *figure == "count";
        let told = figures_of(values).into_iter().filter(told);
        measured.extend(told.map(|(figure, value)| (format!("{name}.{figure}"), value)));
    }
    // The plugin has its score under its own name.
    let score = run.plugins.apdex.as_ref().and_then(|apdex| apdex.score);
    measured.extend(score.map(|score| ("apdex".to_owned(), score)));
    // A function's message may be the code of a failure: both count.
    for error in run.errors.iter().filter(|error| failures::error(error) != error.code) {
        *measured.entry(format!("errors.{}", error.code)).or_default() += error.count as f64;
    }
    Figures { measured, may_be_absent }
}

fn may_be_absent(name: &str) -> bool {
    let families = ["errors.", "http.codes.", "vusers."];
    families.iter().any(|family| name.starts_with(family)) && !name.starts_with("vusers.session_length")
}

fn subject(name: &str) -> Option<Subject> {
    let is_latency = |(metric, figure): (&str, &str)| metric.ends_with("response_time") && figure != "count";
    match name {
        "vusers.failed" => Some(Subject::FailedUsers),
        name if name.starts_with("http.codes.") => Some(Subject::Statuses),
        name if name.rsplit_once('.').is_some_and(is_latency) => Some(Subject::Latency),
        name => (Naming::PATHS.subject)(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sonagi_measure::ledger::Counts;
    use sonagi_measure::thresholds::{Threshold, objective_ms};
    use sonagi_measure::verdict::delivered;

    #[test]
    fn names_of_both_kinds_tell_what_a_threshold_is_about() {
        let check = |name, expected| assert_eq!(subject(name), expected, "{name}");
        check("vusers.failed", Some(Subject::FailedUsers));
        check("users.failed", Some(Subject::FailedUsers));
        check("errors.ECONNREFUSED", Some(Subject::FailedUsers));
        check("http.codes.404", Some(Subject::Statuses));
        check("http.codes.404{page:list}", Some(Subject::Statuses));
        check("statuses.errors", Some(Subject::Statuses));
        check("delivery.ratio", Some(Subject::Lost));
        check("delivery.latency_ms.p99", Some(Subject::Latency));
        check("plugins.metrics-by-endpoint.response_time./x.p99", None);
        check("socketio.response_time.max", Some(Subject::Latency));
        check("http.response_time.count", None);
        check("vusers.session_length.p99", None);
        check("vusers.completed", None);
    }

    #[test]
    fn where_nothing_arrives_the_hint_says_which_setting_shows_the_answer() {
        let counts = Counts { messages: 1, owed: 1, lost: 1, ..Counts::default() };
        let hints = delivered(&counts, &NAMING).hints;
        let shown = "the room users really join? A `match` in `acknowledge` shows what it answers";
        assert!(hints[0].ends_with(shown), "{hints:?}");
    }

    #[test]
    fn the_objective_is_the_smallest_latency_by_any_name() {
        let objective = |expressions: &[&str]| {
            let threshold = |expression: &&str| Threshold::new(*expression, false);
            objective_ms(&expressions.iter().map(threshold).collect::<Vec<_>>(), NAMING.subject)
        };
        let both = objective(&["http.response_time.p95 < 250 and 100 >= delivery.latency_ms.p99"]);
        assert_eq!(both, Some(100.0));
        assert_eq!(objective(&["vusers.failed < 1", "http.response_time.p95 > 5"]), None);
        assert_eq!(objective(&["'http.response_time{page:list}.p95' < 80"]), Some(80.0));
        assert_eq!(objective(&["'http.codes.500{page:list}' < 80"]), None);
    }
}
