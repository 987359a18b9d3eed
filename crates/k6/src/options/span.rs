//! Lengths of time as k6 writes them: `1d2h3m`, `1m30s`, a number of milliseconds; and back, as `1m30s`.
//!
//! Kept as signed nanoseconds, for k6 lets some of them be negative.

use serde_json::Value;
use std::time::Duration;

/// Units, the longer ones first where one begins another.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];
pub(super) const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 24 * 3600 * SECOND;

/// The length of time that a value of the options says, in ns: a number of milliseconds, or a text.
pub(super) fn of(value: &Value) -> Result<i64, String> {
    match value {
        Value::Number(number) => number.as_f64().and_then(milliseconds).ok_or_else(|| "is too long".into()),
        Value::String(text) => parse(text),
        _ => Err("must be a length of time, as \"1m30s\", or a number of milliseconds".into()),
    }
}

/// `1d2h3m`, `1m30s`, or a number of milliseconds.
pub(crate) fn parse(text: &str) -> Result<i64, String> {
    if let Some(ns) = text.parse().ok().and_then(milliseconds) {
        return Ok(ns);
    }
    let Some((days, rest)) = text.split_once('d') else { return with_units(text) };
    let days: i64 = days.parse().map_err(|_| "needs a whole number of days before its `d`".to_string())?;
    let rest = if rest.is_empty() { 0 } else { with_units(rest)? };
    if rest < 0 {
        return Err("has a sign after its days".into());
    }
    let rest = if days < 0 { -rest } else { rest };
    days.checked_mul(DAY).and_then(|ns| ns.checked_add(rest)).ok_or_else(|| "is too long".into())
}

/// `1m30s`: every number with its unit, as flags want it.
pub(super) fn with_units(text: &str) -> Result<i64, String> {
    let (sign, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err("is empty".into());
    }
    let mut total = 0i64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let Some((unit, ns)) = UNITS.iter().find(|(unit, _)| tail.starts_with(unit)) else {
            let unit: String = tail.chars().take_while(|c| !c.is_ascii_digit() && *c != '.').collect();
            return Err(match unit.is_empty() {
                true => "has no unit".into(),
                false => format!("has an unknown unit \"{unit}\""),
            });
        };
        let ns = times(number, *ns)?;
        total = total.checked_add(ns).ok_or("is too long")?;
        rest = &tail[unit.len()..];
    }
    Ok(sign * total)
}

/// `1.5` units in ns, exactly.
fn times(number: &str, unit: i64) -> Result<i64, String> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = [whole, part].concat();
    if digits.is_empty() || part.contains('.') {
        return Err("is not a number with its unit".into());
    }
    let too_long = |_| "is too long".to_string();
    // Beyond eighteen places nothing is left of a nanosecond.
    let part = &part[..part.len().min(18)];
    let value: i128 = [whole, part].concat().parse().map_err(too_long)?;
    let ns = value.checked_mul(i128::from(unit)).ok_or("is too long")? / 10i128.pow(part.len() as u32);
    i64::try_from(ns).map_err(|_| "is too long".to_string())
}

fn milliseconds(ms: f64) -> Option<i64> {
    let ns = ms * 1e6;
    (ns.is_finite() && ns.abs() < 9.2e18).then_some(ns as i64)
}

/// The text k6 writes: `1h0m0s`, `1.5s`, `1.5ms`, `500µs`, `0s`.
pub(super) fn text(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let all = ns.unsigned_abs();
    let (second, minute) = (SECOND as u64, 60 * SECOND as u64);
    let small = |unit: u64, name: &str| format!("{sign}{}{name}", decimal(all, unit));
    match all {
        0 => "0s".into(),
        1..1_000 => small(1, "ns"),
        1_000..1_000_000 => small(1_000, "µs"),
        1_000_000..1_000_000_000 => small(1_000_000, "ms"),
        _ => {
            let (hours, minutes) = (all / minute / 60, all / minute % 60);
            let seconds = decimal(all % minute, second);
            match (hours, minutes) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, _) => format!("{sign}{minutes}m{seconds}s"),
                _ => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// `ns` in `unit`s, without zeros at its end.
fn decimal(ns: u64, unit: u64) -> String {
    let (whole, part) = (ns / unit, ns % unit);
    if part == 0 {
        return whole.to_string();
    }
    let places = unit.ilog10() as usize;
    let part = format!("{part:0places$}");
    format!("{whole}.{}", part.trim_end_matches('0'))
}

/// For those who wait: what is negative is no wait at all.
pub(crate) fn wait(ns: i64) -> Duration {
    Duration::from_nanos(ns.max(0) as u64)
}

/// A wait as k6 writes it, `1m30s`.
pub(crate) fn written(wait: Duration) -> String {
    text(i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn lengths_of_time_are_read_as_k6_reads_them() {
        let check = |value: Value, expected: Result<i64, &str>| {
            assert_eq!(of(&value), expected.map_err(str::to_string), "{value}");
        };
        check(json!(1000), Ok(SECOND));
        check(json!(1.5), Ok(1_500_000));
        check(json!(-5), Ok(-5_000_000));
        check(json!("500"), Ok(500_000_000));
        check(json!("1m30s"), Ok(90 * SECOND));
        check(json!("1.5s"), Ok(1_500_000_000));
        check(json!("-1.5h"), Ok(-5400 * SECOND));
        check(json!("1d"), Ok(DAY));
        check(json!("1d2h3m"), Ok(DAY + 7380 * SECOND));
        check(json!("-1d1h"), Ok(-DAY - 3600 * SECOND));
        check(json!("500us"), Ok(500_000));
        check(json!("3µs"), Ok(3_000));
        check(json!("0"), Ok(0));
        check(json!("1x"), Err("has an unknown unit \"x\""));
        check(json!("1h2"), Err("has no unit"));
        check(json!("1h2d"), Err("needs a whole number of days before its `d`"));
        check(json!("1d-2h"), Err("has a sign after its days"));
        check(json!(""), Err("is empty"));
        check(json!("s"), Err("is not a number with its unit"));
        check(json!(true), Err("must be a length of time, as \"1m30s\", or a number of milliseconds"));
        check(json!("9999999999h"), Err("is too long"));
        assert_eq!(with_units("5"), Err("has no unit".into()), "flags want a unit");
    }

    #[test]
    fn lengths_of_time_are_written_as_k6_writes_them() {
        let cases = [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (1_500_000, "1.5ms"),
            (SECOND, "1s"),
            (31_500_000_000, "31.5s"),
            (90 * SECOND, "1m30s"),
            (600 * SECOND, "10m0s"),
            (3600 * SECOND, "1h0m0s"),
            (25 * 3600 * SECOND, "25h0m0s"),
            (-5 * SECOND, "-5s"),
            (SECOND + 1, "1.000000001s"),
        ];
        for (ns, expected) in cases {
            assert_eq!(text(ns), expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(ns in -9_000_000_000_000_000i64..9_000_000_000_000_000) {
            prop_assert_eq!(parse(&text(ns)), Ok(ns));
        }
    }
}
