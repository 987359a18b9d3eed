//! The other services of the same store: what they say is heard over the bus and, whatever becomes of that, read from
//! the store.
//!
//! | a room | is heard | is compared with the store |
//! |---|---|---|
//! | somebody is in it, waits or has asked | from then on | once that is so; and every few seconds |
//! | the bus is down | no | every quarter of a second |
//! | nobody has needed it for `bus_linger` | no more | no more |
//!
//! The bus is down when it does not bring this service's own beat for a second. Nothing is lost by that: a room is then
//! not current, so that whoever comes into it has the store asked first, and messages of others come late. Comparing
//! goes on while it is up, for whoever publishes may be killed between commit and publication.
//!
//! All of it runs on the log's thread.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::in_order::InOrder;
use crate::bus::{Bus, Heard, Said, format};
use crate::connection::outbox::Close;
use crate::hub::Hub;
use crate::model::message::Message;
use crate::rooms::delivery::Ack;
use crate::rooms::room::Room;
use crate::store::{RoomRow, Store, StoreError};

/// Without a beat for so long the bus is down.
const SILENCE: Duration = Duration::from_secs(1);

/// How often it is looked whether it is.
const TICK: Duration = Duration::from_millis(100);

/// How often rooms are compared with the store while the bus is down, and while it is up.
const COMPARE_DOWN: Duration = Duration::from_millis(250);
const COMPARE_UP: Duration = Duration::from_secs(3);

/// How often it is looked which rooms nobody needs any more.
const SWEEP: Duration = Duration::from_secs(1);

pub(crate) struct Others {
    bus: Box<dyn Bus>,
    instance: u64,
    /// By the room's id. No room is held by it: that would keep groups that nobody uses.
    subscriptions: HashMap<Box<str>, Subscription>,
    in_order: InOrder,
    /// Rooms that have been subscribed to since the last look.
    confirmed: Vec<Box<str>>,
    /// When the last beat was heard, or the beginning of all.
    beat: Instant,
    is_up: bool,
    /// What the bus was lost by.
    lost: Option<String>,
    /// Whether that it is down has been told.
    is_told: bool,
    ticked: Instant,
    compared: Instant,
    swept: Instant,
    /// The highest key of a room that is known here.
    top_key: i64,
}

#[derive(Default)]
struct Subscription {
    is_confirmed: bool,
    /// Since when nobody was seen to need it.
    unused: Option<Instant>,
}

impl Others {
    pub(crate) fn new(bus: Box<dyn Bus>, instance: u64, hub: &Hub) -> Others {
        let now = Instant::now();
        Others {
            bus,
            instance,
            subscriptions: HashMap::new(),
            in_order: InOrder::default(),
            confirmed: Vec::new(),
            beat: now,
            is_up: false,
            lost: None,
            is_told: false,
            ticked: now,
            compared: now,
            swept: now,
            top_key: hub.rooms.top_key(),
        }
    }

    pub(super) fn next_due(&self) -> Instant {
        let tick = self.ticked + TICK;
        self.in_order.next_due().map_or(tick, |due| due.min(tick))
    }

    pub(super) fn heard(&mut self, heard: Heard, store: &mut dyn Store, hub: &Hub) {
        let now = Instant::now();
        match heard {
            Heard::Said(Said { room, key, messages }) => {
                hub.metrics.heard.add(messages.len() as u64);
                // Forgotten meanwhile: nobody is here.
                let Some(room) = hub.rooms.find(&room) else { return };
                if room.key() == 0 {
                    room.is_stored_as(key);
                }
                if room.key() == key {
                    self.in_order.heard(&room, messages, now, hub);
                } else {
                    // One of them is forgotten by the store.
                    self.compare(vec![room], store, hub);
                }
            }
            Heard::Made(id) => {
                if let Err(error) = find(&id, store, hub) {
                    hub.failures.store("read", &error);
                }
            }
            Heard::Beat => {
                self.beat = now;
                if !self.is_up {
                    self.comes_up(store, hub);
                }
            }
            Heard::Subscribed(room) => {
                if let Some(subscription) = self.subscriptions.get_mut(&room) {
                    subscription.is_confirmed = true;
                    self.confirmed.push(room);
                }
            }
            Heard::Lost(why) => {
                self.subscriptions.values_mut().for_each(|subscription| subscription.is_confirmed = false);
                self.goes_down(why, now, hub);
            }
            Heard::Unreadable => hub.metrics.unreadable.add(1),
        }
    }

    /// Does what time has made due.
    pub(super) fn tick(&mut self, now: Instant, store: &mut dyn Store, hub: &Hub) {
        if !self.confirmed.is_empty() {
            let rooms = std::mem::take(&mut self.confirmed);
            self.compare(rooms.iter().filter_map(|id| hub.rooms.find(id)).collect(), store, hub);
        }
        self.in_order.fill_due(now, store, hub);
        if now < self.ticked + TICK {
            return;
        }
        if now.saturating_duration_since(self.ticked) > SILENCE / 2 {
            // This thread was held up, by the store most likely: the beats since then wait to be heard.
            self.beat = self.beat.max(now - SILENCE / 2);
        }
        self.ticked = now;
        if now.saturating_duration_since(self.beat) > SILENCE {
            self.goes_down("it brings nothing".to_owned(), now, hub);
        }
        if now.saturating_duration_since(self.compared) >= if self.is_up { COMPARE_UP } else { COMPARE_DOWN }
        {
            self.compare_all(store, hub);
        }
        if now.saturating_duration_since(self.swept) >= SWEEP {
            self.swept = now;
            self.sweep(now, hub);
        }
    }

    fn comes_up(&mut self, store: &mut dyn Store, hub: &Hub) {
        self.is_up = true;
        (self.lost, self.is_told) = (None, false);
        hub.metrics.bus_up.set(1);
        self.compare_all(store, hub);
    }

    /// Told once it is certain, and once.
    fn goes_down(&mut self, why: String, now: Instant, hub: &Hub) {
        if self.is_up {
            self.is_up = false;
            hub.metrics.bus_up.set(0);
            for id in self.subscriptions.keys() {
                hub.rooms.find(id).into_iter().for_each(|room| room.is_current(false));
            }
        }
        let why = &*self.lost.insert(why);
        if !self.is_told && now.saturating_duration_since(self.beat) > SILENCE {
            self.is_told = true;
            hub.failures.bus(why);
        }
    }

    /// Has the room heard from now on, and everything published that the store has of it by now. Whoever enters then is
    /// told right, unless the room is none any more by then ([`Rooms::has`](crate::rooms::registry::Rooms::has)).
    pub(crate) fn refresh(
        &mut self,
        room: &Arc<Room>,
        store: &mut dyn Store,
        hub: &Hub,
    ) -> Result<(), StoreError> {
        let subscription = self.subscriptions.entry(room.id.clone()).or_insert_with(|| {
            self.bus.subscribe(&room.id);
            Subscription::default()
        });
        subscription.unused = None;
        let is_heard = self.is_up && subscription.is_confirmed;
        hub.metrics.bus_subscriptions.set(self.subscriptions.len() as u64);
        if let Some(row) = store.find_room(&room.id)? {
            self.learn(room, row, store, hub)?;
        }
        // Else it is once the subscription is confirmed, and what was said until then is read.
        if is_heard {
            room.is_current(true);
        }
        Ok(())
    }

    /// What the store says of a room that is here.
    fn learn(
        &mut self,
        room: &Arc<Room>,
        row: RoomRow,
        store: &mut dyn Store,
        hub: &Hub,
    ) -> Result<(), StoreError> {
        self.top_key = self.top_key.max(row.key);
        let published = room.last_published();
        if row.key != room.key() && (row.last < published || (room.key() != 0 && published > 0)) {
            // Somebody has deleted it, and others have begun it anew: its numbers mean nothing any more.
            for member in room.members().iter() {
                member.peer.outbox.close(Close::Slow);
            }
            hub.rooms.unmake(room);
            room.wake();
            return Ok(());
        }
        room.is_stored_as(row.key);
        room.oldest.store(row.oldest, Relaxed);
        if row.is_used {
            room.is_used_from_now();
        }
        self.in_order.reach(room, row.last, store, hub)
    }

    /// Compares every room that is heard, and learns of new ones.
    fn compare_all(&mut self, store: &mut dyn Store, hub: &Hub) {
        self.compared = Instant::now();
        match store.rooms_above(self.top_key) {
            Ok(rows) => rows.into_iter().for_each(|row| {
                self.top_key = self.top_key.max(row.key);
                adopt(row, hub);
            }),
            Err(error) => hub.failures.store("read", &error),
        }
        let rooms = self.subscriptions.keys().filter_map(|id| hub.rooms.find(id)).collect();
        self.compare(rooms, store, hub);
    }

    /// Has everything published that the store has of these rooms. Those that are heard are current then.
    fn compare(&mut self, rooms: Vec<Arc<Room>>, store: &mut dyn Store, hub: &Hub) {
        let keys: Vec<i64> = rooms.iter().map(|room| room.key()).filter(|key| *key != 0).collect();
        let last = match store.last_numbers(&keys) {
            Ok(numbers) => numbers.into_iter().collect::<HashMap<i64, u64>>(),
            Err(error) => return hub.failures.store("read", &error),
        };
        for room in rooms {
            let compared = match last.get(&room.key()) {
                Some(last) => self.in_order.reach(&room, *last, store, hub),
                // Not said in yet, as far as is known here, or deleted.
                None => match store.find_room(&room.id) {
                    Ok(Some(row)) => self.learn(&room, row, store, hub),
                    Ok(None) => Ok(()),
                    Err(error) => Err(error),
                },
            };
            match compared {
                Ok(()) => {
                    let subscription = self.subscriptions.get(&room.id);
                    room.is_current(self.is_up && subscription.is_some_and(|it| it.is_confirmed));
                }
                Err(error) => hub.failures.store("read", &error),
            }
        }
    }

    /// Ends what nobody has needed for long.
    fn sweep(&mut self, now: Instant, hub: &Hub) {
        let linger = hub.config.limits.bus_linger.max(hub.config.recovery.unwrap_or_default());
        let bus = &self.bus;
        self.subscriptions.retain(|id, subscription| {
            let room = hub.rooms.find(id);
            if room.as_ref().is_some_and(|room| room.is_listened_to()) {
                subscription.unused = None;
                return true;
            }
            let unused = *subscription.unused.get_or_insert(now);
            let is_over =
                room.is_none_or(|room| now.saturating_duration_since(unused) >= linger && room.goes_quiet());
            if is_over {
                bus.unsubscribe(id);
            }
            !is_over
        });
        hub.metrics.bus_subscriptions.set(self.subscriptions.len() as u64);
    }

    /// Tells the others of messages that are committed, and publishes them here. Returns the receivers.
    pub(super) fn publish(
        &mut self,
        room: &Arc<Room>,
        messages: &mut [Message],
        acks: &mut [Ack],
        store: &mut dyn Store,
        hub: &Hub,
    ) -> u64 {
        // First, for the way to the others takes longer.
        if self.bus.publish(&room.id, format::messages(self.instance, room.key(), messages)) {
            hub.metrics.bus_published.add(messages.len() as u64);
        }
        self.in_order.own(room, messages, acks, store, hub)
    }

    /// Tells the others of a room that was made here.
    pub(crate) fn made(&self, id: &str) {
        self.bus.announce(format::made(self.instance, id));
    }
}

/// Finds a room that another service has made; false when there is none.
pub(crate) fn find(id: &str, store: &mut dyn Store, hub: &Hub) -> Result<bool, StoreError> {
    if hub.rooms.find(id).is_some() {
        return Ok(true);
    }
    let found = store.find_room(id)?;
    let is_found = found.is_some();
    found.into_iter().for_each(|row| adopt(row, hub));
    Ok(is_found)
}

/// Location groups are made here when somebody asks for one.
fn adopt(row: RoomRow, hub: &Hub) {
    if row.access != crate::model::room_id::Access::Open {
        hub.rooms.adopt(row);
    }
}

#[cfg(test)]
mod tests;
