//! Publishing in the order of numbers, though other services publish in the same rooms.
//!
//! A room's messages come from three sides: from this service, which the store has just given numbers; over the bus;
//! and from the store, where all of them are. When a number is committed all below it are, so a gap can always be
//! filled. On the log's thread alone, for a room is not published from two at a time.
//!
//! | messages a to b, when p is published | |
//! |---|---|
//! | b ≤ p | known: dropped |
//! | a ≤ p + 1 | published, what is above p |
//! | a > p + 1, nobody is here or waits | p becomes a − 1: what is between is in the store for who asks |
//! | a > p + 1, of this service | what is between is read from the store first |
//! | a > p + 1, heard | kept for `PATIENCE`, as what is between is likely on its way; then read from the store |

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::connection::outbox::Close;
use crate::hub::Hub;
use crate::hub::log::next_serial;
use crate::model::message::Message;
use crate::rooms::delivery::Ack;
use crate::rooms::room::Room;
use crate::store::{PageRequest, Store, StoreError};

/// How long a message waits for those before it.
const PATIENCE: Duration = Duration::from_millis(5);

/// How soon the store is asked again that has refused.
const AGAIN: Duration = Duration::from_millis(250);

/// Messages of a room that wait for those before them.
const MOST_AHEAD: usize = 1024;

/// Bytes of messages that are read from the store, and published, at once.
const BYTES: usize = 32 * 1024;

/// Messages that came before those before them, by the room's number.
#[derive(Default)]
pub(super) struct InOrder(HashMap<u64, Ahead>);

struct Ahead {
    room: Arc<Room>,
    /// By their numbers; all above what is published.
    messages: BTreeMap<u64, Message>,
    /// When the store is asked for what is between.
    due: Instant,
}

impl InOrder {
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.0.values().map(|ahead| ahead.due).min()
    }

    /// Publishes what another service says; messages without a gap between them.
    pub(super) fn heard(&mut self, room: &Arc<Room>, messages: Vec<Message>, now: Instant, hub: &Hub) {
        let published = room.last_published();
        let Some((first, last)) = messages.first().zip(messages.last()).map(|(a, b)| (a.seq, b.seq)) else {
            return;
        };
        room.stored.fetch_max(last, Relaxed);
        if last <= published {
            return;
        }
        if first > published + 1 {
            if !room.pass_over_unheard(first - 1, next_serial(hub)) {
                return self.keep(room, messages, now + PATIENCE);
            }
            self.0.remove(&room.number);
        }
        let mut new: Vec<Message> =
            messages.into_iter().filter(|message| message.seq > room.last_published()).collect();
        fan_out(room, &mut new, &mut [], hub);
        self.go_on(room, hub);
    }

    /// Publishes what the store has just numbered for this service, with the acknowledgements of it, and returns the
    /// receivers. The acknowledgements are good even when what is between cannot be read now.
    pub(super) fn own(
        &mut self,
        room: &Arc<Room>,
        messages: &mut [Message],
        acks: &mut [Ack],
        store: &mut dyn Store,
        hub: &Hub,
    ) -> u64 {
        let Some(first) = messages.first().map(|first| first.seq) else { return 0 };
        if first > room.last_published() + 1
            && let Err(error) = self.reach(room, first - 1, store, hub)
        {
            hub.failures.store("read", &error);
            self.keep(room, messages.to_vec(), Instant::now() + AGAIN);
            return 0;
        }
        let published = room.last_published();
        let from = messages.partition_point(|message| message.seq <= published);
        let receivers = fan_out(room, &mut messages[from..], acks, hub);
        self.go_on(room, hub);
        receivers
    }

    /// Has everything up to this number published that is not: from the store, or passed over where nobody is here.
    pub(super) fn reach(
        &mut self,
        room: &Arc<Room>,
        upto: u64,
        store: &mut dyn Store,
        hub: &Hub,
    ) -> Result<(), StoreError> {
        room.stored.fetch_max(upto, Relaxed);
        if !room.pass_over_unheard(upto, next_serial(hub)) {
            fill(room, upto, store, hub)?;
        }
        self.go_on(room, hub);
        Ok(())
    }

    /// Reads from the store what has been waited for long enough.
    pub(super) fn fill_due(&mut self, now: Instant, store: &mut dyn Store, hub: &Hub) {
        let due = self.0.values().filter(|ahead| ahead.due <= now);
        let due: Vec<(Arc<Room>, u64)> =
            due.filter_map(|ahead| Some((ahead.room.clone(), *ahead.messages.last_key_value()?.0))).collect();
        for (room, upto) in due {
            if let Err(error) = self.reach(&room, upto, store, hub) {
                hub.failures.store("read", &error);
                if let Some(ahead) = self.0.get_mut(&room.number) {
                    ahead.due = now + AGAIN;
                }
            }
        }
    }

    fn keep(&mut self, room: &Arc<Room>, messages: Vec<Message>, due: Instant) {
        let new = || Ahead { room: room.clone(), messages: BTreeMap::new(), due };
        let ahead = self.0.entry(room.number).or_insert_with(new);
        ahead.messages.extend(messages.into_iter().map(|message| (message.seq, message)));
        if ahead.messages.len() > MOST_AHEAD {
            // The highest stays, for it says how far the store has to be read.
            while ahead.messages.len() > MOST_AHEAD / 2 {
                ahead.messages.pop_first();
            }
            ahead.due = Instant::now();
        }
    }

    /// Publishes what waited for no more than what is published now.
    fn go_on(&mut self, room: &Arc<Room>, hub: &Hub) {
        let Some(ahead) = self.0.get_mut(&room.number) else { return };
        let mut next = room.last_published() + 1;
        ahead.messages = ahead.messages.split_off(&next);
        let mut ready = Vec::new();
        while let Some(message) = ahead.messages.remove(&next) {
            ready.push(message);
            next += 1;
        }
        if ahead.messages.is_empty() {
            self.0.remove(&room.number);
        }
        fan_out(room, &mut ready, &mut [], hub);
    }
}

/// Sends messages to the room's members; they follow what is published.
pub(super) fn fan_out(room: &Room, messages: &mut [Message], acks: &mut [Ack], hub: &Hub) -> u64 {
    messages.iter_mut().for_each(|message| message.serial = next_serial(hub));
    room.publish(messages, acks, &hub.metrics)
}

/// Publishes from the store what is above the published, up to this number.
fn fill(room: &Room, upto: u64, store: &mut dyn Store, hub: &Hub) -> Result<(), StoreError> {
    loop {
        let published = room.last_published();
        if published >= upto {
            return Ok(());
        }
        let messages = hub.config.limits.history_page;
        let wanted = PageRequest { after: published, upto, messages, bytes: BYTES };
        let mut page = store.page(room.key(), wanted)?;
        let first = page.first().map_or(upto + 1, |first| first.seq);
        if first != published + 1 {
            pass_over_lost(room, first - 1, hub);
        }
        hub.metrics.filled.add(page.len() as u64);
        fan_out(room, &mut page, &mut [], hub);
    }
}

/// What is above the published is not kept any more: whoever is here comes back with its cursor, and is told of it.
fn pass_over_lost(room: &Room, upto: u64, hub: &Hub) {
    let oldest = upto + 1;
    room.oldest.fetch_max(oldest, Relaxed);
    for member in room.members().iter() {
        member.peer.outbox.close(Close::Slow);
    }
    room.pass_over(upto, next_serial(hub));
    room.wake();
}
