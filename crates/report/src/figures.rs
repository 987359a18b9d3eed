//! Figures as people read them: thousands separated, units always named, never rounded into a lie.
//!
//! The one decision a reader would question: ratios are cut, not rounded. 99,999 of 100,000 is `99.9990 %`; only a
//! ratio of exactly one prints as `100 %`.

pub use sonagi_measure::figures::{bytes, count, counted, figure};

/// A count in at most five characters or so, for the live line: `9,999`, `12.3k`, `1.20M`.
pub fn short(n: u64) -> String {
    match n {
        ..10_000 => count(n),
        10_000..999_500 => format!("{}k", figure(n as f64 / 1e3)),
        999_500..999_500_000 => format!("{}M", figure(n as f64 / 1e6)),
        _ => format!("{}G", figure(n as f64 / 1e9)),
    }
}

/// Milliseconds with their unit: `4.21 ms`; from ten seconds on `12.4 s`.
pub fn milliseconds(ms: f64) -> String {
    if ms >= 10_000.0 { format!("{} s", figure(ms / 1000.0)) } else { format!("{} ms", figure(ms)) }
}

/// A length of time: `0.42 s`, `41.2 s`, `2 min 03 s`, `1 h 02 min`.
pub fn duration(seconds: f64) -> String {
    if seconds < 99.95 {
        return format!("{} s", figure(seconds.max(0.0)));
    }
    let whole = seconds.round() as u64;
    match whole {
        0..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", count(whole / 3600), whole % 3600 / 60),
    }
}

/// A ratio of 0 to 1 as a percentage, cut to about two significant digits of what is missing to one: `97.0 %`,
/// `99.9970 %`; `100 %` only when it is exactly one.
pub fn percent(ratio: f64) -> String {
    if !ratio.is_finite() {
        return "-".to_string();
    }
    if ratio >= 1.0 {
        return format!("{} %", figure_trimmed(ratio * 100.0));
    }
    if ratio <= 0.0 {
        return "0 %".to_string();
    }
    // A nudge keeps 1 − 0.9999 from being a hair below 0.0001 and costing a digit.
    let missing = (1.0 - ratio) * 100.0 * (1.0 + 1e-9);
    let decimals = (1 - missing.log10().floor() as i32).clamp(1, 8);
    let scale = 10f64.powi(decimals);
    // A nudge far below the last digit shown keeps 0.97 × 1000 from becoming 969.
    let cut = (ratio * 100.0 * scale + 1e-6).floor() / scale;
    format!("{cut:.*} %", decimals as usize)
}

/// A small share as a percentage with two significant digits, rounded: `3.0 %`, `0.0030 %`.
pub fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0 %".to_string();
    }
    let value = part as f64 / whole as f64 * 100.0;
    let decimals = (1 - value.log10().floor() as i32).clamp(0, 8);
    format!("{value:.*} %", decimals as usize)
}

/// The middle value, or the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values.get(middle).copied(),
        _ => Some((values.get(middle.checked_sub(1)?)? + values.get(middle)?) / 2.0),
    }
}

fn figure_trimmed(value: f64) -> String {
    if value.fract() == 0.0 { count(value as u64) } else { figure(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_line_has_short_counts() {
        let shown: Vec<_> = [9_999, 12_345, 999_499, 999_600, 2_500_000_000].map(short).to_vec();
        assert_eq!(shown, ["9,999", "12.3k", "999k", "1.00M", "2.50G"]);
    }

    #[test]
    fn a_ratio_below_one_never_prints_as_a_hundred_percent() {
        let cases = [
            (1.0, "100 %"),
            (0.97, "97.0 %"),
            (0.9999, "99.990 %"),
            (99_999.0 / 100_000.0, "99.9990 %"),
            (1.0 - 3e-5, "99.9970 %"),
            (0.5, "50.0 %"),
            (0.0, "0 %"),
            (1.25, "125 %"),
        ];
        for (ratio, expected) in cases {
            assert_eq!(percent(ratio), expected, "{ratio}");
        }
        assert!(!percent(1.0 - 1e-12).starts_with("100"));
    }

    #[test]
    fn shares_keep_two_significant_digits() {
        assert_eq!(share(3012, 100_000), "3.0 %");
        assert_eq!(share(3, 100_000), "0.0030 %");
        assert_eq!(share(0, 100_000), "0 %");
        assert_eq!(share(50, 100), "50 %");
    }

    #[test]
    fn durations_carry_their_unit() {
        let shown: Vec<_> = [0.4, 41.23, 123.0, 3720.0].map(duration).to_vec();
        assert_eq!(shown, ["0.40 s", "41.2 s", "2 min 03 s", "1 h 02 min"]);
        assert_eq!(milliseconds(12_400.0), "12.4 s");
    }
}
