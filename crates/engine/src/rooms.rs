//! The rooms of a run, by name; shared by all shards, touched when a user joins and when a stamp is drawn.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Every room a user joined so far.
#[derive(Debug, Default)]
pub struct Rooms(Mutex<HashMap<String, Arc<Room>>>);

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
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms.get(name) {
            return Arc::clone(room);
        }
        let room = Arc::new(Room { id: rooms.len() as u32, next_number: AtomicU32::new(0) });
        rooms.insert(name.to_owned(), Arc::clone(&room));
        room
    }
}

impl Room {
    /// Numbers the room's next message. The one atomic of the sending path: numbers must be dense over all shards.
    pub fn draw_number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }
}
