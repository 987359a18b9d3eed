//! What a script's plugins make of the figures: the Apdex score, and metrics by endpoint; and how long answers took in
//! all. They are read off the operations' histograms; nothing is recorded for them.

use crate::histogram::{Histogram, Quantiles};
use std::collections::BTreeMap;

/// The settings of a script's plugins.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Plugins {
    /// An answer within this satisfies (ms); none: no score is wanted.
    pub apdex_ms: Option<f64>,
    /// Whether it is told how long answers took.
    pub extended: bool,
    /// What an endpoint's names begin with; empty: as its script's language has it.
    pub endpoint_prefix: String,
    /// Endpoints of the operations, by id. Those without one are not told by endpoint; several may share one.
    pub endpoints: Vec<Option<String>>,
    /// Metrics left out of the console: those whose names contain one of these.
    pub hidden: Vec<String>,
}

/// The plugins' figures.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Figures {
    /// Present when the script asks for it.
    pub apdex: Option<Apdex>,
    /// How long answers took: response times of those there were. Present when the script asks for it.
    pub total_ms: Option<Quantiles>,
    /// The prefix of endpoints' names.
    pub endpoint_prefix: String,
    /// HTTP by endpoint, in the order of the names.
    pub endpoints: Vec<Endpoint>,
    /// What is left out of a summary in the language's own names: metrics whose names contain one of these.
    pub hidden: Vec<String>,
}

/// How satisfied users are: answers within a threshold, within four times of it, and beyond.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Apdex {
    /// The longest response time that still satisfies (ms).
    pub threshold_ms: f64,
    /// Answers within the threshold.
    pub satisfied: u64,
    /// Answers within four times the threshold.
    pub tolerated: u64,
    /// Slower ones.
    pub frustrated: u64,
    /// (satisfied + tolerated / 2) / all; none without an answer.
    pub score: Option<f64>,
}

/// All HTTP operations of one endpoint.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Endpoint {
    /// The path as the script has it, and the request's name in parentheses.
    pub name: String,
    /// Answers by status.
    pub codes: BTreeMap<u16, u64>,
    /// Requests that failed, by code; not those whose answer the script takes exception to.
    pub errors: BTreeMap<String, u64>,
    /// The response times, like the operations' `response_ms`.
    pub response_ms: Quantiles,
}

impl Apdex {
    /// The score of response times. The limit falls between two steps of the histogram, which are a thousandth of it
    /// apart.
    pub(crate) fn of(threshold_ms: f64, responses: &Histogram) -> Apdex {
        let satisfied = responses.count_up_to_ms(threshold_ms);
        let tolerated = responses.count_up_to_ms(4.0 * threshold_ms) - satisfied;
        let all = responses.count();
        let score = (satisfied as f64 + tolerated as f64 / 2.0) / all as f64;
        Apdex {
            threshold_ms,
            satisfied,
            tolerated,
            frustrated: all - satisfied - tolerated,
            score: (all > 0).then_some(score),
        }
    }

    /// The score in a word.
    pub fn ranking(&self) -> Option<&'static str> {
        const RANKS: [(f64, &str); 4] = [(0.94, "excellent"), (0.85, "good"), (0.7, "fair"), (0.49, "poor")];
        let score = self.score?;
        Some(RANKS.iter().find(|(least, _)| score >= *least).map_or("unacceptable", |(_, word)| word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_counts_tolerated_answers_half() {
        let mut responses = Histogram::new();
        for ms in [10, 100, 101, 400, 401, 9_000] {
            responses.record_ns(ms * 1_000_000);
        }
        let apdex = Apdex::of(100.0, &responses);
        assert_eq!((apdex.satisfied, apdex.tolerated, apdex.frustrated), (2, 2, 2));
        assert_eq!((apdex.score, apdex.ranking()), (Some(0.5), Some("poor")));
        assert_eq!(Apdex::of(100.0, &Histogram::new()).ranking(), None);
    }
}
