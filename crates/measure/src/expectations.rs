//! The results of a script's expectations of responses (`expect`), counted by kind: how often each held and failed.
//!
//! A response that is not as expected is no failure of its user, who goes on: a functional check and a load test share
//! a script. Kinds are few (the status, a property, …), but one has the name of a header in it, which may come
//! from a template: those beyond [`KINDS_MAX`] are counted together.

use crate::at::At;
use crate::failures::kept;
use std::collections::BTreeMap;

/// Kinds of one run.
pub const KINDS_MAX: usize = 200;

/// The kind of all that are one too many.
pub const OTHERS: &str = "others";

/// Expectations of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// How often it held.
    pub ok: u64,
    /// How often it did not.
    pub failed: u64,
    /// The first failure's description (≤ 200 bytes), and its instant.
    pub example: Option<(At, String)>,
}

/// Expectations by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Each kind with what it came to.
    pub kinds: BTreeMap<String, Expected>,
}

/// Expectations as the summary has them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ExpectationSummary {
    /// How many held.
    pub ok: u64,
    /// How many did not.
    pub failed: u64,
    /// Whether they decide the exit code: nothing that was demanded of the whole run failed, too.
    pub decisive: bool,
    /// Both by kind.
    pub kinds: BTreeMap<String, KindSummary>,
}

/// Expectations of one kind as the summary has them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct KindSummary {
    /// How many held.
    pub ok: u64,
    /// How many did not.
    pub failed: u64,
    /// The first failure's description; empty without one.
    pub example: String,
}

impl Expectations {
    /// Whether nothing was expected.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Counts an expectation that held.
    pub fn held(&mut self, kind: &str) {
        self.of(kind).ok += 1;
    }

    /// Counts a failed expectation; `example` is called for the first of its kind only.
    pub fn failed(&mut self, kind: &str, at: At, example: impl FnOnce() -> String) {
        let expected = self.of(kind);
        expected.failed += 1;
        if expected.example.is_none() {
            expected.example = Some((at, kept(&example())));
        }
    }

    /// Adds what another has.
    pub fn merge(&mut self, other: &Expectations) {
        for (kind, theirs) in &other.kinds {
            let mine = self.of(kind);
            mine.ok += theirs.ok;
            mine.failed += theirs.failed;
            if let Some(theirs) = &theirs.example
                && mine.example.as_ref().is_none_or(|mine| theirs < mine)
            {
                mine.example = Some(theirs.clone());
            }
        }
    }

    /// The totals.
    pub fn summary(&self) -> ExpectationSummary {
        let summed = |expected: &Expected| KindSummary {
            ok: expected.ok,
            failed: expected.failed,
            example: expected.example.as_ref().map(|(_, example)| example.clone()).unwrap_or_default(),
        };
        ExpectationSummary {
            ok: self.kinds.values().map(|expected| expected.ok).sum(),
            failed: self.kinds.values().map(|expected| expected.failed).sum(),
            decisive: false,
            kinds: self.kinds.iter().map(|(kind, expected)| (kind.clone(), summed(expected))).collect(),
        }
    }

    pub(crate) fn of(&mut self, kind: &str) -> &mut Expected {
        let is_full = self.kinds.len() >= KINDS_MAX && !self.kinds.contains_key(kind);
        let kind = if is_full { OTHERS } else { kind };
        // Not `entry`: it wants a copy of the name for every response.
        if !self.kinds.contains_key(kind) {
            self.kinds.insert(kind.to_owned(), Expected::default());
        }
        self.kinds.get_mut(kind).expect("inserted above")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_add_up_by_kind_and_the_earliest_example_stays() {
        let mut shards = [Expectations::default(), Expectations::default()];
        shards[0].held("status");
        shards[0].failed("status", At(9), || "later".to_owned());
        shards[1].failed("status", At(5), || "x".repeat(300));
        shards[1].failed("status", At(6), || unreachable!("only the first is shown"));
        shards[1].held("equals");
        for order in [[0, 1], [1, 0]] {
            let mut all = Expectations::default();
            order.into_iter().for_each(|shard| all.merge(&shards[shard]));
            let summary = all.summary();
            assert_eq!((summary.ok, summary.failed, summary.decisive), (2, 3, false));
            let status = &summary.kinds["status"];
            assert_eq!((status.ok, status.failed, status.example.len()), (1, 3, 200));
            assert_eq!(summary.kinds["equals"], KindSummary { ok: 1, ..KindSummary::default() });
        }
    }

    #[test]
    fn kinds_beyond_the_limit_are_counted_together() {
        let mut all = Expectations::default();
        for n in 0..KINDS_MAX + 5 {
            all.held(&format!("header x-{n:03} values equals"));
        }
        assert_eq!(all.kinds.len(), KINDS_MAX + 1);
        assert_eq!((all.kinds[OTHERS].ok, all.summary().ok), (5, KINDS_MAX as u64 + 5));
    }
}
