//! The seats of all members whose memberships may still change.
//!
//! A member is looked up for every copy, so its number leads to its seats by an index and not by a search. That takes
//! four bytes for each member since the oldest that is still there; the seats themselves go with their member, and
//! their place is taken by another's. So people who come and go leave nothing behind.

use super::stay::Seat;
use super::{Member, RoomId};
use std::collections::VecDeque;

/// A member that has no seats yet.
const NONE: u32 = u32::MAX;
/// A member that is gone for good.
const DEPARTED: u32 = u32::MAX - 1;

/// By member, then by room (sorted; nearly always one or two).
#[derive(Default)]
pub(super) struct Seats {
    /// The oldest member that has not departed.
    first: Member,
    /// From it on: which list is whose.
    places: VecDeque<u32>,
    lists: Vec<Vec<Seat>>,
    /// Lists that belong to nobody.
    free: Vec<u32>,
}

impl Seats {
    fn place(&self, member: Member) -> Option<usize> {
        let place = *self.places.get(member.checked_sub(self.first)? as usize)?;
        (place < DEPARTED).then_some(place as usize)
    }

    /// A member's seat in a room, if it ever had one.
    pub(super) fn get(&self, member: Member, room: RoomId) -> Option<&Seat> {
        let seats = &self.lists[self.place(member)?];
        find(seats, room).ok().map(|at| &seats[at])
    }

    /// [`Seats::get`].
    pub(super) fn get_mut(&mut self, member: Member, room: RoomId) -> Option<&mut Seat> {
        let place = self.place(member)?;
        let seats = &mut self.lists[place];
        find(seats, room).ok().map(|at| &mut seats[at])
    }

    /// A member's seat in a room, made when there is none. None when the member has departed.
    pub(super) fn made(&mut self, member: Member, room: RoomId) -> Option<&mut Seat> {
        let index = member.checked_sub(self.first)? as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, NONE);
        }
        if self.places[index] == NONE {
            self.places[index] = self.free.pop().unwrap_or_else(|| {
                self.lists.push(Vec::new());
                self.lists.len() as u32 - 1
            });
        }
        let seats = self.lists.get_mut(self.places[index] as usize)?;
        let at = find(seats, room).unwrap_or_else(|free| {
            if seats.is_empty() {
                // Nearly every member has one: a list begins with room for four.
                seats.reserve_exact(1);
            }
            seats.insert(free, Seat::new(room));
            free
        });
        Some(&mut seats[at])
    }

    /// All there are.
    pub(super) fn each(&mut self) -> impl Iterator<Item = &mut Seat> {
        self.lists.iter_mut().flatten()
    }

    /// A member's seats.
    pub(super) fn of(&mut self, member: Member) -> &mut [Seat] {
        let place = self.place(member);
        place.and_then(|place| self.lists.get_mut(place)).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Forgets a member for good.
    pub(super) fn remove(&mut self, member: Member) {
        let Some(index) = member.checked_sub(self.first).map(|index| index as usize) else { return };
        if self.places.len() <= index {
            self.places.resize(index + 1, NONE);
        }
        let place = std::mem::replace(&mut self.places[index], DEPARTED);
        if let Some(seats) = self.lists.get_mut(place as usize) {
            *seats = Vec::new();
            self.free.push(place);
        }
        while self.places.front() == Some(&DEPARTED) {
            self.places.pop_front();
            self.first += 1;
        }
    }

    /// Members that are looked up, lists there are, and seats in them.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> [usize; 3] {
        [self.places.len(), self.lists.len(), self.lists.iter().map(Vec::len).sum()]
    }
}

fn find(seats: &[Seat], room: RoomId) -> Result<usize, usize> {
    match seats {
        [only] if only.room == room => Ok(0),
        _ => seats.binary_search_by_key(&room, |seat| seat.room),
    }
}
