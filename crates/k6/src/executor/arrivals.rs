//! When arrivals are planned, as a pure function: the instant of arrival n, from its scenario's start.
//!
//! What lies between two whole arrivals is kept in integers, so that an arrival at the very end of a stage is one,
//! whatever the rates; only the place within a slope is a float.

use crate::options::{Executor, Stage};
use std::time::Duration;

/// The planned arrivals of one scenario.
#[derive(Debug, Clone)]
pub struct Arrivals {
    /// A time unit in ns.
    unit: i128,
    slopes: Vec<Slope>,
    /// How much of an arrival has passed when the first is due: nothing at a constant rate, where the first comes at
    /// once; all of it at ramping ones.
    first: i128,
}

/// A stage. Areas are arrivals times twice the unit, which makes them whole numbers.
#[derive(Debug, Clone, Copy)]
struct Slope {
    start: i128,
    duration: i128,
    /// Per time unit.
    from: i128,
    to: i128,
    /// Area before it.
    before: i128,
}

impl Slope {
    fn area(&self) -> i128 {
        self.duration * (self.from + self.to)
    }
}

impl Arrivals {
    /// None for executors whose iterations follow each other instead.
    pub fn of(executor: &Executor) -> Option<Arrivals> {
        match executor {
            Executor::ConstantArrivalRate { rate, time_unit, duration, .. } => {
                let stage = Stage { duration: *duration, target: *rate };
                Some(Arrivals::new(*rate, *time_unit, &[stage], 0))
            }
            Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
                Some(Arrivals::new(*start_rate, *time_unit, stages, 1))
            }
            _ => None,
        }
    }

    fn new(start_rate: u64, unit: Duration, stages: &[Stage], first: i128) -> Arrivals {
        let (mut start, mut before, mut from) = (0, 0, i128::from(start_rate));
        let mut slopes = Vec::new();
        for stage in stages {
            let duration = stage.duration.as_nanos() as i128;
            let slope = Slope { start, duration, from, to: i128::from(stage.target), before };
            (start, before, from) = (start + duration, before + slope.area(), slope.to);
            slopes.push(slope);
        }
        Arrivals { unit: unit.as_nanos() as i128, slopes, first }
    }

    /// When arrival `n`, counted from 0, is planned, in ns from the scenario's start; None: there are not as many.
    pub fn at(&self, n: u64) -> Option<i64> {
        let area = (i128::from(n) + self.first) * 2 * self.unit;
        let index = self.slopes.partition_point(|slope| slope.before + slope.area() < area);
        let slope = self.slopes.get(index)?;
        let area = area - slope.before;
        let within = if slope.from == slope.to {
            // Nothing arrives at rate 0, and nobody asks when.
            area / (2 * slope.to).max(1)
        } else {
            // The area under a slope is a square function of time; this is its inverse in the form that loses no
            // digits where the slope is all but flat.
            let (from, to) = (slope.from as f64, slope.to as f64);
            let (area, duration) = (area as f64, slope.duration as f64);
            let root = (from * from + area * (to - from) / duration).max(0.0).sqrt();
            if area == 0.0 { 0 } else { (area / (from + root)) as i128 }
        };
        Some((slope.start + within.min(slope.duration)) as i64)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        let area = self.slopes.last().map_or(0, |slope| slope.before + slope.area());
        (area / (2 * self.unit) - self.first + 1).max(0) as u64
    }

    /// The steepest rate, per second.
    pub fn most_per_second(&self) -> f64 {
        let most = self.slopes.iter().map(|slope| slope.from.max(slope.to)).max().unwrap_or(0);
        most as f64 * 1e9 / self.unit as f64
    }

    /// The rate at which arrival `n`, or the last one, follows the one before it, per second.
    pub fn rate_before(&self, n: u64) -> f64 {
        let Some(last) = self.count().checked_sub(1) else { return 0.0 };
        // A constant rate's first comes at once.
        let n = n.min(last).max(1 - self.first as u64);
        let before = n.checked_sub(1).and_then(|n| self.at(n)).unwrap_or(0);
        self.at(n).map_or(0.0, |at| 1e9 / (at - before).max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ramping(start_rate: u64, unit_ms: u64, stages: &[(u64, u64)]) -> Arrivals {
        let stage =
            |(ms, target): &(u64, u64)| Stage { duration: Duration::from_millis(*ms), target: *target };
        let stages: Vec<Stage> = stages.iter().map(stage).collect();
        Arrivals::new(start_rate, Duration::from_millis(unit_ms), &stages, 1)
    }

    fn constant(rate: u64, unit_ms: u64, duration_ms: u64) -> Arrivals {
        let stage = Stage { duration: Duration::from_millis(duration_ms), target: rate };
        Arrivals::new(rate, Duration::from_millis(unit_ms), &[stage], 0)
    }

    fn instants_ms(arrivals: &Arrivals) -> Vec<i64> {
        (0..).map_while(|n| arrivals.at(n)).map(|ns| ns / 1_000_000).collect()
    }

    #[test]
    fn a_constant_rate_begins_at_once_and_ends_with_its_duration() {
        // k6 2.2: eleven iterations in a second of ten.
        assert_eq!(
            instants_ms(&constant(10, 1000, 1000)),
            [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
        );
        assert_eq!(instants_ms(&constant(3, 1000, 1000)), [0, 333, 666, 1000]);
        assert_eq!(instants_ms(&constant(7, 3000, 1500)), [0, 428, 857, 1285]);
        let fast = constant(300_000, 1000, 60_000);
        assert_eq!(fast.at(18_000_000), Some(60_000_000_000));
        assert_eq!((fast.at(18_000_001), fast.count()), (None, 18_000_001));
    }

    #[test]
    fn at_a_ramping_rate_an_arrival_comes_when_a_whole_one_has_gathered() {
        // The instants k6 2.2 started iterations at, to a millisecond or two.
        let seen = [448, 633, 776, 896, 1001, 1107, 1227, 1369, 1554, 2001, 2201, 2401, 2601, 2801, 3001];
        let planned = instants_ms(&ramping(0, 1000, &[(1000, 10), (1000, 0), (0, 5), (1000, 5)]));
        assert_eq!(
            planned,
            [447, 632, 774, 894, 1000, 1105, 1225, 1367, 1552, 2000, 2200, 2400, 2600, 2800, 3000]
        );
        assert!(planned.iter().zip(seen).all(|(ours, k6)| (0..=2).contains(&(k6 - ours))));
        assert_eq!(
            instants_ms(&ramping(10, 1000, &[(1000, 10)])),
            [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
        );
        assert_eq!(instants_ms(&ramping(0, 1000, &[(1000, 0), (1000, 2)])), [2000]);
        assert!(instants_ms(&ramping(0, 1000, &[(1000, 1)])).is_empty());
    }

    #[test]
    fn the_rate_before_an_arrival_is_that_of_the_time_since_the_last() {
        let arrivals = ramping(0, 2000, &[(1000, 20), (1000, 0)]);
        let rates: Vec<u64> = [0, 1, 9].map(|n| arrivals.rate_before(n).round() as u64).into();
        assert_eq!((rates, arrivals.most_per_second()), (vec![2, 5, 2], 10.0));
        let even = constant(4, 1000, 1900);
        assert_eq!([0, 3, 50].map(|n| even.rate_before(n)), [4.0; 3]);
        assert_eq!(ramping(0, 1000, &[(1000, 0)]).rate_before(0), 0.0);
    }

    proptest! {
        #[test]
        fn arrivals_never_go_back_and_are_as_many_as_the_area_holds(
            start in 0u64..50, stages in proptest::collection::vec(((0u64..30).prop_map(|n| n * 100), 0u64..50), 1..6)
        ) {
            let arrivals = ramping(start, 1000, &stages);
            let all: Vec<i64> = (0..).map_while(|n| arrivals.at(n)).collect();
            prop_assert!(all.is_sorted());
            let mut from = start;
            let mut twice = 0;
            for (ms, to) in &stages {
                twice += ms * (from + to);
                from = *to;
            }
            prop_assert_eq!((all.len() as u64, arrivals.count()), (twice / 2000, twice / 2000));
            let end: u64 = stages.iter().map(|(ms, _)| ms).sum();
            prop_assert!(all.iter().all(|at| (0..=end as i64 * 1_000_000).contains(at)));
        }
    }
}
