//! The values of a trend: all of them while they are few, buckets beyond.
//!
//! Up to [`Trend::EXACT`] values, percentiles are exact: the sorted values, read at p·(n−1) with linear interpolation.
//! Beyond, values are counted in buckets, 512 to each power of two, and a percentile is read the same way from the
//! middles of the buckets: no further from the exact one than 1/1024 (0.1 %) of the values it lies between. Count, sum,
//! least and greatest stay exact.
//!
//! The buckets are cut from the number itself (its sign, its exponent, nine bits of its mantissa) because a script's
//! trend may hold anything, negative numbers and fractions of any size, where a latency histogram knows microseconds
//! from one up.

/// Leading bits of a number that choose its page: sign and exponent.
const PAGE_BITS: u32 = 12;
/// Bits of its mantissa that choose the bucket on the page.
const BUCKET_BITS: u32 = 9;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// The values of a trend.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    /// Values not in buckets yet; all of them while `pages` is empty.
    values: Vec<f64>,
    sorted: bool,
    /// By page, 4 KiB each; in the order of the numbers they hold.
    pages: Vec<(u16, Box<[u64; BUCKETS]>)>,
}

impl Trend {
    /// Limit up to which all values are kept, and percentiles are exact.
    pub const EXACT: usize = 16_384;

    /// A trend without values, with room for this many.
    pub(super) fn with_room(values: usize) -> Trend {
        let values = Vec::with_capacity(values.min(Trend::EXACT));
        Trend { count: 0, sum: 0.0, min: 0.0, max: 0.0, values, sorted: false, pages: Vec::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        if self.values.len() == Trend::EXACT {
            self.pour();
        }
        self.values.push(value);
        self.sorted = false;
        self.count_in((1, value), (value, value));
    }

    /// Counts values in by how many they are and their sum, the least and the greatest of them.
    #[inline]
    fn count_in(&mut self, (count, sum): (u64, f64), (min, max): (f64, f64)) {
        (self.min, self.max) = match self.count {
            0 => (min, max),
            _ => (self.min.min(min), self.max.max(max)),
        };
        self.count += count;
        self.sum += sum;
    }

    /// Adds all of `other`'s values.
    pub(super) fn merge(&mut self, other: &Trend) {
        if other.count == 0 {
            return;
        }
        self.count_in((other.count, other.sum), (other.min, other.max));
        self.sorted = false;
        for (page, counts) in &other.pages {
            let into = self.page(*page);
            into.iter_mut().zip(counts.iter()).for_each(|(into, count)| *into += count);
        }
        self.values.extend_from_slice(&other.values);
        if self.values.len() > Trend::EXACT || !self.pages.is_empty() {
            self.pour();
        }
    }

    /// Moves the values into buckets.
    fn pour(&mut self) {
        let mut values = std::mem::take(&mut self.values);
        for value in values.drain(..) {
            let (page, bucket) = place(value);
            self.page(page)[bucket] += 1;
        }
        self.values = values;
    }

    fn page(&mut self, page: u16) -> &mut [u64; BUCKETS] {
        let at = self.pages.binary_search_by_key(&page, |(page, _)| *page).unwrap_or_else(|at| {
            self.pages.insert(at, (page, Box::new([0; BUCKETS])));
            at
        });
        &mut self.pages[at].1
    }

    /// All its values, in no order; None: some are in buckets.
    pub fn values(&self) -> Option<&[f64]> {
        self.pages.is_empty().then_some(&self.values)
    }

    /// All its values in buckets, in their order, each with how many it holds.
    pub fn buckets(&self) -> Vec<(u32, u64)> {
        let mut poured = self.clone();
        poured.pour();
        let number = |page: u16, bucket: usize| u32::from(page) << BUCKET_BITS | bucket as u32;
        poured.bucketed().map(|(page, bucket, count)| (number(page, bucket), count)).collect()
    }

    /// What is in buckets, in their order: the page, the bucket on it, and how many values it holds.
    fn bucketed(&self) -> impl Iterator<Item = (u16, usize, u64)> {
        self.pages.iter().flat_map(|(page, counts)| {
            let seen = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            seen.map(|(bucket, count)| (*page, bucket, *count))
        })
    }

    /// All its values, each with how often it was seen; the middle of its bucket where that is all that is known.
    pub(crate) fn counted(&self) -> Vec<(f64, u64)> {
        let bucketed = self.bucketed().map(|(page, bucket, count)| (middle(page, bucket), count));
        bucketed.chain(self.values.iter().map(|value| (*value, 1))).collect()
    }

    /// A trend of these values, each seen so often; all of them in buckets.
    pub fn of_counts(counts: impl IntoIterator<Item = (f64, u64)>) -> Trend {
        let mut trend = Trend::with_room(0);
        for (value, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            trend.count_in((count, value * count as f64), (value, value));
            let (page, bucket) = place(value);
            trend.page(page)[bucket] += count;
        }
        trend
    }

    /// A trend that said this of itself: count and sum, least and greatest, and its [`Trend::values`] or
    /// [`Trend::buckets`]. None: it cannot have.
    pub fn of_parts(
        (count, sum): (u64, f64),
        (min, max): (f64, f64),
        values: Vec<f64>,
        buckets: &[(u32, u64)],
    ) -> Option<Trend> {
        let in_buckets = buckets.iter().try_fold(0u64, |all, (_, count)| all.checked_add(*count))?;
        if values.len() > Trend::EXACT || in_buckets.checked_add(values.len() as u64)? != count {
            return None;
        }
        let mut trend = Trend { count, sum, min, max, values, sorted: false, pages: Vec::new() };
        for (number, count) in buckets {
            let page = u16::try_from(number >> BUCKET_BITS).ok()?;
            trend.page(page)[*number as usize & (BUCKETS - 1)] += count;
        }
        Some(trend)
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Their sum.
    pub fn sum(&self) -> f64 {
        self.sum
    }
    /// The least; 0 without values.
    pub fn min(&self) -> f64 {
        self.min
    }
    /// The greatest; 0 without values.
    pub fn max(&self) -> f64 {
        self.max
    }
    /// Their average; 0 without values.
    pub fn avg(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }
    /// Whether percentiles are exact.
    #[cfg(test)]
    pub(super) fn is_exact(&self) -> bool {
        self.pages.is_empty()
    }

    /// The value that `percent` of all do not exceed, read between two values; 0 without values.
    pub fn percentile(&mut self, percent: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let rank = percent / 100.0 * (self.count as f64 - 1.0);
        let below = rank.floor();
        let (low, high) = (self.ranked(below as u64), self.ranked(rank.ceil() as u64));
        low + (high - low) * (rank - below)
    }

    /// The smallest value that this share of all does not exceed; 0 without values.
    pub(super) fn nearest(&mut self, share: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let rank = (share * self.count as f64).ceil().max(1.0) as u64 - 1;
        self.ranked(rank.min(self.count - 1))
    }

    /// The middle value.
    pub fn med(&mut self) -> f64 {
        self.percentile(50.0)
    }

    /// The value at this place of all in order.
    fn ranked(&mut self, rank: u64) -> f64 {
        if self.pages.is_empty() {
            if !self.sorted {
                self.values.sort_unstable_by(f64::total_cmp);
                self.sorted = true;
            }
            return self.values[(rank as usize).min(self.values.len() - 1)];
        }
        if !self.values.is_empty() {
            self.pour();
        }
        // The least and the greatest are known; between them a bucket's middle speaks for what is in it.
        if rank == 0 {
            return self.min;
        }
        if rank + 1 >= self.count {
            return self.max;
        }
        let mut before = 0;
        let ranked = self.bucketed().find(|(.., count)| {
            before += count;
            before > rank
        });
        ranked.map_or(self.max, |(page, bucket, _)| middle(page, bucket).clamp(self.min, self.max))
    }
}

/// Numbers as unsigned integers of the same order.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn unordered(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

fn place(value: f64) -> (u16, usize) {
    let bits = ordered(value);
    let bucket = (bits >> (64 - PAGE_BITS - BUCKET_BITS)) as usize & (BUCKETS - 1);
    ((bits >> (64 - PAGE_BITS)) as u16, bucket)
}

fn middle(page: u16, bucket: usize) -> f64 {
    let low = u64::from(page) << (64 - PAGE_BITS) | (bucket as u64) << (64 - PAGE_BITS - BUCKET_BITS);
    let high = low | ((1 << (64 - PAGE_BITS - BUCKET_BITS)) - 1);
    let (low, high) = (unordered(low), unordered(high));
    low + (high - low) / 2.0
}
