//! Access tokens: whose they are and until when.
//!
//! All live equally long, so the order they were given in is the order they end in: what has expired is at the front,
//! and neither giving one at the bound nor forgetting old ones looks through all of them. A user has a bound of its
//! own, at which its oldest token ends, so that nobody can use up everybody's.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When tokens end and how many there may be.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) lifetime: Duration,
    pub(crate) all: usize,
    pub(crate) per_user: usize,
}

pub(crate) struct Tokens {
    bounds: Bounds,
    by_text: HashMap<Arc<str>, Token>,
    /// By the number they were given under.
    in_order: BTreeMap<u64, Arc<str>>,
    /// A user's numbers, in order.
    of_user: HashMap<u64, VecDeque<u64>>,
    last: u64,
}

struct Token {
    user: u64,
    until: Instant,
}

impl Tokens {
    pub(crate) fn new(bounds: Bounds) -> Tokens {
        Tokens {
            bounds,
            by_text: HashMap::new(),
            in_order: BTreeMap::new(),
            of_user: HashMap::new(),
            last: 0,
        }
    }

    /// Makes `text` a token of the user; false when too many are valid.
    pub(crate) fn give(&mut self, text: &str, user: u64, now: Instant) -> bool {
        if self.of_user.get(&user).is_some_and(|numbers| numbers.len() >= self.bounds.per_user.max(1)) {
            let oldest = self.of_user.get(&user).and_then(|numbers| numbers.front().copied());
            self.end(oldest);
        }
        if self.by_text.len() >= self.bounds.all {
            self.sweep(now);
            if self.by_text.len() >= self.bounds.all {
                return false;
            }
        }
        let text: Arc<str> = text.into();
        self.last += 1;
        self.by_text.insert(text.clone(), Token { user, until: now + self.bounds.lifetime });
        self.in_order.insert(self.last, text);
        self.of_user.entry(user).or_default().push_back(self.last);
        true
    }

    /// The user of a valid token.
    pub(crate) fn who(&self, text: &str, now: Instant) -> Option<u64> {
        self.by_text.get(text).filter(|token| token.until > now).map(|token| token.user)
    }

    /// Forgets what has expired.
    pub(crate) fn sweep(&mut self, now: Instant) {
        while let Some((number, text)) = self.in_order.first_key_value()
            && self.by_text.get(text).is_none_or(|token| token.until <= now)
        {
            self.end(Some(*number));
        }
    }

    /// Ends the oldest token of some user.
    fn end(&mut self, number: Option<u64>) {
        let Some(text) = number.and_then(|number| self.in_order.remove(&number)) else { return };
        let Some(token) = self.by_text.remove(&text) else { return };
        let Some(numbers) = self.of_user.get_mut(&token.user) else { return };
        numbers.pop_front();
        if numbers.is_empty() {
            self.of_user.remove(&token.user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(all: usize, per_user: usize) -> Tokens {
        Tokens::new(Bounds { lifetime: Duration::from_secs(10), all, per_user })
    }

    #[test]
    fn a_token_is_its_user_s_until_it_expires() {
        let (mut tokens, start) = (tokens(10, 10), Instant::now());
        assert!(tokens.give("a", 7, start));
        assert_eq!(tokens.who("a", start + Duration::from_secs(9)), Some(7));
        assert_eq!(tokens.who("a", start + Duration::from_secs(10)), None);
        assert_eq!(tokens.who("b", start), None);
    }

    #[test]
    fn at_its_bound_a_user_loses_its_oldest_token_and_others_none() {
        let (mut tokens, now) = (tokens(10, 2), Instant::now());
        for (text, user) in [("other", 1), ("a", 2), ("b", 2), ("c", 2)] {
            assert!(tokens.give(text, user, now));
        }
        let whose = ["other", "a", "b", "c"].map(|text| tokens.who(text, now));
        assert_eq!(whose, [Some(1), None, Some(2), Some(2)]);
    }

    #[test]
    fn at_the_bound_of_all_none_is_given_until_one_has_expired() {
        let (mut tokens, start) = (tokens(2, 10), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(tokens.give("a", 1, at(0)) && tokens.give("b", 2, at(5)));
        assert!(!tokens.give("c", 3, at(9)));
        assert!(tokens.give("c", 3, at(10)));
        assert_eq!((tokens.who("b", at(10)), tokens.who("c", at(10))), (Some(2), Some(3)));
    }

    #[test]
    fn nothing_is_kept_of_tokens_that_have_expired() {
        let (mut tokens, start) = (tokens(100, 3), Instant::now());
        for n in 0..50u64 {
            tokens.give(&n.to_string(), n % 7, start);
        }
        assert_eq!((tokens.by_text.len(), tokens.in_order.len()), (21, 21));
        tokens.sweep(start + Duration::from_secs(10));
        assert_eq!((tokens.by_text.len(), tokens.in_order.len(), tokens.of_user.len()), (0, 0, 0));
    }
}
