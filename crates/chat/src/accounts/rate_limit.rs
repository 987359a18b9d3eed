//! Token buckets, one per key, in bounded memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::config::Rate;
use crate::sync::lock;

/// Keys remembered at once; over it, new keys are refused until the next sweep: whoever invents that many addresses
/// is the one to be limited.
const KEYS: usize = 100_000;

pub(crate) struct Buckets<K> {
    rate: Rate,
    levels: Mutex<HashMap<K, Level>>,
}

struct Level {
    tokens: f64,
    at: Instant,
}

impl<K: Hash + Eq> Buckets<K> {
    pub(crate) fn new(rate: Rate) -> Buckets<K> {
        Buckets { rate, levels: Mutex::new(HashMap::new()) }
    }

    /// Takes one token of `key`, or says how long until there is one.
    pub(crate) fn take(&self, key: K, now: Instant) -> Result<(), Duration> {
        let mut levels = lock(&self.levels);
        if levels.len() >= KEYS && !levels.contains_key(&key) {
            return Err(self.time_for(1.0));
        }
        let level = levels.entry(key).or_insert(Level { tokens: self.rate.burst, at: now });
        let tokens = self.level(level, now);
        level.at = now;
        if tokens < 1.0 {
            level.tokens = tokens;
            return Err(self.time_for(1.0 - tokens));
        }
        level.tokens = tokens - 1.0;
        Ok(())
    }

    /// Forgets the buckets that are full again; called every now and then.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut levels = lock(&self.levels);
        levels.retain(|_, level| self.level(level, now) < self.rate.burst);
        if levels.capacity() > 4 * levels.len().max(64) {
            levels.shrink_to_fit();
        }
    }

    fn level(&self, level: &Level, now: Instant) -> f64 {
        let since = now.saturating_duration_since(level.at).as_secs_f64();
        (level.tokens + since * self.rate.per_second).min(self.rate.burst)
    }

    fn time_for(&self, tokens: f64) -> Duration {
        let seconds = tokens / self.rate.per_second;
        Duration::from_secs_f64(if seconds.is_finite() { seconds.min(3600.0) } else { 3600.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let buckets = Buckets::new(Rate { burst: 2.0, per_second: 4.0 });
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(buckets.take("a", at(0)), Ok(()));
        assert_eq!(buckets.take("a", at(0)), Ok(()));
        assert_eq!(buckets.take("a", at(0)), Err(Duration::from_millis(250)));
        assert_eq!(buckets.take("b", at(0)), Ok(()));
        assert_eq!(buckets.take("a", at(250)), Ok(()));
        assert_eq!(buckets.take("a", at(250)), Err(Duration::from_millis(250)));
    }

    #[test]
    fn a_bucket_that_is_full_again_is_forgotten() {
        let buckets = Buckets::new(Rate { burst: 2.0, per_second: 1.0 });
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let keys = || lock(&buckets.levels).len();
        assert_eq!((buckets.take("a", at(0)), buckets.take("b", at(500))), (Ok(()), Ok(())));
        buckets.sweep(at(999));
        assert_eq!(keys(), 2);
        buckets.sweep(at(1000));
        assert_eq!(keys(), 1);
        buckets.sweep(at(1500));
        assert_eq!(keys(), 0);
    }

    #[test]
    fn keys_beyond_the_bound_are_refused_until_a_sweep_made_room() {
        let buckets = Buckets::new(Rate { burst: 1.0, per_second: 1.0 });
        let start = Instant::now();
        for key in 0..KEYS {
            assert_eq!(buckets.take(key, start), Ok(()));
        }
        assert!(buckets.take(KEYS, start).is_err());
        let later = start + Duration::from_secs(1);
        buckets.sweep(later);
        assert_eq!(buckets.take(KEYS, later), Ok(()));
    }
}
