//! How many users of an open run are there together, without drawing its arrivals: fifty thousand a second for an hour
//! are 180 million.

use super::{Load, Phase, RateCurve};

impl Load {
    /// The most arrivals within so many seconds, as far as no phase's `max_users` refuses them; of Poisson arrivals
    /// their mean, which the fullest window exceeds. 0 for a closed run, whose users are its population.
    pub(crate) fn most_within(&self, seconds: f64) -> u64 {
        let Load::Open { phases, .. } = self else { return 0 };
        // Whoever is refused is refused because so many are there already.
        let alike = phases.chunk_by(|one, other| one.max_users == other.max_users);
        let most = |alike: &[Phase]| {
            let most = Passed::over(alike).most_within(seconds);
            alike.first().and_then(|phase| phase.max_users).map_or(most, |limit| most.min(limit))
        };
        alike.map(most).max().unwrap_or(0)
    }
}

/// How many arrivals have passed, by the second; in between the rate is constant.
struct Passed(Vec<(f64, f64)>);

impl Passed {
    fn over(phases: &[Phase]) -> Passed {
        let mut points = vec![(0.0, 0.0)];
        let (mut at, mut passed) = (0.0, 0.0);
        for phase in phases {
            let curve = RateCurve::of(phase);
            for second in 0..curve.seconds.ceil() as u64 {
                at += curve.width(second);
                passed += curve.rate(second) * curve.width(second);
                points.push((at, passed));
            }
        }
        Passed(points)
    }

    fn by(&self, at: f64) -> f64 {
        let behind = self.0.partition_point(|(point, _)| *point <= at);
        match (self.0.get(behind.saturating_sub(1)), self.0.get(behind)) {
            _ if behind == 0 => 0.0,
            (Some((from, before)), Some((to, after))) => {
                before + (after - before) * (at - from) / (to - from)
            }
            (last, _) => last.map_or(0.0, |(_, passed)| *passed),
        }
    }

    /// A window that holds most begins or ends where the rate changes; an arrival stands on either of its ends.
    fn most_within(&self, seconds: f64) -> u64 {
        let around =
            |(at, passed): &(f64, f64)| (self.by(at + seconds) - passed).max(passed - self.by(at - seconds));
        let most = self.0.iter().map(around).fold(0.0, f64::max);
        let all = self.0.last().map_or(0.0, |(_, passed)| passed.round());
        // Sums of fractions are a little less than what they mean.
        ((most + 1e-6).floor() + 1.0).min(all) as u64
    }
}
