//! What Artillery calls the figures of a run. Sonagi's own names are the paths of the summary; thresholds read both.

mod failures;
mod known;
mod metrics;

use sonagi_measure::summary::Summary;
use sonagi_measure::thresholds::Figures;

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

/// Every number of a run: by Artillery's name (`vusers.failed`, `http.response_time.p95`, `errors.ECONNREFUSED`) and by
/// its path in the summary.
pub fn figures(run: &Summary) -> Figures {
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
    Figures { measured, may_be_absent, path }
}

fn may_be_absent(name: &str) -> bool {
    let families = ["errors.", "http.codes.", "vusers."];
    families.iter().any(|family| name.starts_with(family)) && !name.starts_with("vusers.session_length")
}

/// The default rule that no user fails knows them by their path.
fn path(name: &str) -> &str {
    if name == "vusers.failed" { "users.failed" } else { name }
}
