//! A log-linear histogram in one array: 128 steps to each power of two, so a value is kept to within 0.8 %.
//!
//! Not the `hdrhistogram` crate: that one checks ranges and keeps totals the floor does not need.

const STEP_BITS: u32 = 7;
const STEPS: usize = 1 << STEP_BITS;
const ROWS: usize = 64 - STEP_BITS as usize + 1;

pub(crate) struct Histogram {
    counts: Box<[u64]>,
    total: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; ROWS * STEPS].into_boxed_slice(), total: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        self.counts[slot(value)] += 1;
        self.total += 1;
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The value that `share` (0 to 1) of all values do not exceed; the upper end of its step. 0 when empty.
    pub(crate) fn at(&self, share: f64) -> u64 {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (slot, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper_end(slot);
            }
        }
        0
    }

    /// Nanoseconds in, the JSON line's two percentiles in microseconds out.
    pub(crate) fn percentiles(&self) -> String {
        let us = |share| self.at(share) as f64 / 1e3;
        format!("\"p50_us\":{:.1},\"p99_us\":{:.1}", us(0.5), us(0.99))
    }
}

/// Row 0 counts 0..128 one by one; row r the values of 7 + r bits, 2^(r-1) to a step.
fn slot(value: u64) -> usize {
    let bits = 64 - value.leading_zeros();
    let row = bits.saturating_sub(STEP_BITS);
    let shift = row.saturating_sub(1);
    ((row as usize) << STEP_BITS) + ((value >> shift) as usize & (STEPS - 1))
}

fn upper_end(slot: usize) -> u64 {
    let (row, step) = (slot >> STEP_BITS, (slot & (STEPS - 1)) as u64);
    match row {
        0 => step,
        _ => {
            let shift = row - 1;
            ((STEPS as u64 | step) << shift) + ((1 << shift) - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_to_within_one_step_of_128() {
        for value in (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, (1 << bit) + (1 << bit) / 3]) {
            let kept = upper_end(slot(value));
            assert!(kept >= value && kept - value <= value / 128, "{value} kept as {kept}");
        }
        assert_eq!(upper_end(slot(u64::MAX)), u64::MAX);
    }

    #[test]
    fn slots_follow_one_another_in_the_order_of_their_values() {
        let mut last = 0;
        for value in 0..100_000 {
            assert!(slot(value) == last || slot(value) == last + 1, "{value}");
            last = slot(value);
        }
    }

    #[test]
    fn percentiles_are_values_that_so_many_do_not_exceed() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.at(0.5), 0);
        (1..=100).for_each(|value| histogram.record(value));
        assert_eq!(
            (histogram.at(0.5), histogram.at(0.99), histogram.at(1.0), histogram.total()),
            (50, 99, 100, 100)
        );
    }
}
