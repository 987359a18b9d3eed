//! Instants as plain numbers: nanoseconds since the run's start, on one monotonic clock.

/// An instant of a run; negative before its start. What is done before the load has no place on this axis: it counts
/// from its own start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At(pub i64);

impl At {
    /// Nanoseconds from `earlier` to `self`; negative when `earlier` is later.
    pub fn since(self, earlier: At) -> i64 {
        self.0 - earlier.0
    }
    /// This instant moved by `ns`.
    pub fn plus(self, ns: i64) -> At {
        At(self.0.saturating_add(ns))
    }
    /// The whole second this instant falls in, counted from the run's start.
    pub fn second(self) -> i64 {
        self.0.div_euclid(1_000_000_000)
    }
}

/// Milliseconds since 1970 of an RFC 3339 instant in UTC (`2026-08-30T10:15:00.250Z`).
pub fn unix_ms(text: &str) -> Option<u64> {
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    let (hour, minute, second) = (part(11..13)?, part(14..16)?, part(17..19)?);
    let fraction = text.get(19..)?.strip_prefix('.').unwrap_or_default();
    let digits: String =
        fraction.chars().take_while(char::is_ascii_digit).chain("000".chars()).take(3).collect();
    // Days of the civil calendar, with years beginning in March so that leap days come last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    u64::try_from(seconds * 1000 + digits.parse::<i64>().ok()?).ok()
}
