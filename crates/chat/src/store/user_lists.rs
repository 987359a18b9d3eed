//! Lists of users, page by page: what is asked for, and who answers.

use std::future::Future;
use std::pin::Pin;

use super::StoreError;

/// Which users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Everybody, the newest first.
    All,
    /// Some, others each time; it has no order to go on in.
    Random,
    /// The users who sponsor this one, the oldest first.
    SponsorsOf(u64),
    /// The users whom this one sponsors, the oldest first.
    SponsoredBy(u64),
    /// The users whom anybody sponsors, the newest first.
    AllSponsored,
}

/// Where in the list a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Behind so many users. The number of all is counted, too.
    Offset(u64),
    /// Behind the user of this id, which need not be there.
    Behind(u64),
}

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListRequest {
    pub(crate) listed: Listed,
    pub(crate) begin: Begin,
    /// Users at most.
    pub(crate) limit: u64,
}

/// A user as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct ListedUser {
    pub(crate) id: u64,
    pub(crate) email: String,
    pub(crate) username: String,
    /// Its messages.
    pub(crate) posts: u64,
    /// How many sponsor it.
    pub(crate) sponsors: u64,
}

/// A page of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserPage {
    pub(crate) users: Vec<ListedUser>,
    /// How many the whole list has; not of a page behind a user.
    pub(crate) total: Option<u64>,
}

/// An answer that is waited for.
pub(crate) type Listing<'a> = Pin<Box<dyn Future<Output = Result<UserPage, StoreError>> + Send + 'a>>;

/// Whoever has the users.
pub(crate) trait UserLists: Send + Sync {
    fn list(&self, wanted: ListRequest) -> Listing<'_>;
}
