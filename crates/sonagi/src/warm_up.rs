//! The warm-up of a run folder: where it ends, and what the run's times are behind it.

use crate::error::Error;
use crate::languages::LANGUAGES;
use sonagi_measure::folder::Reader;
use sonagi_measure::histogram::Histogram;
use sonagi_measure::summary::Summary;
use sonagi_verdict::compare::{WarmUp, warm_up};
use std::path::Path;

/// What is to be done about warm-ups (`--warm-up`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WarmUpWish {
    /// Nothing is left out.
    None,
    /// What MSER-5 finds.
    #[default]
    Auto,
    /// So many seconds.
    Seconds(u64),
}

impl WarmUpWish {
    /// `none`, `auto`, `10s` or `2m`.
    pub(crate) fn parse(text: &str) -> Result<WarmUpWish, String> {
        let rule = || format!("a warm-up is none, auto or whole seconds such as 10s; got `{text}`");
        let text = text.trim();
        let seconds = || match (text.strip_suffix('s'), text.strip_suffix('m')) {
            (_, Some(minutes)) => minutes.parse::<u64>().ok()?.checked_mul(60),
            (Some(seconds), _) => seconds.parse().ok(),
            _ => text.parse().ok(),
        };
        match text {
            "none" => Ok(WarmUpWish::None),
            "auto" => Ok(WarmUpWish::Auto),
            _ => seconds().map(WarmUpWish::Seconds).ok_or_else(rule),
        }
    }

    /// As it is said.
    pub(crate) fn name(self) -> String {
        match self {
            WarmUpWish::None => "none".to_owned(),
            WarmUpWish::Auto => "auto".to_owned(),
            WarmUpWish::Seconds(seconds) => format!("{seconds}s"),
        }
    }
}

/// The run's summary with the times behind its warm-up, and what was found of that; None: nobody is to look.
pub(crate) fn behind(
    path: &Path,
    reader: &Reader,
    summary: Summary,
    wish: WarmUpWish,
) -> Result<(Summary, Option<WarmUp>), Error> {
    let found = match wish {
        WarmUpWish::None => return Ok((summary, None)),
        WarmUpWish::Auto => warm_up(&medians(reader)),
        WarmUpWish::Seconds(seconds) => WarmUp::Cut(seconds),
    };
    if found.first_second() == 0 {
        return Ok((summary, Some(found)));
    }
    if summary.duration_s <= found.first_second() as f64 {
        let what = format!(
            "{} has {:.0} s, and a warm-up of {} s leaves nothing of it",
            path.display(),
            summary.duration_s,
            found.first_second()
        );
        return Err(Error::could_not(format_args!("{what}\nhint: --warm-up auto, none or a shorter one")));
    }
    let part = reader.summed_up_from(found.first_second(), (LANGUAGES.store)(reader.header()));
    Ok((summary.with_times_of(&part), Some(found)))
}

/// The median of each second that has one: of its deliveries, or of its responses in a run that delivers nothing.
fn medians(reader: &Reader) -> Vec<(u64, f64)> {
    let store = (LANGUAGES.store)(reader.header());
    let (mut delivered, mut answered) = (Vec::new(), Vec::new());
    for snapshot in reader.seconds(store.registry()) {
        let mut responses = Histogram::new();
        for response in snapshot.operations.iter().filter_map(|timings| timings.response.as_ref()) {
            responses.merge(response);
        }
        for (medians, times) in [(&mut delivered, &snapshot.delivery), (&mut answered, &responses)] {
            if !times.is_empty() {
                medians.push((snapshot.second, times.quantile_ms(0.5)));
            }
        }
    }
    if delivered.is_empty() { answered } else { delivered }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_is_found_given_or_none() {
        assert_eq!(WarmUpWish::parse("none"), Ok(WarmUpWish::None));
        assert_eq!(WarmUpWish::parse("auto"), Ok(WarmUpWish::Auto));
        assert_eq!(WarmUpWish::parse("10s"), Ok(WarmUpWish::Seconds(10)));
        assert_eq!(WarmUpWish::parse("2m"), Ok(WarmUpWish::Seconds(120)));
        assert_eq!(WarmUpWish::parse("7"), Ok(WarmUpWish::Seconds(7)));
        assert!(WarmUpWish::parse("soon").is_err() && WarmUpWish::parse("-1s").is_err());
    }
}
