//! The message numbers a receiver has got: one bit each, exact to the end of the run.
//!
//! Receipts come nearly in order, so the words around the newest number are kept in a short window; words that leave it
//! are forgotten when complete and kept aside when they have holes. Memory is therefore the window plus eight or so
//! bytes per word in which something is missing. There is no upper limit by design: forgetting a hole would turn a
//! late copy into a lost one.

use std::collections::VecDeque;

/// Words in the window: copies up to about 4,000 messages out of order cost no search.
const WINDOW: usize = 64;
const FULL: u64 = u64::MAX;

/// A set of message numbers.
#[derive(Default)]
pub(super) struct Bitmap {
    /// Words `base..base + window.len()`.
    window: VecDeque<u64>,
    base: u32,
    /// Words in `start..base` that are not complete, sorted. Words of that range that are not here are complete.
    holes: Vec<(u32, u64)>,
    /// Nothing below this word was ever set.
    start: u32,
}

impl Bitmap {
    /// Adds a number. False when it was there already.
    pub(super) fn set(&mut self, number: u32) -> bool {
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        if self.window.is_empty() && self.start == self.base {
            (self.base, self.start) = (word, word);
        }
        let slot = if word < self.base { self.behind(word) } else { Some(self.ahead(word)) };
        let Some(slot) = slot else { return false };
        let fresh = *slot & bit == 0;
        *slot |= bit;
        self.shrink();
        fresh
    }

    /// Whether a number is in the set.
    pub(super) fn has(&self, number: u32) -> bool {
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        if word < self.start {
            return false;
        }
        if word >= self.base {
            return self.window.get((word - self.base) as usize).is_some_and(|slot| slot & bit != 0);
        }
        match self.holes.binary_search_by_key(&word, |hole| hole.0) {
            Ok(at) => self.holes[at].1 & bit != 0,
            Err(_) => true,
        }
    }

    fn ahead(&mut self, word: u32) -> &mut u64 {
        let index = (word - self.base) as usize;
        if index >= self.window.len() {
            self.window.resize(index + 1, 0);
        }
        &mut self.window[index]
    }

    /// The word if it is not complete.
    fn behind(&mut self, word: u32) -> Option<&mut u64> {
        if word < self.start {
            let empty = (word..self.start).map(|w| (w, 0));
            self.holes.splice(0..0, empty);
            self.start = word;
        }
        let at = self.holes.binary_search_by_key(&word, |hole| hole.0).ok()?;
        Some(&mut self.holes[at].1)
    }

    fn shrink(&mut self) {
        while self.window.front() == Some(&FULL) || self.window.len() > WINDOW {
            match self.window.pop_front() {
                Some(FULL) | None => {}
                Some(bits) => self.holes.push((self.base, bits)),
            }
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn a_bitmap_is_a_set(numbers in proptest::collection::vec(
            prop_oneof![0u32..200, 4_000u32..9_000, 90_000u32..90_100], 0..400), dense in 0u32..9_000) {
            let mut bitmap = Bitmap::default();
            let mut set = HashSet::new();
            for number in numbers.iter().copied().chain(0..dense).chain(numbers.iter().copied()) {
                prop_assert_eq!(bitmap.set(number), set.insert(number), "{}", number);
            }
            for number in 0..100_000 {
                prop_assert_eq!(bitmap.has(number), set.contains(&number), "{}", number);
            }
        }
    }

    #[test]
    fn numbers_in_order_keep_one_word() {
        let mut bitmap = Bitmap::default();
        for number in 1_000..1_000_000 {
            assert!(bitmap.set(number));
        }
        // 1,000 is not the first of its word: that word stays, aside.
        assert!(bitmap.window.len() <= WINDOW && bitmap.holes.len() == 1, "{}", bitmap.holes.len());
    }
}
