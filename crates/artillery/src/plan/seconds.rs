//! Times as scripts write them.

/// The seconds of "500ms", "30s", "5m", "1h", "1d", "1 week" or plain seconds.
pub fn seconds_of(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let factor = match unit.trim() {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => 0.001,
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    };
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_in_seconds() {
        for (text, seconds) in [
            ("0.5", 0.5),
            ("500ms", 0.5),
            ("1.5 s", 1.5),
            ("2m", 120.0),
            ("1 hour", 3600.0),
            ("1w", 604_800.0),
        ] {
            assert_eq!(seconds_of(text), Some(seconds), "{text}");
        }
        for text in ["", "soon", "1 fortnight", "-1", "1.2.3s"] {
            assert_eq!(seconds_of(text), None, "{text}");
        }
    }
}
