//! The last few of something that most requests ask for again: a script has a handful of them.

/// How many are kept; the oldest makes room. Few, because each of ten thousand users has its own.
const KEPT: usize = 4;

/// Values by keys, the last few.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    entries: Vec<(K, V)>,
    /// Where the next one goes once there are as many as are kept.
    oldest: usize,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { entries: Vec::new(), oldest: 0 }
    }
}

impl<K, V: Clone> Recent<K, V> {
    /// The value whose key is the one.
    pub(super) fn find(&self, is_it: impl Fn(&K) -> bool) -> Option<V> {
        self.entries.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value.clone())
    }

    /// Keeps a value whose key is not there.
    pub(super) fn keep(&mut self, key: K, value: V) {
        if self.entries.len() < KEPT {
            self.entries.push((key, value));
            return;
        }
        self.entries[self.oldest] = (key, value);
        self.oldest = (self.oldest + 1) % KEPT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let mut recent = Recent::default();
        let kept = |recent: &Recent<usize, usize>| {
            (0..3 * KEPT).filter(|key| recent.find(|known| known == key).is_some()).collect::<Vec<_>>()
        };
        for key in 0..=KEPT {
            recent.keep(key, 10 * key);
        }
        assert_eq!(kept(&recent), [1, 2, 3, 4]);
        assert_eq!(recent.find(|known| *known == KEPT), Some(10 * KEPT));
        (KEPT + 1..3 * KEPT).for_each(|key| recent.keep(key, key));
        assert_eq!(kept(&recent), [8, 9, 10, 11]);
    }
}
