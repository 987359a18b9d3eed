//! Times, and rates where a time between two turns is wanted.

use super::{Fields, MAX_SECONDS, Reader, seconds_of};
use crate::script::yaml::Kind;
use std::time::Duration;

/// Highest rate of one user's turns: a typing mistake above it would leave less than a microsecond to each.
const MAX_RATE: f64 = 1_000_000.0;

impl Reader {
    /// A time: seconds, or a text with a unit.
    pub(crate) fn duration(&mut self, fields: &Fields<'_>, key: &str) -> Option<Duration> {
        let node = fields.get(key)?;
        let seconds = match &node.kind {
            Kind::Number(number) => number.as_f64(),
            Kind::Text { .. } => seconds_of(self.constant(node)?.trim()),
            _ => None,
        };
        self.time_of(fields, key, seconds)
    }

    /// The time from one turn to the next: a time, or a rate of turns.
    pub(crate) fn interval(&mut self, fields: &Fields<'_>, key: &str) -> Option<Duration> {
        let node = fields.get(key)?;
        let Kind::Text { .. } = node.kind else { return self.duration(fields, key) };
        let text = self.constant(node)?;
        let text = text.trim();
        let seconds = match rate_of(text) {
            None => seconds_of(text),
            Some(rate) if rate <= MAX_RATE && (0.0..=MAX_SECONDS).contains(&rate.recip()) => {
                Some(rate.recip())
            }
            Some(_) => {
                let what = format!(
                    "{key}: a rate is at least one a year and at most 1,000,000 a second; got {text:?}"
                );
                self.problem(node.place, what, Some(format!("e.g. `{key}: 20/s`, which is every 50 ms")));
                return None;
            }
        };
        self.time_of(fields, key, seconds)
    }

    /// The time of so many seconds; tells of a value that is none.
    fn time_of(&mut self, fields: &Fields<'_>, key: &str, seconds: Option<f64>) -> Option<Duration> {
        match seconds.filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds)) {
            Some(seconds) => Some(Duration::from_secs_f64(seconds)),
            None => {
                let node = fields.get(key)?;
                self.wrong(fields, key, node);
                None
            }
        }
    }
}

/// The turns a second of "20/s", "30/min" or "100/h", whether or not there can be so many. None: it is no rate.
fn rate_of(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once('/')?;
    let unit = unit.trim();
    // Without a number of its own: what "20/5s" means is for nobody to guess.
    let is_unit = unit.starts_with(|c: char| c.is_ascii_alphabetic());
    let seconds = seconds_of(&format!("1{unit}")).filter(|_| is_unit)?;
    let count: f64 = count.trim().parse().ok()?;
    Some(count / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_over_a_unit_of_time() {
        for (text, rate) in [
            ("20/s", 20.0),
            ("0.5 / s", 0.5),
            ("30/m", 0.5),
            ("3600/hour", 1.0),
            ("1/ms", 1000.0),
            ("0/s", 0.0),
            ("-3/s", -3.0),
            ("inf/s", f64::INFINITY),
        ] {
            assert_eq!(rate_of(text), Some(rate), "{text}");
        }
        for text in ["20", "20/", "/s", "20/5s", "20/fortnight", "often/s", "20/s/s"] {
            assert_eq!(rate_of(text), None, "{text}");
        }
    }
}
