//! Values in buckets, sixteen to each power of two: small to send, exact to merge.

use super::Brief;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use std::collections::BTreeMap;

/// Buckets per power of two, as its binary logarithm.
pub const SCALE: u32 = 4;

/// The key of the bucket that ends at 1. Larger than the distance of any number's bucket from it, so that keys are in
/// the order of the numbers they hold: negative, zero, positive.
const OFFSET: i32 = 1 << 20;

/// Values, counted by bucket; count, sum, least and greatest are exact.
///
/// A value above zero belongs to the bucket `i = ceil(log2(value) · 2^SCALE)`, whose key is `2^20 + i`. Zero has the
/// key 0; a value below zero the negated key of its magnitude. A quantile is no further from the exact one than half a
/// bucket: 2.2 %.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    counts: BTreeMap<i32, u64>,
}

impl Buckets {
    /// Adds a value that was seen so often.
    pub fn add(&mut self, value: f64, count: u64) {
        let sum = value * count as f64;
        self.add_part(count, sum, (value, value), [(value, count)]);
    }

    /// Adds values that were counted elsewhere, whose sum, least and greatest are known more precisely than each.
    pub(super) fn add_part(
        &mut self,
        count: u64,
        sum: f64,
        (min, max): (f64, f64),
        values: impl IntoIterator<Item = (f64, u64)>,
    ) {
        if count == 0 {
            return;
        }
        let is_first = self.count == 0;
        self.min = if is_first { min } else { self.min.min(min) };
        self.max = if is_first { max } else { self.max.max(max) };
        self.count += count;
        self.sum += sum;
        for (value, count) in values.into_iter().filter(|(_, count)| *count > 0) {
            *self.counts.entry(key(value)).or_default() += count;
        }
    }

    /// Adds all values of another.
    pub fn merge(&mut self, other: &Buckets) {
        self.add_part(other.count, other.sum, (other.min, other.max), []);
        for (key, count) in &other.counts {
            *self.counts.entry(*key).or_default() += count;
        }
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least; 0 without values.
    pub fn min(&self) -> f64 {
        self.min
    }

    /// The greatest; 0 without values.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The average; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// The middle of each bucket, with how many values it holds.
    pub fn values(&self) -> impl Iterator<Item = (f64, u64)> {
        self.counts.iter().map(|(key, count)| (middle(*key).clamp(self.min, self.max), *count))
    }

    /// The value that this share (0 to 1) of all does not exceed: the geometric middle of the bucket that holds the
    /// value of rank `max(1, ceil(share · count))`, between the least and the greatest; 0 without values.
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let ranked = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        ranked.map_or(self.max, |(key, _)| middle(*key).clamp(self.min, self.max))
    }
}

impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut before = 0;
        let counts: Vec<i64> = (self.counts.iter())
            .flat_map(|(key, count)| {
                let key = i64::from(*key);
                let step = key - std::mem::replace(&mut before, key);
                [step, *count as i64]
            })
            .collect();
        let mut fields = serializer.serialize_struct("Buckets", 5)?;
        fields.serialize_field("n", &self.count)?;
        fields.serialize_field("sum", &Brief(self.sum))?;
        fields.serialize_field("min", &Brief(self.min))?;
        fields.serialize_field("max", &Brief(self.max))?;
        fields.serialize_field("b", &counts)?;
        fields.end()
    }
}

/// The key of a value's bucket.
fn key(value: f64) -> i32 {
    if value == 0.0 || value.is_nan() {
        return 0;
    }
    let magnitude = value.abs().min(f64::MAX);
    let bucket = (magnitude.log2() * f64::from(1 << SCALE)).ceil() as i32;
    let key = OFFSET + bucket;
    if value < 0.0 { -key } else { key }
}

/// The geometric middle of a bucket.
fn middle(key: i32) -> f64 {
    if key == 0 {
        return 0.0;
    }
    let bucket = f64::from(key.abs() - OFFSET);
    let magnitude = ((bucket - 0.5) / f64::from(1 << SCALE)).exp2();
    if key < 0 { -magnitude } else { magnitude }
}
