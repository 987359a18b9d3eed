//! The rooms by name, and what rooms may be called.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use crate::faults::mix;
use crate::room::{Access, Room};
use crate::store::RoomRow;

/// Characters of a group room's name.
const NAME: usize = 64;

pub(crate) struct Rooms {
    by_id: RwLock<HashMap<Box<str>, Arc<Room>>>,
    /// The settle time of the fault plan, when there is one.
    settle: Option<Duration>,
}

impl Rooms {
    pub(crate) fn new(rows: Vec<RoomRow>, settle: Option<Duration>) -> Rooms {
        let by_id = rows
            .into_iter()
            .map(|row| {
                let id: Box<str> = row.id.into();
                (id.clone(), Arc::new(Room::new(row.key, id, row.access, row.last, settle)))
            })
            .collect();
        Rooms { by_id: RwLock::new(by_id), settle }
    }

    pub(crate) fn count(&self) -> usize {
        self.by_id.read().unwrap_or_else(std::sync::PoisonError::into_inner).len()
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Room>> {
        self.by_id.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(id).cloned()
    }

    /// The room of that id, made with `key` unless somebody was faster.
    pub(crate) fn find_or_add(&self, key: i64, id: &str, access: Access) -> Arc<Room> {
        let mut by_id = self.by_id.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let id: Box<str> = id.into();
        by_id
            .entry(id.clone())
            .or_insert_with(|| Arc::new(Room::new(key, id, access, 0, self.settle)))
            .clone()
    }
}

/// The id of the room two users share.
pub(crate) fn direct_id(a: u64, b: u64) -> String {
    format!("dm-{}-{}", a.min(b), a.max(b))
}

/// The id of a group room: its name when that can stand in a URL as it is, else its URL-safe part and a hash.
/// `None` when the name is empty or too long.
pub(crate) fn group_id(name: &str) -> Option<String> {
    let length = name.chars().count();
    if length == 0 || length > NAME {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // Dots alone would be a path's own words, and the prefixes are those of ids made here.
    let taken = ["dm-", "group-"].iter().any(|prefix| name.starts_with(prefix))
        || name.bytes().all(|byte| byte == b'.');
    if name.chars().all(plain) && !taken {
        return Some(name.to_owned());
    }
    let slug: String = name.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    let hash = name.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)));
    Some(format!("group-{slug}-{:08x}", hash as u32))
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
}
