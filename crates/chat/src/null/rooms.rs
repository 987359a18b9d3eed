//! `/ws/room/NAME`: what one says, all of the room get, the speaker included, as it was said.

use std::sync::{Arc, Mutex};

use sonagi_wire::websocket::{self, Opcode};

use crate::hub::Hub;
use crate::link::Attendant;
use crate::lock;
use crate::outbox::Close;
use crate::peer::Peer;
use crate::room::Delivered;

#[derive(Default)]
pub(crate) struct Room {
    members: Mutex<Vec<Arc<Peer>>>,
}

/// One connection in a room.
pub(crate) struct Member {
    peer: Arc<Peer>,
    room: Arc<Room>,
    hub: Arc<Hub>,
}

impl Member {
    /// Joins; the confirmation is the first frame of the peer's queue.
    pub(crate) fn join(peer: Arc<Peer>, name: &str, hub: Arc<Hub>) -> Member {
        let room = match &hub.null {
            Some(null) => lock(&null.rooms).entry(name.into()).or_default().clone(),
            None => Arc::default(),
        };
        peer.pulse.settled();
        peer.outbox.push(websocket::shared(Opcode::Text, b"joined"));
        lock(&room.members).push(peer.clone());
        Member { peer, room, hub }
    }
}

impl Attendant for Member {
    fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    fn text(&mut self, text: &str) {
        let frame = websocket::shared(Opcode::Text, text.as_bytes());
        let mut delivered = Delivered::default();
        for member in lock(&self.room.members).iter() {
            delivered.push(member, &frame);
        }
        delivered.record(&self.hub.metrics);
    }

    fn binary(&mut self, _: &[u8]) {
        self.peer.outbox.close(Close::Violation(1003));
    }

    fn heard(&mut self) {
        self.peer.pulse.answered(self.hub.now(), &self.hub.config.limits);
    }

    fn farewell(&self) -> Option<&'static str> {
        None
    }

    fn closing(&mut self) {
        self.peer.outbox.close(Close::Normal);
        let mut members = lock(&self.room.members);
        if let Some(at) = members.iter().position(|member| Arc::ptr_eq(member, &self.peer)) {
            members.swap_remove(at);
        }
    }
}
