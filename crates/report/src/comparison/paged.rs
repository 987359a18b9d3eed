//! What the page of a comparison shows: all that the terminal prints, and each run of both sides as a dot.

use super::{all, cells, headline, sentences, tone, word};
use serde_json::{Value, json};
use sonagi_verdict::compare::{Compared, Comparison};

/// The comparison for the page, figures and words as [`super::text`] prints them.
pub fn page(comparison: &Comparison) -> Value {
    let sides = comparison.sides.each_ref().map(|(label, runs)| json!({ "label": label, "runs": runs }));
    json!({
        "mood": tone(comparison.verdict).mood(),
        "verdict": comparison.verdict,
        "word": word(comparison),
        "headline": headline(comparison),
        "sides": sides,
        "remarks": labelled(sentences(comparison)),
        "rows": all(comparison).map(row).collect::<Vec<_>>(),
    })
}

/// Sentences with their labels.
pub(crate) fn labelled(sentences: Vec<(&'static str, String)>) -> Value {
    let one = |(label, sentence)| json!({ "label": label, "sentence": sentence });
    sentences.into_iter().map(one).collect()
}

/// A figure; the first one decides.
fn row(compared: &Compared) -> Value {
    let [a, b, change, interval, word] = cells(compared);
    json!({
        "name": compared.figure.name,
        "runs": compared.runs,
        "means": compared.means,
        "shown": [a, b],
        "change": change,
        "interval": interval,
        "judgement": compared.judgement,
        "word": word,
    })
}
