//! The answers an operation got: how often each HTTP status, and the times of those that were no 2xx.
//!
//! The one decision a reader would question: 2xx have no histogram. Nearly every answer is one, and its time is already
//! in the operation's own; theirs are what is left of it without the others ([`Answers::succeeded`]). So it is with
//! redirects, which are rare: an operation's time is all of its way, and only where there were hops is each answer's
//! own kept beside it.

use crate::histogram::Histogram;
use crate::outcome::Outcome;
use std::collections::BTreeMap;

/// Answers whose times are kept apart, classes of answers first: each answer is in one of those at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Apart {
    Redirected,
    Refused,
    Broken,
    /// Failures that have a time, and statuses HTTP does not know.
    Other,
    /// Operations that were redirected: all of each, from the plan to the last answer.
    Whole,
    /// The same: each answer on it, hops and the last one.
    Each,
}

impl Apart {
    /// What the times of each are called in names.
    pub(crate) const NAMES: [&'static str; 6] = ["3xx", "4xx", "5xx", "other", "redirected", "answer"];

    pub(crate) fn name(self) -> &'static str {
        Apart::NAMES[self as usize]
    }

    /// None: it is not kept apart.
    fn of(outcome: Outcome) -> Option<Apart> {
        match outcome {
            Outcome::Ok | Outcome::Status(200..300) => None,
            Outcome::Status(300..400) => Some(Apart::Redirected),
            Outcome::Status(400..500) => Some(Apart::Refused),
            Outcome::Status(500..600) => Some(Apart::Broken),
            Outcome::Status(_) | Outcome::Failed(_) => Some(Apart::Other),
        }
    }
}

/// Answers of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// How often each status, in ascending order.
    codes: Vec<(u16, u64)>,
    /// By [`Apart`].
    pub(crate) apart: [Option<Box<Histogram>>; Apart::NAMES.len()],
}

impl Answers {
    /// An operation that has a time ended so after `response_ns`.
    pub(crate) fn record(&mut self, outcome: Outcome, response_ns: i64) {
        if let Outcome::Status(code) = outcome {
            self.count(code, 1);
        }
        if let Some(class) = Apart::of(outcome) {
            self.apart_mut(class).record_ns(response_ns);
        }
    }

    /// A response that led elsewhere came so long after it was asked for. The statuses are those of last answers.
    pub(crate) fn hop(&mut self, code: u16, ns: i64) {
        self.apart_mut(Apart::Each).record_ns(ns);
        if let Some(class) = Apart::of(Outcome::Status(code)) {
            self.apart_mut(class).record_ns(ns);
        }
    }

    /// The operation recorded last had hops: of its time only so much is its last answer's.
    pub(crate) fn redirected(&mut self, outcome: Outcome, whole_ns: i64, last_ns: i64) {
        self.apart_mut(Apart::Whole).record_ns(whole_ns);
        self.apart_mut(Apart::Each).record_ns(last_ns);
        if let Some(class) = Apart::of(outcome) {
            let mut whole = Histogram::new();
            whole.record_ns(whole_ns);
            let apart = self.apart_mut(class);
            apart.subtract(&whole);
            apart.record_ns(last_ns);
        }
    }

    pub(crate) fn count(&mut self, code: u16, n: u64) {
        match self.codes.binary_search_by_key(&code, |(known, _)| *known) {
            Ok(at) => self.codes[at].1 += n,
            Err(at) => self.codes.insert(at, (code, n)),
        }
    }

    pub(crate) fn merge_codes(&mut self, other: &Answers) {
        other.codes.iter().for_each(|&(code, n)| self.count(code, n));
    }

    /// How often each status.
    pub fn codes(&self) -> BTreeMap<u16, u64> {
        self.codes.iter().copied().collect()
    }

    pub(crate) fn apart(&self, part: Apart) -> Option<&Histogram> {
        self.apart[part as usize].as_deref()
    }

    pub(crate) fn apart_mut(&mut self, part: Apart) -> &mut Histogram {
        self.apart[part as usize].get_or_insert_default()
    }

    /// Times of all answers, of which an operation that was redirected had several. `all` are the operations'.
    pub(crate) fn each(&self, all: &Histogram) -> Histogram {
        let mut each = all.clone();
        self.apart(Apart::Whole).into_iter().for_each(|whole| each.subtract(whole));
        self.apart(Apart::Each).into_iter().for_each(|answers| each.merge(answers));
        each
    }

    /// Times of the answers that were 2xx: what is left of all.
    pub(crate) fn succeeded(&self, all: &Histogram) -> Histogram {
        let mut left = self.each(all);
        self.apart[..=Apart::Other as usize].iter().flatten().for_each(|others| left.subtract(others));
        left
    }

    /// Times of what was answered: what only has a time because it was waited for is left out.
    pub(crate) fn answered(&self, all: &Histogram) -> Histogram {
        let mut left = self.each(all);
        self.apart(Apart::Other).into_iter().for_each(|others| left.subtract(others));
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Failure;
    use crate::recorder::Timings;

    fn merge(mine: &mut Answers, theirs: &Answers) {
        let [mut all, other] =
            [&*mine, theirs].map(|answers| Timings { answers: answers.clone(), ..Timings::default() });
        all.merge(&other);
        *mine = all.answers;
    }

    #[test]
    fn times_of_2xx_are_what_is_left_without_the_others_in_any_order_of_merging() {
        let outcomes = [
            (Outcome::Status(200), 1),
            (Outcome::Status(404), 2),
            (Outcome::Status(201), 3),
            (Outcome::Failed(Failure::Timeout), 10_000),
            (Outcome::Status(503), 5),
            (Outcome::Status(304), 6),
        ];
        let (mut all, mut shards) = (Histogram::new(), [Answers::default(), Answers::default()]);
        for (n, (outcome, ms)) in outcomes.into_iter().enumerate() {
            all.record_ns(ms * 1_000_000);
            shards[n % 2].record(outcome, ms * 1_000_000);
        }
        let (mut answers, mut other_way) = (shards[0].clone(), shards[1].clone());
        merge(&mut answers, &shards[1]);
        merge(&mut other_way, &shards[0]);
        assert_eq!(answers, other_way);
        let times = answers.succeeded(&all).quantiles();
        assert_eq!((times.count, times.min), (2, 1.0));
        assert!((times.mean - 2.0).abs() < 0.01 && (times.max - 3.0).abs() < 0.01, "{times:?}");
        assert_eq!(answers.codes(), BTreeMap::from([(200, 1), (201, 1), (304, 1), (404, 1), (503, 1)]));
        assert_eq!(answers.apart(Apart::Refused).unwrap().count(), 1);
        assert_eq!(answers.answered(&all).count(), 5);
    }

    #[test]
    fn of_a_redirected_operation_each_answer_has_its_own_time() {
        let (mut all, mut shards) = (Histogram::new(), [Answers::default(), Answers::default()]);
        let mut end = |answers: &mut Answers, outcome, hops: &[i64], last: i64| {
            let whole = (hops.iter().sum::<i64>() + last) * 1_000_000;
            hops.iter().for_each(|ms| answers.hop(302, ms * 1_000_000));
            all.record_ns(whole);
            answers.record(outcome, whole);
            answers.redirected(outcome, whole, last * 1_000_000);
        };
        end(&mut shards[0], Outcome::Status(200), &[10, 20], 5);
        end(&mut shards[1], Outcome::Status(404), &[30], 6);
        for answers in &mut shards {
            all.record_ns(1_000_000);
            answers.record(Outcome::Status(200), 1_000_000);
        }
        let mut answers = shards[1].clone();
        merge(&mut answers, &shards[0]);
        let told = |times: &Histogram| {
            let told = times.quantiles();
            (told.count, told.min.round(), told.max.round(), (told.mean * told.count as f64).round())
        };
        assert_eq!(told(&answers.each(&all)), (7, 1.0, 30.0, 73.0));
        assert_eq!(told(&answers.succeeded(&all)), (3, 1.0, 5.0, 7.0));
        assert_eq!(told(answers.apart(Apart::Refused).unwrap()), (1, 6.0, 6.0, 6.0));
        assert_eq!(told(answers.apart(Apart::Redirected).unwrap()), (3, 10.0, 30.0, 60.0));
        assert_eq!(answers.codes(), BTreeMap::from([(200, 3), (404, 1)]));
    }
}
