//! What Artillery calls the figures of a run. Sonagi's own names are the paths of the summary; thresholds read both.

mod failures;
mod known;
mod metrics;

use sonagi_measure::summary::Summary;
use sonagi_measure::thresholds::{Figures, Judged, Threshold};
use sonagi_measure::totals::Header;
use std::time::Duration;

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

/// The run with the thresholds of its header judged, but for those that `ended_by` tells: they were judged when they
/// ended it.
#[must_use]
pub fn judged(run: Summary, header: &Header, ended_by: &[Judged]) -> Summary {
    if header.thresholds.is_empty() {
        return run;
    }
    let figures = figures(&run);
    let ended = |threshold: &Threshold| ended_by.iter().find(|one| one.expression == threshold.expression());
    let judged = header.thresholds.iter();
    let judged = judged.map(|one| ended(one).cloned().unwrap_or_else(|| judge(one, &figures)));
    run.judged(judged.collect())
}

/// Thresholds that end the run `elapsed` after its start, because they do not hold of what was measured until then.
pub fn crossed(header: &Header, elapsed: Duration, run: impl FnOnce() -> Summary) -> Vec<Judged> {
    let mut may_end = header.thresholds.iter().filter(|threshold| threshold.abort().ends(elapsed)).peekable();
    if may_end.peek().is_none() {
        return Vec::new();
    }
    let figures = figures(&run());
    let crossed = may_end.filter_map(|threshold| threshold.crossed(&figures));
    let ended_run_s = Some((elapsed.as_secs_f64() * 1e3).round() / 1e3);
    crossed.map(|judged| Judged { ended_run_s, ..judged }).collect()
}

fn judge(threshold: &Threshold, figures: &Figures) -> Judged {
    let mut judged = threshold.judge(figures);
    // The verdict knows it by its path in the summary.
    let failed = judged.metrics.iter_mut().filter(|name| *name == "vusers.failed");
    failed.for_each(|name| *name = "users.failed".to_owned());
    judged
}

/// Every number of a run: by Artillery's name (`vusers.failed`, `http.response_time.p95`, `errors.ECONNREFUSED`) and by
/// its path in the summary.
pub fn figures(run: &Summary) -> Figures {
    let Metrics { counters, rates, summaries } = Metrics::complete(run);
    let mut measured = counters;
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
    for (name, value) in run.names() {
        let is_error = name.starts_with("errors.");
        // A function's message may be the code of a failure: both count.
        let known = measured.entry(name);
        known.and_modify(|sum| *sum += if is_error { value } else { 0.0 }).or_insert(value);
    }
    Figures { measured, may_be_absent }
}

fn may_be_absent(name: &str) -> bool {
    let families = ["errors.", "http.codes.", "vusers."];
    families.iter().any(|family| name.starts_with(family)) && !name.starts_with("vusers.session_length")
}
