//! The answers an operation got: how often each HTTP status, and the times of those that were no 2xx.
//!
//! The one decision a reader would question: 2xx have no histogram. Nearly every answer is one, and its time is already in
//! the operation's own; theirs are what is left of it without the others ([`Answers::succeeded`]).

use crate::histogram::Histogram;
use crate::outcome::Outcome;
use std::collections::BTreeMap;

/// Whose times are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Class {
    Redirected,
    Refused,
    Broken,
    /// Failures that have a time, and statuses HTTP does not know.
    Other,
}

impl Class {
    /// All of them with what they are called in names.
    pub(crate) const NAMED: [(Class, &'static str); 4] = [
        (Class::Redirected, "3xx"),
        (Class::Refused, "4xx"),
        (Class::Broken, "5xx"),
        (Class::Other, "other"),
    ];

    /// None: it is not kept apart.
    fn of(outcome: Outcome) -> Option<Class> {
        match outcome {
            Outcome::Ok | Outcome::Status(200..300) => None,
            Outcome::Status(300..400) => Some(Class::Redirected),
            Outcome::Status(400..500) => Some(Class::Refused),
            Outcome::Status(500..600) => Some(Class::Broken),
            Outcome::Status(_) | Outcome::Failed(_) => Some(Class::Other),
        }
    }
}

/// Answers of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// How often each status, in ascending order.
    codes: Vec<(u16, u64)>,
    apart: [Option<Box<Histogram>>; 4],
}

impl Answers {
    /// An operation that has a time ended so after `response_ns`.
    pub(crate) fn record(&mut self, outcome: Outcome, response_ns: i64) {
        if let Outcome::Status(code) = outcome {
            self.count(code, 1);
        }
        if let Some(class) = Class::of(outcome) {
            self.apart_mut(class).record_ns(response_ns);
        }
    }

    pub(crate) fn count(&mut self, code: u16, n: u64) {
        match self.codes.binary_search_by_key(&code, |(known, _)| *known) {
            Ok(at) => self.codes[at].1 += n,
            Err(at) => self.codes.insert(at, (code, n)),
        }
    }

    pub(crate) fn merge(&mut self, other: &Answers) {
        for &(code, n) in &other.codes {
            self.count(code, n);
        }
        for (mine, theirs) in self.apart.iter_mut().zip(&other.apart) {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }

    /// How often each status.
    pub fn codes(&self) -> BTreeMap<u16, u64> {
        self.codes.iter().copied().collect()
    }

    pub(crate) fn apart(&self, class: Class) -> Option<&Histogram> {
        self.apart[class as usize].as_deref()
    }

    pub(crate) fn apart_mut(&mut self, class: Class) -> &mut Histogram {
        self.apart[class as usize].get_or_insert_default()
    }

    /// Times of the answers that were 2xx: what is left of all.
    pub(crate) fn succeeded(&self, all: &Histogram) -> Histogram {
        let mut left = all.clone();
        self.apart.iter().flatten().for_each(|others| left.subtract(others));
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Failure;

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
        answers.merge(&shards[1]);
        other_way.merge(&shards[0]);
        assert_eq!(answers, other_way);
        let times = answers.succeeded(&all).quantiles();
        assert_eq!((times.count, times.min), (2, 1.0));
        assert!((times.mean - 2.0).abs() < 0.01 && (times.max - 3.0).abs() < 0.01, "{times:?}");
        assert_eq!(answers.codes(), BTreeMap::from([(200, 1), (201, 1), (304, 1), (404, 1), (503, 1)]));
        assert_eq!(answers.apart(Class::Refused).unwrap().count(), 1);
    }
}
