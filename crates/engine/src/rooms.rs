//! The rooms of a run, by name; shared by all shards, touched when a user joins and when a stamp is drawn.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Every room a user joined so far.
#[derive(Debug, Default)]
pub struct Rooms(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_name: HashMap<Arc<str>, Arc<Room>>,
    /// By number.
    names: Vec<Arc<str>>,
}

/// A room: its number in the run and the next message's number in it.
#[derive(Debug)]
pub struct Room {
    /// Its number, dense from 0.
    pub id: u32,
    next_number: AtomicU32,
}

impl Rooms {
    /// The room of this name; numbered in order of first mention.
    pub fn named(&self, name: &str) -> Arc<Room> {
        let mut known = self.known();
        if let Some(room) = known.by_name.get(name) {
            return Arc::clone(room);
        }
        let room = Arc::new(Room { id: known.names.len() as u32, next_number: AtomicU32::new(0) });
        let name: Arc<str> = Arc::from(name);
        known.names.push(Arc::clone(&name));
        known.by_name.insert(name, Arc::clone(&room));
        room
    }

    /// The name of the room with this number.
    pub fn name(&self, id: u32) -> Option<String> {
        self.known().names.get(id as usize).map(|name| name.to_string())
    }

    /// Messages that were numbered, in all rooms.
    pub fn drawn(&self) -> u64 {
        let drawn = |room: &Arc<Room>| u64::from(room.next_number.load(Ordering::Relaxed));
        self.known().by_name.values().map(drawn).sum()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    /// Numbers the room's next message. The one atomic of the sending path: numbers must be dense over all shards.
    pub fn draw_number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }
}
