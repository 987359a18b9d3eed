//! What is said of a run in the words of its script's language: the one place that knows both.

use sonagi_measure::metrics::MetricStore;
use sonagi_measure::totals::Header;
use sonagi_report::lines::Languages;

/// Of Artillery's scripts and of k6's.
pub(crate) const LANGUAGES: Languages = Languages {
    name: |header| header.language.as_ref().map_or_else(|| "artillery".to_owned(), |own| own.name.clone()),
    naming: sonagi_artillery::names::NAMING,
    about: |metric| sonagi_k6::metrics::about(metric).or_else(|| sonagi_artillery::names::about(metric)),
    store,
    judge: sonagi_k6::summary::judged,
};

fn store(header: &Header) -> MetricStore {
    sonagi_k6::summary::store_of(header).unwrap_or_default()
}
