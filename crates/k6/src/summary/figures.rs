//! Numbers as k6's summary writes them.

use crate::metrics::Unit;

/// The unit all durations of a summary are in (`summaryTimeUnit`); without one, each has the unit that suits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // as they say
pub enum TimeUnit {
    Seconds,
    Milliseconds,
    Microseconds,
}

impl TimeUnit {
    /// All of them, as options write them.
    const NAMES: [(TimeUnit, &str); 3] =
        [(TimeUnit::Seconds, "s"), (TimeUnit::Milliseconds, "ms"), (TimeUnit::Microseconds, "us")];

    /// `s`, `ms` or `us`.
    pub fn named(name: &str) -> Option<TimeUnit> {
        TimeUnit::NAMES.iter().find(|(_, known)| *known == name).map(|(unit, _)| *unit)
    }

    /// The unit as options write it.
    pub fn name(self) -> &'static str {
        TimeUnit::NAMES[self as usize].1
    }
}

/// A value of a metric in its unit.
pub(super) fn value(value: f64, of: Unit, times: Option<TimeUnit>) -> String {
    match of {
        Unit::Number | Unit::Events | Unit::Share => plain(value),
        Unit::Bytes => bytes(value),
        Unit::Milliseconds => duration(value, times),
    }
}

/// At most six decimals.
pub(super) fn plain(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1e21 {
        crate::json::number(value)
    } else {
        trimmed(format!("{value:.6}"))
    }
}

/// A share: two decimals, cut off rather than rounded, so that only all of them are 100 %.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", (share * 100.0 * 100.0).trunc() / 100.0)
}

fn bytes(value: f64) -> String {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    if value < 10.0 {
        return format!("{} B", crate::json::number(value));
    }
    let power = ((value.log10() / 3.0).floor() as usize).min(UNITS.len() - 1);
    let scaled = (value / 1000f64.powi(power as i32) * 10.0 + 0.5).floor() / 10.0;
    format!("{scaled:.*} {}", usize::from(scaled < 10.0), UNITS[power])
}

fn duration(ms: f64, unit: Option<TimeUnit>) -> String {
    match unit {
        Some(TimeUnit::Seconds) => format!("{:.2}s", ms / 1e3),
        Some(TimeUnit::Milliseconds) => format!("{ms:.2}ms"),
        Some(TimeUnit::Microseconds) => format!("{:.2}µs", ms * 1e3),
        None => suited(ms),
    }
}

fn suited(ms: f64) -> String {
    let cut = |value: f64| trimmed(format!("{:.2}", (value * 100.0).trunc() / 100.0));
    if ms == 0.0 {
        "0s".to_owned()
    } else if ms < 0.001 {
        format!("{}ns", crate::json::number((ms * 1e6).trunc()))
    } else if ms < 1.0 {
        format!("{}µs", cut(ms * 1e3))
    } else if ms < 1e3 {
        format!("{}ms", cut(ms))
    } else if ms < 60e3 {
        format!("{}s", cut(ms / 1e3))
    } else {
        let seconds = (ms / 1e3) as u64;
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        match hours {
            0 => format!("{minutes}m{seconds}s"),
            _ => format!("{hours}h{minutes}m{seconds}s"),
        }
    }
}

fn trimmed(text: String) -> String {
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}
