//! CPU credits: a bucket that fills by the hour and empties by use.
//!
//! Pure: it is told how much time passed and how much CPU was used in it, and says what the quota is from now on. Once
//! the bucket is empty the service has its baseline, which uses exactly what comes in; only a service that uses less
//! saves up again. What one step used beyond the bucket is owed.

use crate::settings::Credits;
use std::time::Duration;

/// A credit is a core for a minute.
const CORE_SECONDS: f64 = 60.0;

/// The credits of a running service.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    credits: Credits,
    /// Cores while there are credits.
    full: f64,
    /// Core seconds that are left.
    left: f64,
}

impl Bucket {
    pub(crate) fn new(credits: Credits, full: f64) -> Bucket {
        Bucket { credits, full, left: credits.at_start * CORE_SECONDS }
    }

    /// The cores that may be used now.
    pub(crate) fn quota(&self) -> f64 {
        if self.left > 0.0 { self.full } else { self.credits.baseline.min(self.full) }
    }

    /// Takes into account that so much time passed, in which so much CPU was used.
    pub(crate) fn pass(&mut self, time: Duration, used: Duration) {
        let earned = self.credits.an_hour * CORE_SECONDS / 3600.0 * time.as_secs_f64();
        let most = self.credits.most * CORE_SECONDS;
        self.left = (self.left + earned - used.as_secs_f64()).min(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(100);
    const MICRO: Credits = Credits { baseline: 0.1, an_hour: 6.0, at_start: 1.0, most: 2.0 };

    /// Uses this share of what it may for so many steps; the seconds at full speed.
    fn full_seconds(bucket: &mut Bucket, steps: u32, share: f64) -> f64 {
        let mut full = 0.0;
        for _ in 0..steps {
            let quota = bucket.quota();
            full += if quota >= 1.0 { 0.1 } else { 0.0 };
            bucket.pass(STEP, STEP.mul_f64(quota * share));
        }
        full
    }

    #[test]
    fn a_busy_service_runs_at_full_speed_until_its_credits_are_used_and_at_its_baseline_then() {
        let mut bucket = Bucket::new(MICRO, 1.0);
        // 60 core seconds, of which nine tenths of one are lost each second.
        let full = full_seconds(&mut bucket, 1000, 1.0);
        assert!((66.0..67.5).contains(&full), "{full}");
        assert_eq!(bucket.quota(), 0.1);
        assert_eq!(full_seconds(&mut bucket, 36_000, 1.0), 0.0, "at its baseline it saves nothing up");
    }

    #[test]
    fn an_idle_service_saves_up_to_the_most_and_no_further() {
        let mut bucket = Bucket::new(Credits { at_start: 0.0, ..MICRO }, 1.0);
        assert_eq!(bucket.quota(), 0.1);
        bucket.pass(Duration::from_secs(7 * 86_400), Duration::ZERO);
        let full = full_seconds(&mut bucket, 10_000, 1.0);
        assert!((133.0..134.5).contains(&full), "two credits last 120 / 0.9 s: {full}");
    }
}
