//! The rooms by name.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use crate::config::Limits;
use crate::connection::source::Source;
use crate::model::room_id::Access;
use crate::rooms::room::{Keeping, Room};
use crate::store::RoomRow;

pub(crate) struct Rooms {
    table: RwLock<Table>,
    last_number: AtomicU64,
    keeping: Keeping,
    /// How many there may be, and how many of those that anybody may make one source may hold.
    most: usize,
    most_of_one: usize,
}

#[derive(Default)]
struct Table {
    by_id: HashMap<Box<str>, Arc<Room>>,
    /// How many of the rooms each source has made.
    held: HashMap<Source, usize>,
}

/// Why a room is not made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotMade {
    /// There are as many as there may be.
    TooMany,
    /// Its maker has made as many as one may hold.
    TooManyOfOne,
}

impl Table {
    fn has(&self, room: &Arc<Room>) -> bool {
        self.by_id.get(&room.id).is_some_and(|known| Arc::ptr_eq(known, room))
    }

    fn remove(&mut self, id: &str) {
        let maker = self.by_id.remove(id).and_then(|room| room.maker);
        if let Some(Entry::Occupied(mut held)) = maker.map(|maker| self.held.entry(maker)) {
            *held.get_mut() -= 1;
            if *held.get() == 0 {
                held.remove();
            }
        }
    }
}

impl Rooms {
    pub(crate) fn new(rows: Vec<RoomRow>, keeping: Keeping, limits: &Limits) -> Rooms {
        let last_number = AtomicU64::new(rows.len() as u64);
        let rooms = (1..)
            .zip(rows)
            .map(|(number, row)| (row.id.as_str().into(), Arc::new(Room::new(row, number, None, keeping))));
        let table = RwLock::new(Table { by_id: rooms.collect(), held: HashMap::new() });
        Rooms { table, last_number, keeping, most: limits.rooms, most_of_one: limits.groups_per_address }
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, id: &str) -> Option<Arc<Room>> {
        self.read().by_id.get(id).cloned()
    }

    /// The room of that id, made unless somebody was faster; the store does not know of one that is made here. True
    /// when it was made. With a maker it is one of those that anybody may make: these leave a tenth of all rooms to
    /// users, and count for whoever made them.
    pub(crate) fn make(
        &self,
        id: &str,
        access: Access,
        maker: Option<Source>,
    ) -> Result<(Arc<Room>, bool), NotMade> {
        let Table { by_id, held } = &mut *self.write();
        if let Some(room) = by_id.get(id) {
            return Ok((room.clone(), false));
        }
        let most = if maker.is_some() { self.most - self.most / 10 } else { self.most };
        if by_id.len() >= most {
            return Err(NotMade::TooMany);
        }
        if let Some(maker) = maker {
            let held = held.entry(maker).or_default();
            if *held >= self.most_of_one {
                return Err(NotMade::TooManyOfOne);
            }
            *held += 1;
        }
        let number = self.last_number.fetch_add(1, Relaxed) + 1;
        let row = RoomRow { key: 0, id: id.into(), access, last: 0, oldest: 1, is_used: false };
        let room = Arc::new(Room::new(row, number, maker, self.keeping));
        by_id.insert(id.into(), room.clone());
        Ok((room, true))
    }

    /// The room of a row that the store has, of another service's making; the one that is here already stays.
    pub(crate) fn adopt(&self, row: RoomRow) -> Arc<Room> {
        let Table { by_id, .. } = &mut *self.write();
        if let Some(room) = by_id.get(row.id.as_str()) {
            return room.clone();
        }
        let number = self.last_number.fetch_add(1, Relaxed) + 1;
        let id = row.id.as_str().into();
        let room = Arc::new(Room::new(row, number, None, self.keeping));
        by_id.insert(id, room.clone());
        room
    }

    /// The highest key of a room here.
    pub(crate) fn top_key(&self) -> i64 {
        self.read().by_id.values().map(|room| room.key()).max().unwrap_or(0)
    }

    /// A room that could not be stored is no room.
    pub(crate) fn unmake(&self, room: &Arc<Room>) {
        let mut table = self.write();
        if table.has(room) {
            table.remove(&room.id);
        }
    }

    /// Whether this is still the room of its id.
    pub(crate) fn has(&self, room: &Arc<Room>) -> bool {
        self.read().has(room)
    }

    /// Forgets what was only asked for, and the memory of rooms that nobody has been in for long. Returns the rooms
    /// that are to be forgotten though something is stored of them: nobody has needed them for `most_idle`.
    pub(crate) fn tidy(&self, now: Instant, most_idle: Duration) -> Vec<Arc<Room>> {
        let (mut unsaid, mut idle) = (Vec::new(), Vec::new());
        for room in self.read().by_id.values() {
            let alone = room.tidy(now);
            // Whoever holds another may be about to use it.
            if !room.is_anybodys() || Arc::strong_count(room) > 1 {
                continue;
            }
            match alone {
                Some(_) if room.key() == 0 && room.messages() == 0 => unsaid.push(room.clone()),
                Some(alone) if room.key() != 0 && alone >= most_idle => idle.push(room.clone()),
                _ => {}
            }
        }
        unsaid.iter().for_each(|room| self.forget(room));
        idle
    }

    /// Whether only the caller and this map hold it.
    pub(crate) fn is_unused(&self, room: &Arc<Room>) -> bool {
        let _no_more = self.write();
        Arc::strong_count(room) == 2
    }

    /// Forgets a room unless somebody needs it meanwhile.
    pub(crate) fn forget(&self, room: &Arc<Room>) {
        let mut table = self.write();
        if Arc::strong_count(room) == 2 {
            table.remove(&room.id);
        }
    }

    /// Has everybody who waits for a message look again.
    pub(crate) fn wake(&self) {
        let rooms: Vec<Arc<Room>> = self.read().by_id.values().cloned().collect();
        rooms.iter().for_each(|room| room.wake());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::room_id::OPEN;

    fn rooms(rooms: usize, groups_per_address: usize) -> Rooms {
        let keeping = Keeping { settle: None, recent_messages: 10, recent_bytes: 1000, is_shared: false };
        let row = |id: &str, is_used| {
            let access = if id == "lobby" { Access::Group } else { Access::Open };
            RoomRow { key: 7, id: id.into(), access, last: 1, oldest: 1, is_used }
        };
        let rows = vec![row("lobby", false), row("location:used", true)];
        Rooms::new(rows, keeping, &Limits { rooms, groups_per_address, ..Limits::default() })
    }

    fn source(last: u8) -> Option<Source> {
        Some(std::net::IpAddr::from([192, 0, 2, last]).into())
    }

    #[test]
    fn rooms_are_made_once_and_up_to_the_bound() {
        let rooms = rooms(3, 10);
        let (room, made) = rooms.make("location:1", Access::Open, source(1)).unwrap();
        assert_eq!((room.key(), made), (0, true));
        let (again, made) = rooms.make("location:1", Access::Open, source(2)).unwrap();
        assert!(Arc::ptr_eq(&room, &again) && !made);
        assert_eq!(rooms.make("location:2", Access::Open, source(1)).err(), Some(NotMade::TooMany));
        rooms.unmake(&room);
        let other = rooms.make("location:2", Access::Open, source(1)).unwrap().0;
        assert_ne!(other.number, room.number);
    }

    #[test]
    fn one_source_may_hold_its_share_of_the_groups_and_all_together_leave_a_tenth_of_the_rooms_to_users() {
        let rooms = rooms(20, 5);
        let make = |n: u8, source| rooms.make(&format!("location:{n}"), Access::Open, source).err();
        assert!((0..5).all(|n| make(n, source(1)).is_none()));
        assert_eq!(make(5, source(1)), Some(NotMade::TooManyOfOne));
        assert_eq!(make(4, source(1)), None, "it is there");
        assert!((5..16).all(|n| make(n, source(n)).is_none()));
        assert_eq!(make(16, source(16)), Some(NotMade::TooMany));
        assert!(["a", "b"].iter().all(|id| rooms.make(id, Access::Group, None).is_ok()));
        assert_eq!(rooms.make("c", Access::Group, None).err(), Some(NotMade::TooMany));
        // A forgotten room counts for nobody.
        assert_eq!(rooms.tidy(Instant::now(), Duration::MAX).len(), 0);
        assert!((0..5).all(|n| make(n, source(1)).is_none()));
        assert_eq!(rooms.read().held.len(), 1);
    }

    #[test]
    fn a_group_is_forgotten_when_nobody_needs_it_and_a_private_or_used_room_never() {
        let (rooms, start) = (rooms(20, 10), Instant::now());
        let make = |id| rooms.make(id, Access::Open, source(1)).unwrap().0;
        let held = make("location:held");
        for (id, key) in [("location:said", 8), ("location:by-a-user", 9)] {
            let said = make(id);
            said.stored.store(1, Relaxed);
            said.is_stored_as(key);
        }
        rooms.find("location:by-a-user").unwrap().is_used_from_now();
        make("location:asked");
        rooms.make("private", Access::Direct(1, 2), None).unwrap();
        let tidy = |seconds| {
            let idle = rooms.tidy(start + Duration::from_secs(seconds), Duration::from_secs(100));
            idle.iter().map(|room| room.id.to_string()).collect::<Vec<_>>()
        };
        let there = || {
            ["held", "said", "by-a-user", "asked", "used"]
                .map(|id| rooms.find(&format!("{OPEN}{id}")).is_some())
        };
        assert_eq!(tidy(0), [""; 0]);
        assert_eq!(there(), [true, true, true, false, true]);
        drop(held);
        assert_eq!((tidy(10), tidy(99)), (vec![], vec![]));
        assert_eq!(there(), [false, true, true, false, true]);
        assert_eq!(tidy(100), ["location:said"]);
        // Somebody asks: it is needed again.
        rooms.find("location:said").unwrap().look(crate::rooms::cursor::Start::Now, false, 100);
        assert_eq!((tidy(101), tidy(200)), (vec![], vec![]));
        assert_eq!(tidy(201), ["location:said"]);
        let said = rooms.find("location:said").unwrap();
        assert!(rooms.is_unused(&said));
        said.lose_its_past();
        rooms.forget(&said);
        assert_eq!(there(), [false, false, true, false, true]);
        assert!(rooms.find("private").is_some() && rooms.find("lobby").is_some());
    }
}
