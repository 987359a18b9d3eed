//! Reports failures that no client can mend to whoever runs the service: with the cause, and at most once a second.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::config::Error;
use crate::store::StoreError;
use crate::sync::lock;

/// The least time between two of them.
const PAUSE: Duration = Duration::from_secs(1);

type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// Tells the operator; until somebody asks to be told, nobody is.
#[derive(Default)]
pub(crate) struct FailureReporter {
    tell: OnceLock<Tell>,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    last: Option<Instant>,
    /// Failures that were not reported since.
    passed: u64,
}

impl FailureReporter {
    /// Sets the receiver; the first one set stays.
    pub(crate) fn tell(&self, tell: Tell) {
        let _ = self.tell.set(tell);
    }

    /// The store refused what was being done.
    pub(crate) fn store(&self, doing: &'static str, cause: &StoreError) {
        self.at(Instant::now(), &Error::store(doing)(cause));
    }

    /// A new certificate cannot be used. Told whenever it happens, because it happens once for each change of a file.
    pub(crate) fn certificate(&self, cause: &Error) {
        if let Some(tell) = self.tell.get() {
            tell(&format!("the certificate in use stays: {cause}"));
        }
    }

    /// The bus does not work.
    pub(crate) fn bus(&self, why: &str) {
        self.at(Instant::now(), &Error::Bus(why.to_owned()));
    }

    fn at(&self, now: Instant, failure: &Error) {
        let Some(tell) = self.tell.get() else { return };
        let passed = {
            let mut told = lock(&self.told);
            if told.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
                told.passed += 1;
                return;
            }
            told.last = Some(now);
            std::mem::take(&mut told.passed)
        };
        match passed {
            0 => tell(&failure.to_string()),
            passed => tell(&format!("{failure} (and {passed} times more since the last such line)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_failure_is_told_once_a_second_with_the_number_of_those_in_between() {
        let (failures, heard) = (FailureReporter::default(), Arc::<Mutex<Vec<String>>>::default());
        let ear = heard.clone();
        failures.tell(Box::new(move |text| lock(&ear).push(text.to_owned())));
        let start = Instant::now();
        for ms in [0, 1, 999, 1000, 1500, 2000, 4000] {
            let full = Error::Store { doing: "write", reason: "the disk is full".to_owned() };
            failures.at(start + Duration::from_millis(ms), &full);
        }
        let full = "cannot write the message store: the disk is full";
        let more = |n| format!("{full} (and {n} times more since the last such line)");
        assert_eq!(*lock(&heard), [full.to_owned(), more(2), more(1), full.to_owned()]);
    }
}
