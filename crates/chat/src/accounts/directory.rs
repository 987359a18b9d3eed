//! Lists of users from memory.
//!
//! Everything is in order already, so a page costs what it shows, whatever the number of users.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use super::Accounts;
use super::user::User;
use crate::store::user_lists::{Begin, ListRequest, Listed, ListedUser, Listing, UserLists, UserPage};

/// Ids in the order in which they are listed.
pub(crate) struct Directory {
    /// Everybody, the newest first.
    all: Vec<u64>,
    /// The users that anybody sponsors, the newest first.
    sponsored: Vec<u64>,
}

impl Directory {
    pub(super) fn new<'a>(users: impl Iterator<Item = &'a User>) -> Directory {
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

impl UserLists for Accounts {
    fn list(&self, wanted: ListRequest) -> Listing<'_> {
        Box::pin(std::future::ready(Ok(self.page(wanted))))
    }
}

impl Accounts {
    fn page(&self, ListRequest { listed, begin, limit }: ListRequest) -> UserPage {
        let of = |user: u64| self.user(user).map(|user| &**user);
        let (ids, newest_first): (&[u64], bool) = match listed {
            Listed::All | Listed::Random => (&self.directory.all, true),
            Listed::AllSponsored => (&self.directory.sponsored, true),
            Listed::SponsorsOf(user) => (of(user).map_or(&[], |user| &user.sponsors), false),
            Listed::SponsoredBy(user) => (of(user).map_or(&[], |user| &user.sponsored), false),
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let shown: Vec<u64> = match begin {
            _ if listed == Listed::Random => random(ids, limit),
            Begin::Offset(first) => {
                let first = usize::try_from(first).unwrap_or(usize::MAX).min(ids.len());
                ids[first..].iter().take(limit).copied().collect()
            }
            Begin::Behind(id) => {
                let first =
                    ids.partition_point(|there| if newest_first { *there >= id } else { *there <= id });
                ids[first..].iter().take(limit).copied().collect()
            }
        };
        UserPage {
            users: shown.into_iter().filter_map(of).map(shown_as).collect(),
            total: matches!(begin, Begin::Offset(_)).then_some(ids.len() as u64),
        }
    }
}

fn shown_as(user: &User) -> ListedUser {
    ListedUser {
        id: user.id,
        email: user.email.clone(),
        username: user.username.clone(),
        posts: user.posts.load(Relaxed),
        sponsors: user.sponsors.len() as u64,
    }
}

/// Another choice each time, none twice.
fn random(ids: &[u64], limit: usize) -> Vec<u64> {
    let count = ids.len().min(limit);
    // Floyd's sampling: as many draws as users wanted.
    let mut chosen = HashSet::with_capacity(count);
    let mut shown = Vec::with_capacity(count);
    for last in ids.len() - count..ids.len() {
        let drawn = fastrand::usize(..=last);
        let at = if chosen.insert(drawn) { drawn } else { last };
        chosen.insert(at);
        shown.push(ids[at]);
    }
    shown
}
