//! What is said of a run in the words of its script's language: the one place that knows both.

use sonagi_measure::folder::{Reader, RunState};
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, Language};
use sonagi_report::lines::Languages;

/// The language of a watch, which has no script and no load.
const WATCH: &str = "watch";

/// Of Artillery's scripts, of k6's, and of a watch.
pub(crate) const LANGUAGES: Languages = Languages {
    name: |header| header.language.as_ref().map_or_else(|| "artillery".to_owned(), |own| own.name.clone()),
    naming: sonagi_artillery::names::NAMING,
    about: |metric| sonagi_k6::metrics::about(metric).or_else(|| sonagi_artillery::names::about(metric)),
    store,
    judge,
};

fn store(header: &Header) -> MetricStore {
    sonagi_k6::summary::store_of(header).unwrap_or_default()
}

fn judge(folder: &Reader, store: &mut MetricStore, summary: Summary, state: RunState) -> Summary {
    if is_watch(folder.header()) {
        unjudged(summary)
    } else {
        sonagi_k6::summary::judged(folder, store, summary, state)
    }
}

/// The language of what has no script.
pub(crate) fn none() -> Language {
    Language { name: WATCH.to_owned(), ..Language::default() }
}

/// Whether a folder is a watch's: there was no load in it.
pub(crate) fn is_watch(header: &Header) -> bool {
    header.language.as_ref().is_some_and(|language| language.name == WATCH)
}

/// The summary of a watch.
pub(crate) fn unjudged(mut summary: Summary) -> Summary {
    summary.verdict.reasons = vec!["watched without a load: nothing was asked of the target".to_owned()];
    summary
}
