//! The rooms by name, and what rooms may be called.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::faults::mix;
use crate::room::{Access, Keeping, Room};
use crate::store::RoomRow;

/// Characters of a group room's name.
const NAME: usize = 64;

/// How the ids of the rooms begin that are open to everybody: location groups.
pub(crate) const OPEN: &str = "location:";

pub(crate) struct Rooms {
    by_id: RwLock<HashMap<Box<str>, Arc<Room>>>,
    last_key: AtomicI64,
    keeping: Keeping,
    most: usize,
}

/// There are as many rooms as there may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl Rooms {
    pub(crate) fn new(rows: Vec<RoomRow>, keeping: Keeping, most: usize) -> Rooms {
        let last_key = rows.iter().map(|row| row.key).max().unwrap_or(0);
        let by_id = rows.into_iter().map(|row| (row.id.as_str().into(), Arc::new(Room::new(row, keeping))));
        Rooms { by_id: RwLock::new(by_id.collect()), last_key: AtomicI64::new(last_key), keeping, most }
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<Box<str>, Arc<Room>>> {
        self.by_id.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<Box<str>, Arc<Room>>> {
        self.by_id.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Room>> {
        self.read().get(id).cloned()
    }

    /// The room of that id, made unless somebody was faster; the store does not know of one that is made here. True when
    /// it was made.
    pub(crate) fn make(&self, id: &str, access: Access) -> Result<(Arc<Room>, bool), TooMany> {
        let mut by_id = self.write();
        if let Some(room) = by_id.get(id) {
            return Ok((room.clone(), false));
        }
        if by_id.len() >= self.most {
            return Err(TooMany);
        }
        // Given here and not by the store, which would give the key of a room it does not know of a second time.
        let key = self.last_key.fetch_add(1, Relaxed) + 1;
        let room = Room::new(RoomRow { key, id: id.into(), access, last: 0, oldest: 1 }, self.keeping);
        room.is_stored.store(false, Relaxed);
        let room = Arc::new(room);
        by_id.insert(id.into(), room.clone());
        Ok((room, true))
    }

    /// A room that could not be stored is no room.
    pub(crate) fn unmake(&self, room: &Arc<Room>) {
        self.write().remove(&room.id);
    }

    /// Forgets what was only asked for, and the memory of rooms that nobody has been in for long.
    pub(crate) fn tidy(&self) {
        let unused: Vec<Arc<Room>> = self
            .read()
            .values()
            .filter(|room| room.tidy() && room.access == Access::Open && !room.is_stored.load(Relaxed))
            .cloned()
            .collect();
        if unused.is_empty() {
            return;
        }
        let mut by_id = self.write();
        for room in unused {
            // This list's and the map's: whoever holds a third may be about to use it.
            if Arc::strong_count(&room) == 2 {
                by_id.remove(&room.id);
            }
        }
    }

    /// Has everybody who waits for a message look again.
    pub(crate) fn wake(&self) {
        let rooms: Vec<Arc<Room>> = self.read().values().cloned().collect();
        rooms.iter().for_each(|room| room.wake());
    }
}

/// The id of the room two users share.
pub(crate) fn direct_id(a: u64, b: u64) -> String {
    format!("dm-{}-{}", a.min(b), a.max(b))
}

/// What can stand in a URL, a path and a JSON text as it is.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn slug(name: &str) -> String {
    name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

fn hash(name: &str) -> u32 {
    name.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte))) as u32
}

/// Whether it is a name: not empty and not too long.
fn is_name(name: &str) -> bool {
    (1..=NAME).contains(&name.chars().take(NAME + 1).count())
}

/// The id of a group room: its name when that can stand in a URL as it is, else its URL-safe part and a hash.
/// `None` when the name is empty or too long.
pub(crate) fn group_id(name: &str) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    // Dots alone would be a path's own words, and the prefixes are those of ids made here.
    let taken = ["dm-", "group-"].iter().any(|prefix| name.starts_with(prefix))
        || name.bytes().all(|byte| byte == b'.');
    if name.chars().all(is_plain) && !taken {
        return Some(name.to_owned());
    }
    Some(format!("group-{}-{:08x}", slug(name), hash(name)))
}

/// The id of the location group of that name, and again when that is given for the name; `None` when the name is empty
/// or too long.
pub(crate) fn open_id(name: &str) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    if name.chars().all(is_plain) && !name.bytes().all(|byte| byte == b'.') {
        return Some(format!("{OPEN}{name}"));
    }
    let mut slug = slug(name);
    slug.truncate(NAME - "-00000000".len());
    Some(format!("{OPEN}{slug}-{:08x}", hash(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_room_can_always_stand_in_a_url() {
        assert_eq!(direct_id(7, 3), "dm-3-7");
        assert_eq!(group_id("lobby"), Some("lobby".to_owned()));
        for name in ["the full room", "방", "dm-1-2", "a/b", "\"", "group chat", "..", "group-a-b"] {
            let id = group_id(name).unwrap();
            assert!(id.starts_with("group-"), "{id}");
            assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{id}");
        }
        assert_ne!(group_id("a b"), group_id("a/b"));
        let made = group_id("a b").unwrap();
        assert_ne!(group_id(&made), Some(made));
        assert_eq!(group_id(""), None);
        assert_eq!(group_id(&"x".repeat(65)), None);
    }

    #[test]
    fn the_id_of_a_location_group_is_its_name_s_and_its_own_name_s() {
        assert_eq!(open_id("7"), Some("location:7".to_owned()));
        assert_eq!(open_id("group-a-b"), Some("location:group-a-b".to_owned()));
        let long = "x".repeat(NAME);
        for name in ["방", "a/b", "\"", "..", "location:7", long.as_str(), &"방".repeat(NAME)] {
            let id = open_id(name).unwrap();
            let own = id.strip_prefix(OPEN).unwrap();
            assert!(own.chars().all(is_plain) && own.len() <= NAME, "{id}");
            assert_eq!(open_id(own), Some(id.clone()), "{id}");
        }
        assert_ne!(open_id("a b"), open_id("a/b"));
        assert_eq!((open_id(""), open_id(&"x".repeat(NAME + 1))), (None, None));
    }

    fn rooms(most: usize) -> Rooms {
        let keeping = Keeping { settle: None, recent_messages: 10, recent_bytes: 1000 };
        let row = |key, id: &str| RoomRow { key, id: id.into(), access: Access::Group, last: 0, oldest: 1 };
        Rooms::new(vec![row(7, "lobby")], keeping, most)
    }

    #[test]
    fn rooms_are_made_once_and_up_to_the_bound() {
        let rooms = rooms(2);
        let (room, made) = rooms.make("location:1", Access::Open).unwrap();
        assert_eq!((room.key, made), (8, true));
        let (again, made) = rooms.make("location:1", Access::Open).unwrap();
        assert!(Arc::ptr_eq(&room, &again) && !made);
        assert_eq!(rooms.make("location:2", Access::Open).err(), Some(TooMany));
        rooms.unmake(&room);
        assert_eq!(rooms.make("location:2", Access::Open).unwrap().0.key, 9, "no key is given twice");
    }

    #[test]
    fn a_location_group_in_which_nothing_was_said_is_forgotten_once_nobody_holds_it() {
        let rooms = rooms(10);
        let held = rooms.make("location:held", Access::Open).unwrap().0;
        let said = rooms.make("location:said", Access::Open).unwrap().0;
        said.stored.store(1, Relaxed);
        said.is_stored.store(true, Relaxed);
        drop(said);
        rooms.make("location:asked", Access::Open).unwrap();
        rooms.tidy();
        let there = ["lobby", "location:held", "location:said", "location:asked"];
        assert_eq!(there.map(|id| rooms.find(id).is_some()), [true, true, true, false]);
        drop(held);
        rooms.tidy();
        assert_eq!(there.map(|id| rooms.find(id).is_some()), [true, false, true, false]);
    }
}
