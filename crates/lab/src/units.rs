//! Times, sizes, rates and signals as people write them.

use rustix::process::Signal;
use std::time::Duration;

/// A year: longer sums stay far from overflow.
const LONGEST_SECONDS: f64 = 366.0 * 86_400.0;

/// Units of time, in seconds.
const TIMES: &[(&str, f64)] =
    &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("sec", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];

/// Units of memory, in bytes.
const SIZES: &[(&str, f64)] = &[
    ("b", 1.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("k", 1024.0),
    ("kib", 1024.0),
    ("m", 1_048_576.0),
    ("mib", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("gib", 1_073_741_824.0),
];

/// Units of bandwidth, in bits a second.
const RATES: &[(&str, f64)] = &[
    ("bit", 1.0),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("gbit", 1e9),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("mbps", 1e6),
    ("gbps", 1e9),
];

/// Signals that end a service, without `SIG`.
const SIGNALS: &[(&str, Signal)] = &[
    ("TERM", Signal::TERM),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("HUP", Signal::HUP),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("WINCH", Signal::WINCH),
];

/// A number with one of these units behind it, which may be in capitals and stand apart.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.parse().ok()?;
    Some(number * factor).filter(|value| value.is_finite())
}

/// A time: `20ms`, `30s`, `5m`; a number alone is seconds.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse::<f64>().ok().or_else(|| with_unit(text, TIMES))?;
    seconds_of(seconds)
}

/// So many seconds, unless there are none or too many.
pub(crate) fn seconds_of(seconds: f64) -> Option<Duration> {
    (0.0..=LONGEST_SECONDS).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

/// Bytes: `512 MB` (10⁶), `1 GiB` (2³⁰).
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let bytes = text.trim().parse::<f64>().ok().or_else(|| with_unit(text, SIZES))?;
    (1.0..2f64.powi(60)).contains(&bytes).then_some(bytes as u64)
}

/// Bits a second: `60mbit`.
pub(crate) fn bits(text: &str) -> Option<u64> {
    let bits = with_unit(text, RATES)?;
    (1.0..1e15).contains(&bits).then_some(bits as u64)
}

/// A signal's number by its name: `SIGTERM` or `TERM`.
pub(crate) fn signal(text: &str) -> Option<i32> {
    let name = text.trim().to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    SIGNALS.iter().find(|(known, _)| *known == name).map(|(_, signal)| signal.as_raw())
}

/// The names of all signals, as a list in a sentence.
pub(crate) fn signals() -> String {
    SIGNALS.iter().map(|(name, _)| format!("SIG{name}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sizes_rates_and_signals_are_read_as_people_write_them() {
        for (text, ms) in [("20ms", 20), ("0.5 s", 500), ("2", 2000), ("5m", 300_000), ("1 H", 3_600_000)] {
            assert_eq!(time(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for (text, expected) in [
            ("1 GB", 1_000_000_000),
            ("1GiB", 1 << 30),
            ("512m", 512 << 20),
            ("64 KB", 64_000),
            ("4096", 4096),
        ] {
            assert_eq!(bytes(text), Some(expected), "{text}");
        }
        assert_eq!((bits("60mbit"), bits("1.5 Gbps")), (Some(60_000_000), Some(1_500_000_000)));
        assert_eq!((signal("SIGTERM"), signal("int")), (Some(15), Some(2)));
        for wrong in ["", "ms", "-1s", "1 day", "1e400", "nan"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
        for wrong in ["", "GB", "0", "-1 GB", "1 TB", "inf"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
        assert_eq!((bits("60"), bits("0mbit"), signal("SIGNOPE")), (None, None, None));
    }
}
