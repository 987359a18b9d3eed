//! The store of users, rooms and messages: a trait, and the rows it takes and gives.
//!
//! Users, friendships and rooms are read into memory at the start (`accounts`, `rooms::registry`); messages are read
//! later, and lists of users from a store that services share. One thread writes (`hub::log`); histories may be read
//! beside it. A store of another kind implements `Store` in a file of its own, gets an arm in `open` and a line in
//! `contract`, which says what every store does.
//!
//! The store gives messages their numbers, because whatever else numbers them would have to be asked by every process
//! that writes to it.

#[cfg(test)]
mod contract;
pub(crate) mod lock;
mod postgres;
mod sqlite;
pub(crate) mod user_lists;

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Error, StoreLocation};
use crate::model::message::Message;
use crate::model::room_id::{Access, OPEN};
use crate::problem::Problem;
use user_lists::UserLists;

/// Opens the store and makes what it lacks. Where services may share it, none of them has a room forgotten that is not
/// idle for this long at all of them. May block; not for a thread of a runtime.
pub(crate) fn open(location: &StoreLocation, idle: Duration) -> Result<Box<dyn Store>, Error> {
    match location {
        StoreLocation::Memory => Ok(Box::new(sqlite::Sqlite::open(None)?)),
        StoreLocation::File(path) => Ok(Box::new(sqlite::Sqlite::open(Some(path))?)),
        StoreLocation::Postgres(location) => Ok(Box::new(postgres::Postgres::open(location, idle)?)),
    }
}

/// A failure of a store, in its own words.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub(crate) struct StoreError {
    pub(crate) kind: Failure,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// What a failure of a store means to who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It refused.
    Refused,
    /// All its connections were taken for as long as one is waited for.
    Busy,
    /// It cannot be reached, or was lost before it answered: what was asked of it may have been done.
    Unreachable,
}

impl Failure {
    pub(crate) fn problem(self) -> Problem {
        match self {
            Failure::Refused => Problem::store(),
            Failure::Busy => Problem::store_busy(),
            Failure::Unreachable => Problem::store_unreachable(),
        }
    }
}

/// The operations of a store for its writer.
pub(crate) trait Store: History {
    /// Distinguishes the numbers of this store from those of any other: random, made with it.
    fn epoch(&mut self) -> Result<String, StoreError>;

    /// All users, by their numbers.
    fn users(&mut self) -> Result<Vec<UserRow>, StoreError>;

    fn relations(&mut self) -> Result<Relations, StoreError>;

    /// Adds users that are not there yet, and makes a ring of them: neighbours are friends, and each sponsors the next
    /// two.
    fn seed(&mut self, users: &[Seed]) -> Result<(), StoreError>;

    fn rooms(&mut self) -> Result<Vec<RoomRow>, StoreError>;

    /// The room of that name.
    fn find_room(&mut self, id: &str) -> Result<Option<RoomRow>, StoreError>;

    /// The rooms whose key is above this one, by their keys: those made since, for keys only go up.
    fn rooms_above(&mut self, key: i64) -> Result<Vec<RoomRow>, StoreError>;

    /// The keys and last numbers of those of these rooms that are there, by their keys; 0 where nothing is said yet.
    fn last_numbers(&mut self, keys: &[i64]) -> Result<Vec<(i64, u64)>, StoreError>;

    /// Stores a room and says its key; one that is there already is left as it is. No key is given twice, that of a
    /// forgotten room neither: whoever still holds one finds nothing under it, and never another room's messages.
    fn insert_room(&mut self, id: &str, access: Access) -> Result<i64, StoreError>;

    /// Deletes rooms and all that was said in them.
    fn forget_rooms(&mut self, keys: &[i64]) -> Result<(), StoreError>;

    /// Stores all of these messages, in their order, or none of them, and gives each its number: a room's numbers have
    /// no gaps. About `kept` of each room are kept; older ones are deleted. The answer has one for each message.
    fn append(&mut self, messages: &[NewMessage<'_>], kept: u64) -> Result<Vec<Appended>, StoreError>;

    /// How to read beside this one; `None` when nobody else can.
    fn readers(&self) -> Option<OpenHistory>;

    /// What tokens are signed by that all services sharing the store accept; `None` where none share it.
    fn token_secret(&mut self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// The lists of users as the store itself gives them; `None` where they are better read from memory.
    fn user_lists(&self) -> Option<Arc<dyn UserLists>> {
        None
    }

    /// The store's connections, for who watches them; `None` where there is no pool of them.
    fn pool(&self) -> Option<Arc<dyn Pooled>> {
        None
    }
}

/// A pool of connections.
pub(crate) trait Pooled: Send + Sync {
    fn levels(&self) -> PoolLevels;
}

/// How a pool is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolLevels {
    /// Connections it may have, has, and has unused.
    pub(crate) most: u64,
    pub(crate) size: u64,
    pub(crate) idle: u64,
    /// Who waits for one now.
    pub(crate) waiting: u64,
    /// Who has waited in vain.
    pub(crate) timeouts: u64,
}

/// The messages of rooms.
pub(crate) trait History: Send {
    /// The messages numbered above `after`, as many as fit, oldest first.
    fn page(&mut self, room: i64, wanted: PageRequest) -> Result<Vec<Message>, StoreError>;
}

/// Who may enter the room of that id between these two, or these two being none.
fn access(id: &str, a: Option<i64>, b: Option<i64>) -> Access {
    match (a, b) {
        (Some(a), Some(b)) => Access::Direct(unsigned(a), unsigned(b)),
        _ if id.starts_with(OPEN) => Access::Open,
        _ => Access::Group,
    }
}

/// The users that a room is between.
fn pair(access: Access) -> (Option<i64>, Option<i64>) {
    match access {
        Access::Direct(a, b) => (Some(signed(a)), Some(signed(b))),
        Access::Group | Access::Open => (None, None),
    }
}

/// A page while it is filled.
struct Filling {
    wanted: PageRequest,
    bytes: usize,
    page: Vec<Message>,
}

impl Filling {
    fn new(wanted: PageRequest) -> Filling {
        Filling { wanted, bytes: 0, page: Vec::new() }
    }

    /// Adds the next message; false when it has no room for it.
    fn add(&mut self, seq: i64, sender: i64, content: &str, at: i64) -> bool {
        if !self.page.is_empty() && self.bytes + content.len() > self.wanted.bytes {
            return false;
        }
        let kept = Message::new(unsigned(seq), 0, unsigned(sender), content, unsigned(at));
        self.bytes += kept.object.len() + 1;
        self.page.push(kept);
        true
    }
}

/// For each user, the one or two behind it in the ring of all: its neighbours, and the next two.
fn ring(ids: &[i64]) -> impl Iterator<Item = (i64, i64)> {
    ids.iter().enumerate().flat_map(move |(at, id)| {
        let behind = [1, 2].map(|step| ids[(at + step) % ids.len()]);
        behind.into_iter().filter(move |other| other != id).map(move |other| (*id, other))
    })
}

// Databases' integers are signed; none of ours reaches the sign bit.
fn signed(value: u64) -> i64 {
    value as i64
}
fn unsigned(value: i64) -> u64 {
    value as u64
}

/// Opens one more reader.
pub(crate) type OpenHistory = Box<dyn Fn() -> Result<Box<dyn History>, StoreError> + Send + Sync>;

impl PoolLevels {
    /// The lines of `/metrics` about the pool.
    pub(crate) fn render(self) -> String {
        let PoolLevels { most, size, idle, waiting, timeouts } = self;
        let mut out = String::with_capacity(1024);
        for (name, kind, help, value) in [
            ("chat_store_pool_max", "gauge", "Connections to the store there may be.", most),
            ("chat_store_pool_size", "gauge", "Connections to the store there are.", size),
            ("chat_store_pool_idle", "gauge", "Those of them that nobody uses.", idle),
            ("chat_store_pool_waiting", "gauge", "Pieces of work that wait for a connection.", waiting),
            (
                "chat_store_pool_timeouts_total",
                "counter",
                "Pieces of work that waited for a connection in vain.",
                timeouts,
            ),
        ] {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        out
    }
}

/// A message to be stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewMessage<'a> {
    /// The room's public name, and who may enter it.
    pub(crate) room: &'a str,
    pub(crate) access: Access,
    /// The room's key; 0 where the store may not know it yet: it then makes the room.
    pub(crate) key: i64,
    /// Its number is above this one. Whoever holds a room that the store has forgotten goes on with its numbers.
    pub(crate) above: u64,
    /// 0 for who has no account.
    pub(crate) sender: u64,
    /// A second message of the same sender and room with this id is not stored.
    pub(crate) client_id: Option<&'a str>,
    pub(crate) content: &'a str,
    /// Milliseconds since the Unix epoch.
    pub(crate) at: u64,
}

/// The result of storing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// The room's key.
    pub(crate) key: i64,
    pub(crate) seq: u64,
    /// Whether it was stored before, with this number.
    pub(crate) is_repeated: bool,
    /// Older messages were deleted: the lowest number left.
    pub(crate) oldest: Option<u64>,
}

/// A user as it is kept.
pub(crate) struct UserRow {
    pub(crate) id: u64,
    pub(crate) email: String,
    pub(crate) username: String,
    pub(crate) password: String,
}

/// The relations of users, and their numbers of messages.
pub(crate) struct Relations {
    pub(crate) friends: Vec<(u64, u64)>,
    /// The sponsors of users.
    pub(crate) sponsors: Vec<(u64, u64)>,
    /// Messages kept of each user that has any; nothing where the store's own `user_lists` count them.
    pub(crate) posts: HashMap<u64, u64>,
}

/// A user to be there, with the hash of its password.
pub(crate) struct Seed {
    pub(crate) email: String,
    pub(crate) username: String,
    pub(crate) password: Arc<str>,
    /// Whether one that is there already gets this password.
    pub(crate) anew: bool,
}

/// A room as it is kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RoomRow {
    pub(crate) key: i64,
    pub(crate) id: String,
    pub(crate) access: Access,
    /// The number of its last message.
    pub(crate) last: u64,
    /// The lowest number that is kept, or the next when none is.
    pub(crate) oldest: u64,
    /// A user has said something in it.
    pub(crate) is_used: bool,
}

/// How much of the log is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRequest {
    pub(crate) after: u64,
    /// The last number wanted.
    pub(crate) upto: u64,
    pub(crate) messages: usize,
    /// Over so many bytes the page ends, yet not before its first message.
    pub(crate) bytes: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_of_the_pool_is_in_the_service_s_manual() {
        let manual = include_str!("../../../docs/service.md");
        let levels = PoolLevels { most: 10, size: 4, idle: 3, waiting: 2, timeouts: 1 };
        let text = levels.render();
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let values: Vec<_> = lines.iter().filter_map(|line| line.split_once(' ')).collect();
        assert_eq!(values.iter().map(|(_, value)| *value).collect::<Vec<_>>(), ["10", "4", "3", "2", "1"]);
        for (name, _) in values {
            assert!(manual.contains(name), "docs/service.md does not name {name}");
        }
    }
}
