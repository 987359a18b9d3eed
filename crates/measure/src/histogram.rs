//! The one resolution every latency of the project is kept at.
//!
//! Microseconds, 1 µs to 1 h, three significant digits, exact to merge. A histogram starts at 8 KiB and grows with the
//! largest value it has seen, so that an idle operation costs little. Whole microseconds because a user-space load
//! generator cannot honestly claim more.

/// A distribution, in milliseconds. All zero when `count` is.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 75 %.
    pub p75: f64,
    /// 90 %.
    pub p90: f64,
    /// 95 %.
    pub p95: f64,
    /// 99 %.
    pub p99: f64,
    /// 99.9 %.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

impl Quantiles {
    /// Of so many values, between the first and the last of `bounds`; `at` knows which value a share of all does not
    /// exceed.
    pub(crate) fn of(count: u64, mean: f64, (min, max): (f64, f64), at: impl FnMut(f64) -> f64) -> Quantiles {
        let [p50, p75, p90, p95, p99, p999] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999].map(at);
        Quantiles { count, min, mean, p50, p75, p90, p95, p99, p999, max }
    }
}

/// Latencies of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u32>);

impl Histogram {
    /// The top of the scale, in µs: one hour.
    pub const TOP_US: u64 = 3_600_000_000;

    /// An empty histogram.
    pub fn new() -> Histogram {
        Histogram::sized(2)
    }

    /// An empty histogram with room for values up to `high_us`, so that recording need not grow it.
    pub fn sized(high_us: u64) -> Histogram {
        let high = high_us.clamp(2, Self::TOP_US);
        // Bounds of 1 and at least 2 with 3 digits are always accepted.
        let mut counts = hdrhistogram::Histogram::new_with_bounds(1, high, 3).expect("bounds are in range");
        counts.auto(true);
        Histogram(counts)
    }

    /// Records nanoseconds (stored as whole microseconds, at least 1; above the top as the top).
    pub fn record_ns(&mut self, ns: i64) {
        let us = (ns / 1_000).max(1) as u64;
        self.0.record(us.min(Self::TOP_US)).expect("a histogram that may grow takes every clamped value");
    }

    /// Adds all of `other`'s values.
    pub fn merge(&mut self, other: &Histogram) {
        if !other.is_empty() {
            self.0.add(&other.0).expect("a histogram that may grow takes every other");
        }
    }

    /// Takes away values that were recorded here as well.
    pub(crate) fn subtract(&mut self, other: &Histogram) {
        // Fails only when `other` is no part of this one; what is left is then all that is known.
        let _ = self.0.subtract(&other.0);
    }

    /// How many values are no greater than this, as far as the resolution tells.
    pub(crate) fn count_up_to_ms(&self, limit: f64) -> u64 {
        let us = (limit * 1e3).clamp(0.0, Self::TOP_US as f64) as u64;
        self.0.count_between(0, us)
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The highest value this histogram has room for, in µs.
    pub fn high_us(&self) -> u64 {
        self.0.high()
    }

    /// The value (ms) that the given share of all values does not exceed; 0 when empty.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        if self.is_empty() { 0.0 } else { ms(self.0.value_at_quantile(quantile)) }
    }

    /// The usual quantiles, in milliseconds.
    pub fn quantiles(&self) -> Quantiles {
        if self.is_empty() {
            return Quantiles::default();
        }
        let bounds = (ms(self.0.min()), ms(self.0.max()));
        let at = |share| ms(self.0.value_at_quantile(share));
        Quantiles::of(self.count(), self.0.mean().round() / 1e3, bounds, at)
    }

    pub(crate) fn raw(&self) -> &hdrhistogram::Histogram<u32> {
        &self.0
    }

    pub(crate) fn from_raw(mut counts: hdrhistogram::Histogram<u32>) -> Histogram {
        counts.auto(true);
        Histogram(counts)
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

fn ms(us: u64) -> f64 {
    us as f64 / 1e3
}
