//! `/ws/room/NAME`: what one says, all of the room get, the speaker included, as it was said.
//!
//! Messages of one turn of the runtime leave as one write to each member, as in every server that batches by turns of
//! its loop. Nothing waits longer than that.
//!
//! Unlike the service's rooms these write under their lock: who leaves must get what was said before, and with one
//! worker, as a target should run, nobody is there to wait. With several, a join waits for the fan-out before it, which
//! takes a write for each member (about a millisecond for 500).

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use sonagi_wire::websocket::{self, Opcode};

use super::Null;
use crate::connection::outbox::Close;
use crate::hub::Hub;
use crate::rooms::delivery::Delivered;
use crate::rooms::peer::Peer;
use crate::sync::lock;
use crate::transports::websocket::connection::SocketHandler;

#[derive(Default)]
pub(crate) struct NullRoom {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    members: Vec<Arc<Peer>>,
    /// Said and not yet sent: whole frames.
    said: Vec<u8>,
    frames: u64,
}

impl State {
    fn send(&mut self, hub: &Hub) {
        if self.frames == 0 {
            return;
        }
        let piece: Bytes = std::mem::take(&mut self.said).into();
        let frames = std::mem::take(&mut self.frames);
        let mut delivered = Delivered::default();
        for member in &self.members {
            delivered.deliver(member, &piece, frames, || true);
        }
        hub.metrics.frames_out.add(delivered.copies);
        delivered.record(&hub.metrics);
    }
}

/// A connection in a room.
pub(crate) struct NullMember {
    peer: Arc<Peer>,
    room: Arc<NullRoom>,
    hub: Arc<Hub>,
}

impl NullMember {
    /// Joins; the confirmation is the first frame of the peer's queue.
    pub(crate) fn join(peer: Arc<Peer>, name: &str, null: &Null) -> NullMember {
        let hub = null.hub.clone();
        let room = lock(&null.rooms).entry(name.into()).or_default().clone();
        peer.deadlines.settled();
        peer.outbox.push(websocket::shared(Opcode::Text, b"joined"));
        hub.metrics.frames_out.add(1);
        let mut state = lock(&room.state);
        // Earlier messages are not for the newcomer.
        state.send(&hub);
        state.members.push(peer.clone());
        drop(state);
        NullMember { peer, room, hub }
    }
}

impl SocketHandler for NullMember {
    fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    fn text(&mut self, text: &str) {
        let mut state = lock(&self.room.state);
        websocket::encode(Opcode::Text, text.as_bytes(), None, &mut state.said);
        state.frames += 1;
        if state.frames == 1 {
            let (room, hub) = (self.room.clone(), self.hub.clone());
            // Runs after the tasks that have something to read already.
            tokio::spawn(async move { lock(&room.state).send(&hub) });
        }
    }

    fn binary(&mut self, _: &[u8]) {
        self.peer.outbox.close(Close::Violation(1003));
    }

    fn closing(&mut self) {
        let mut state = lock(&self.room.state);
        // Earlier messages are still for a leaving member.
        state.send(&self.hub);
        if let Some(at) = state.members.iter().position(|member| Arc::ptr_eq(member, &self.peer)) {
            state.members.swap_remove(at);
        }
        drop(state);
        self.peer.outbox.close(Close::Normal);
    }
}
