//! The Gregorian calendar, as far as cookies and certificates need it.

/// Days from 1970 to a day of the Gregorian calendar: whole years of 365 days, the leap days among them, and the days
/// since the first of March, from which on months have a rule.
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 719,468 days lie between the first of March of the year 0 and 1970.
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}
