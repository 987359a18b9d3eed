//! The orders in which users are listed.

use super::user::User;

/// Ids in the order in which they are listed.
pub(crate) struct Directory {
    /// Everybody, the newest first.
    pub(crate) all: Vec<u64>,
    /// The users that anybody sponsors, the newest first.
    pub(crate) sponsored: Vec<u64>,
}

impl Directory {
    pub(crate) fn new<'a>(users: impl Iterator<Item = &'a User>) -> Directory {
        let (mut all, mut sponsored) = (Vec::new(), Vec::new());
        for user in users {
            all.push(user.id);
            if !user.sponsors.is_empty() {
                sponsored.push(user.id);
            }
        }
        all.sort_unstable_by(|a, b| b.cmp(a));
        sponsored.sort_unstable_by(|a, b| b.cmp(a));
        Directory { all, sponsored }
    }
}
