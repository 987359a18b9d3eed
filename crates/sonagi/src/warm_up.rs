//! The warm-up of a run folder: where it ends, and what the run's times are behind it.

use crate::error::Error;
use crate::languages::LANGUAGES;
use sonagi_measure::At;
use sonagi_measure::folder::Reader;
use sonagi_measure::histogram::Histogram;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::Snapshot;
use sonagi_verdict::compare::{WarmUp, warm_up};
use std::path::Path;

/// Users are still there while this share of the most is.
const THERE: f64 = 0.9;
/// The last second of the phases may end so much behind them (ns).
const SECONDS_MAY_BE_LATE_NS: i64 = 500_000_000;

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
        WarmUpWish::Auto => {
            let seconds = seconds(reader);
            warm_up(&medians(&seconds[..of_load(&seconds, reader.phases_ended())]))
        }
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

/// A second of a run.
#[derive(Clone, Copy, Debug)]
struct Second {
    number: u64,
    end: At,
    /// Alive at its end.
    users: u64,
    /// The medians of its deliveries and of its responses (ms), if it has any.
    delivered: Option<f64>,
    answered: Option<f64>,
}

fn seconds(reader: &Reader) -> Vec<Second> {
    let store = (LANGUAGES.store)(reader.header());
    let median = |times: &Histogram| (!times.is_empty()).then(|| times.quantile_ms(0.5));
    let second = |snapshot: Snapshot| {
        let mut responses = Histogram::new();
        for response in snapshot.operations.iter().filter_map(|timings| timings.response.as_ref()) {
            responses.merge(response);
        }
        Second {
            number: snapshot.second,
            end: snapshot.at,
            users: snapshot.shards.iter().map(|shard| shard.users).sum(),
            delivered: median(&snapshot.delivery),
            answered: median(&responses),
        }
    };
    reader.seconds(store.registry()).map(second).collect()
}

/// How many of the seconds, from the first on, are of the load: those of the phases, and behind them those in which
/// nearly all users are still there. When they leave, a target works off what it was too slow for: its times may well
/// lie close then, and are no steady state.
fn of_load(seconds: &[Second], phases_ended: Option<At>) -> usize {
    let Some(ended) = phases_ended else { return seconds.len() };
    let in_phases = |second: &&Second| second.end.0 < ended.0 + SECONDS_MAY_BE_LATE_NS;
    let most = seconds.iter().map(|second| second.users).max().unwrap_or(0);
    let is_there = |second: &Second| most > 0 && second.users as f64 >= THERE * most as f64;
    let last = seconds.iter().rposition(is_there).map_or(0, |last| last + 1);
    seconds.iter().take_while(in_phases).count().max(last)
}

/// The median of each second that has one: of its deliveries, or of its responses in a run that delivers nothing.
fn medians(seconds: &[Second]) -> Vec<(u64, f64)> {
    let of = |median: fn(&Second) -> Option<f64>| {
        let medians = seconds.iter().filter_map(|second| Some((second.number, median(second)?)));
        medians.collect::<Vec<(u64, f64)>>()
    };
    let delivered = of(|second| second.delivered);
    if delivered.is_empty() { of(|second| second.answered) } else { delivered }
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

    /// Seconds with so many users and this median each.
    fn run(seconds: impl IntoIterator<Item = (u64, f64)>) -> Vec<Second> {
        let second = |(number, (users, answered)): (usize, (u64, f64))| Second {
            number: number as u64,
            end: At((number as i64 + 1) * 1_000_000_000),
            users,
            delivered: None,
            answered: Some(answered),
        };
        seconds.into_iter().enumerate().map(second).collect()
    }

    #[test]
    fn a_backlog_that_is_worked_off_is_no_steady_state() {
        // Forty users a second for eight seconds come to a target that can do twelve: they wait ever longer, and the
        // last are there for another 25 seconds.
        let rising = (1..=8).map(|second| (28 * second, 200.0 * second as f64));
        let worked_off = (1..=25).map(|second| (224 - 8 * second, 5_000.0));
        let seconds = run(rising.chain(worked_off));
        let ended = Some(At(8_000_000_000));
        assert_eq!(warm_up(&medians(&seconds)), WarmUp::Cut(5), "which is what all of its seconds look like");
        assert_eq!(of_load(&seconds, ended), 10);
        assert_eq!(warm_up(&medians(&seconds[..10])), WarmUp::TooShort);
    }

    #[test]
    fn users_who_stay_behind_the_phases_are_of_the_load() {
        // A room of fifty that fills in two seconds and talks for forty, slower at first; then they leave.
        let talking = (0..40).map(|second| (50, if second < 5 { 40.0 } else { 20.0 }));
        let seconds = run([(20, 60.0), (50, 50.0)].into_iter().chain(talking).chain([(10, 20.0), (0, 20.0)]));
        assert_eq!(of_load(&seconds, Some(At(2_000_000_000))), 42);
        assert_eq!(of_load(&seconds, None), seconds.len(), "no phase says when the load was over");
        // Short visits: few are there at any time, and the phases say all.
        let visits =
            run((0..60).map(|second| (if second == 12 { 6 } else { 2 }, 20.0)).chain([(0, 20.0); 4]));
        assert_eq!(of_load(&visits, Some(At(60_000_000_000))), 60);
    }
}
