//! SockJS over a WebSocket: a session for each, whatever its name.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Request;
use hyper::body::Incoming;
use sonagi_wire::sockjs::{Messages, PayloadError};

use crate::connection::heartbeat::Signal;
use crate::connection::outbox::Close;
use crate::encoding::stomp::envelope::Envelope;
use crate::http::{self, Answer, Slot};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::rooms::peer::Peer;
use crate::transports::stomp::Conversation;
use crate::transports::websocket::connection::SocketHandler;
use crate::transports::websocket::upgrade::{self, Handshake};

pub(super) fn open(request: &Request<Incoming>, slot: &Arc<Slot>, hub: &Arc<Hub>) -> Result<Answer, Problem> {
    let handshake = Handshake::check(request)?;
    hub.admit_connection()?;
    let user = http::visitor(request, hub)?;
    let answer = handshake.answer();
    let (hub, source) = (hub.clone(), slot.source);
    handshake.then(slot, hub.clone(), hub.config.limits.max_payload, move || {
        let limits = &hub.config.limits;
        let peer = upgrade::newcomer(&hub, limits.queue_bytes, source);
        if let Some(user) = user {
            peer.belongs_to(user);
        }
        peer.heartbeat.say(Signal::SockJs, limits.sockjs_heartbeat, hub.now());
        peer.outbox.push(Bytes::from_static(b"\x81\x01o"));
        Socket { conversation: Conversation::new(hub.clone(), peer, Envelope::SockJs), hub: hub.clone() }
    });
    Ok(answer)
}

struct Socket {
    conversation: Conversation,
    hub: Arc<Hub>,
}

impl Socket {
    fn breach(&self) {
        self.hub.metrics.violations.add(1);
        self.conversation.peer.outbox.close(Close::Violation(1002));
    }
}

impl SocketHandler for Socket {
    fn peer(&self) -> &Arc<Peer> {
        &self.conversation.peer
    }

    fn text(&mut self, text: &str) {
        match Messages::decode(text) {
            Ok(mut messages) => {
                let mut buffer = String::new();
                while let Some(message) = messages.next_in(&mut buffer) {
                    self.conversation.feed(message.as_bytes());
                }
            }
            // An empty message says nothing.
            Err(PayloadError::Expected) => {}
            Err(PayloadError::Broken) => self.breach(),
        }
    }

    fn binary(&mut self, _: &[u8]) {
        self.breach();
    }

    fn heard(&mut self, _: &Hub) {
        self.conversation.heard();
    }

    fn farewell(&self, _: Close) -> Option<&'static str> {
        Some("c[3000,\"Go away!\"]")
    }

    fn closing(&mut self) {
        self.conversation.peer.outbox.close(Close::Normal);
        self.conversation.closing();
    }
}
