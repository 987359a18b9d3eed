//! Values of flags that clap has no parser for: durations, ranges of addresses, widths.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

/// Limit on the addresses of a range.
const MOST_ADDRESSES: u128 = 4096;
/// The widest bracket that says anything.
const WIDEST: f64 = 0.5;

/// `250ms`, `25s`, `5m`, `1h`; a plain number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let number_ends = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_ends);
    let scale = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("a length of time is a number with ms, s, m or h; got `{text}`")),
    };
    let value: f64 =
        number.parse().map_err(|_| format!("a length of time starts with a number; got `{text}`"))?;
    Duration::try_from_secs_f64(value * scale).map_err(|_| format!("`{text}` is too long"))
}

/// As [`duration`], but not zero.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err(format!("it must be longer than 0; got `{text}`")),
        time => Ok(time),
    }
}

/// `127.0.0.2`, or `127.0.0.2-127.0.0.9` (both ends included, at most 4,096 addresses of one family).
pub(crate) fn addresses(text: &str) -> Result<Vec<IpAddr>, String> {
    let parse = |text: &str| -> Result<IpAddr, String> {
        text.trim().parse().map_err(|_| {
            format!("an address is like 127.0.0.2, a range like 127.0.0.2-127.0.0.9; got `{text}`")
        })
    };
    let Some((first, last)) = text.split_once('-') else { return Ok(vec![parse(text)?]) };
    let (first, last) = (parse(first)?, parse(last)?);
    let (from, to) = match (first, last) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(u32::from(a)), u128::from(u32::from(b))),
        (IpAddr::V6(a), IpAddr::V6(b)) => (u128::from(a), u128::from(b)),
        _ => return Err(format!("both ends of a range are of one family; got `{text}`")),
    };
    if to < from {
        return Err(format!("a range ascends; got `{text}`"));
    }
    if to - from >= MOST_ADDRESSES {
        return Err(format!("a range has at most {MOST_ADDRESSES} addresses; `{text}` has more"));
    }
    Ok((from..=to)
        .map(|n| match (first, u32::try_from(n)) {
            (IpAddr::V4(_), Ok(n)) => IpAddr::V4(Ipv4Addr::from(n)),
            _ => IpAddr::V6(Ipv6Addr::from(n)),
        })
        .collect())
}

/// `5%`, `5 %` or `0.05`, the width of a bracket as a share.
pub(crate) fn width(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    share.filter(|share| *share > 0.0 && *share <= WIDEST).ok_or_else(|| {
        let most = WIDEST * 100.0;
        format!("a width is more than 0 % and at most {most} %, e.g. 5%; got `{text}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_a_percentage_or_a_share() {
        assert_eq!((width("5%"), width("2.5 %"), width("0.1")), (Ok(0.05), Ok(0.025), Ok(0.1)));
        for bad in ["0%", "-5%", "60%", "wide"] {
            assert!(width(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lengths_of_time_are_in_seconds_unless_a_unit_says_otherwise() {
        let ms = |text| duration(text).map(|d| d.as_millis());
        let read: Vec<_> =
            ["250ms", "25s", "1.5", "2m", "1h"].map(ms).into_iter().map(Result::unwrap).collect();
        assert_eq!(read, [250, 25_000, 1500, 120_000, 3_600_000]);
        for bad in ["", "ms", "5 s", "-1", "5d", "1.2.3"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_range_of_addresses_includes_both_ends() {
        let shown = |text| addresses(text).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shown("127.0.0.254-127.0.1.1"), ["127.0.0.254", "127.0.0.255", "127.0.1.0", "127.0.1.1"]);
        assert_eq!(shown("::1"), ["::1"]);
        assert_eq!(shown("::1-::2"), ["::1", "::2"]);
        for bad in ["127.0.0.9-127.0.0.2", "127.0.0.1-::1", "0.0.0.0-255.255.255.255", "localhost"] {
            assert!(addresses(bad).is_err(), "{bad}");
        }
    }
}
