//! The last ten minutes of a watch, a second each, for whoever missed some of them.

use serde_json::{Value, json};
use sonagi_watch::Second;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Seconds that are kept.
const SECONDS_MAX: usize = 600;
/// Bytes of an answer; one second is told whatever its size.
const ANSWER_MAX: usize = 4 << 20;

/// Seconds by number, the newest last.
pub(crate) struct Ring {
    /// Tells this watch from the one that served there before.
    id: String,
    seconds: Mutex<VecDeque<(u64, String)>>,
}

impl Ring {
    pub(crate) fn new(id: String) -> Ring {
        Ring { id, seconds: Mutex::default() }
    }

    pub(crate) fn push(&self, second: &Second) {
        let mut seconds = self.seconds();
        if seconds.len() >= SECONDS_MAX {
            seconds.pop_front();
        }
        seconds.push_back((second.number, second.to_json().to_string()));
    }

    /// The answer to whoever has all seconds of the watch `of` up to `after`: those that follow, as many as fit. To
    /// who knows none, the newest; to who knows those of another watch, all.
    pub(crate) fn after(&self, of: Option<&str>, after: u64) -> String {
        let seconds = self.seconds();
        let newest = seconds.back().map_or(0, |(number, _)| *number);
        let after = match of {
            Some(of) if of == self.id => after,
            Some(_) => 0,
            None => newest.saturating_sub(1),
        };
        let mut told = String::new();
        for (_, second) in seconds.iter().filter(|(number, _)| *number > after) {
            if !told.is_empty() && told.len() + second.len() > ANSWER_MAX {
                break;
            }
            let comma = if told.is_empty() { "" } else { "," };
            told.push_str(comma);
            told.push_str(second);
        }
        let id: Value = json!(self.id);
        format!("{{\"watch\":{id},\"newest\":{newest},\"seconds\":[{told}]}}")
    }

    fn seconds(&self) -> MutexGuard<'_, VecDeque<(u64, String)>> {
        self.seconds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_missed_seconds_is_told_them_and_who_knows_none_the_newest() {
        let ring = Ring::new("a1".to_owned());
        let numbers = |of, after| {
            let answer: Value = serde_json::from_str(&ring.after(of, after)).unwrap();
            assert_eq!(answer["watch"], "a1");
            let seconds = answer["seconds"].as_array().unwrap().iter();
            (
                answer["newest"].clone(),
                seconds.map(|second| second["second"].as_u64().unwrap()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(numbers(None, 0), (json!(0), vec![]));
        for number in 1..=700 {
            ring.push(&Second { number, ..Second::default() });
        }
        assert_eq!(numbers(Some("a1"), 697), (json!(700), vec![698, 699, 700]));
        assert_eq!(numbers(Some("a1"), 700).1, [0; 0]);
        assert_eq!(numbers(None, 0).1, [700]);
        let all = numbers(Some("b2"), 650).1;
        assert_eq!((all.len(), all[0]), (600, 101));
    }
}
