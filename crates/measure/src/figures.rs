//! Counts and figures as people read them: thousands separated, with their noun or unit. And texts that may be shown to
//! them.

/// A count with thousands separators: `1,204,311`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, in the singular where that is right: `1 user`, `1,204 users`.
pub fn counted(n: u64, noun: &str) -> String {
    let plural = match (n, noun) {
        (1, _) => noun.to_string(),
        (_, "copy") => "copies".to_string(),
        (_, noun) if noun.ends_with('s') => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(n))
}

/// A figure with about three significant digits and thousands separators: `0.42`, `4.21`, `42.1`, `1,204`.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_string();
    }
    let size = value.abs();
    // The limits sit where rounding would otherwise add a digit: 9.996 is `10.0`, not `10.00`.
    if size < 9.995 {
        format!("{value:.2}")
    } else if size < 99.95 {
        format!("{value:.1}")
    } else {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}{}", count(size.round() as u64))
    }
}

/// Bytes in decimal units: `512 B`, `1.20 kB`, `38.4 MB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if n < 1000 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", figure(value), UNITS[unit])
}

/// One line without control characters: what a target sends must not move the cursor of who reads it.
pub fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        let shown: Vec<_> = [0, 999, 1000, 12_345, 1_204_311].map(count).to_vec();
        assert_eq!(shown, ["0", "999", "1,000", "12,345", "1,204,311"]);
    }

    #[test]
    fn a_noun_is_in_the_singular_for_one_only() {
        assert_eq!(counted(1, "user"), "1 user");
        assert_eq!(counted(0, "user"), "0 users");
        assert_eq!(counted(2_000, "copy"), "2,000 copies");
        assert_eq!(counted(2, "process"), "2 processes");
    }

    #[test]
    fn figures_keep_three_significant_digits_and_never_gain_one_by_rounding() {
        let shown: Vec<_> = [0.0, 0.418, 9.994, 9.996, 42.06, 99.96, 1204.4].map(figure).to_vec();
        assert_eq!(shown, ["0.00", "0.42", "9.99", "10.0", "42.1", "100", "1,204"]);
        assert_eq!(figure(-1204.4), "-1,204");
        assert_eq!(figure(f64::NAN), "-");
    }

    #[test]
    fn bytes_carry_their_unit() {
        let shown: Vec<_> = [0, 999, 1200, 999_600, 38_400_000].map(bytes).to_vec();
        assert_eq!(shown, ["0 B", "999 B", "1.20 kB", "1.00 MB", "38.4 MB"]);
    }
}
