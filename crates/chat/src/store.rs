//! The store of users, rooms and messages: a trait, and the rows it takes and gives.
//!
//! Users, friendships and rooms are read into memory at the start (`accounts`, `rooms::registry`); only messages are
//! read later. One thread writes (`hub::log`); histories may be read beside it. A store of another kind implements
//! `Store` in a file of its own and gets an arm in `open`.
//!
//! The store gives messages their numbers, because whatever else numbers them would have to be asked by every process
//! that writes to it.

#[cfg(test)]
mod contract;
pub(crate) mod lock;
mod sqlite;

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::{Error, StoreLocation};
use crate::model::message::Message;
use crate::model::room_id::Access;

/// Opens the store and makes what it lacks.
pub(crate) fn open(location: &StoreLocation) -> Result<Box<dyn Store>, Error> {
    match location {
        StoreLocation::Memory | StoreLocation::File(_) => Ok(Box::new(sqlite::Sqlite::open(location)?)),
    }
}

/// A failure of a store, in its own words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct StoreError(#[source] Box<dyn std::error::Error + Send + Sync>);

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
    #[cfg_attr(not(test), expect(dead_code, reason = "for services that share a store"))]
    fn find_room(&mut self, id: &str) -> Result<Option<RoomRow>, StoreError>;

    /// The rooms whose key is above this one, by their keys: those made since, for keys only go up.
    #[cfg_attr(not(test), expect(dead_code, reason = "for services that share a store"))]
    fn rooms_above(&mut self, key: i64) -> Result<Vec<RoomRow>, StoreError>;

    /// The keys and last numbers of those of these rooms that are there, by their keys; 0 where nothing is said yet.
    #[cfg_attr(not(test), expect(dead_code, reason = "for services that share a store"))]
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
}

/// The messages of rooms.
pub(crate) trait History: Send {
    /// The messages numbered above `after`, as many as fit, oldest first.
    fn page(&mut self, room: i64, wanted: PageRequest) -> Result<Vec<Message>, StoreError>;
}

/// Opens one more reader.
pub(crate) type OpenHistory = Box<dyn Fn() -> Result<Box<dyn History>, StoreError> + Send + Sync>;

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
    /// Messages kept of each user that has any.
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
