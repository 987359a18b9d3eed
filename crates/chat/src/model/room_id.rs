//! The ids of rooms, and who may enter one.

use crate::faults::mix;

/// Characters of a group room's name.
const NAME: usize = 64;

/// How the ids of the rooms begin that are open to everybody: location groups.
pub(crate) const OPEN: &str = "location:";

/// Access to a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// These two users.
    Direct(u64, u64),
    /// Every user.
    Group,
    /// Everybody, with or without an account.
    Open,
}

/// The id of the room two users share.
pub(crate) fn direct_id(a: u64, b: u64) -> String {
    format!("dm-{}-{}", a.min(b), a.max(b))
}

/// Whether a character needs no escape in a URL, a path and a JSON text.
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
}
