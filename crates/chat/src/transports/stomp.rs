//! STOMP 1.0, 1.1 and 1.2: the rooms as destinations.
//!
//! | destination | room | who |
//! |---|---|---|
//! | SUBSCRIBE `/sub/location/:group`, SEND `/pub/share/:group` | the group's | everybody |
//! | SUBSCRIBE `/sub/room/:id`, SEND `/pub/room/:id` | a chat room | known users |
//!
//! | state | a frame | then |
//! |---|---|---|
//! | opening | CONNECT, STOMP | CONNECTED: open; or ERROR: ended |
//! | open | any but those | done, and its RECEIPT if asked for; or ERROR: ended |
//! | open | DISCONNECT | leaving |
//! | leaving | any | nothing; once all that it sent is answered, the RECEIPT of DISCONNECT: ended |
//! | ended | any | nothing |
//!
//! A conversation is fed by a WebSocket (`StompSocket`), or by SockJS (`sockjs`), and answers through the peer's queue.
//! What is sent is answered when it is published (`awaited_receipt`), all else at once.
//!
//! The decision a reader would question: nothing is ever sent again. An acknowledgement makes room under
//! `stomp_unacked` and a NACK does no more, because the room's log is there for who wants to read again (`after`).

mod awaited_receipt;
mod conversation;
mod subscribing;
mod transactions;

use std::sync::Arc;

pub(crate) use conversation::Conversation;

use crate::connection::outbox::Close;
use crate::hub::Hub;
use crate::rooms::peer::Peer;
use crate::transports::websocket::connection::SocketHandler;

/// STOMP straight in a WebSocket's messages.
pub(crate) struct StompSocket {
    pub(crate) conversation: Conversation,
}

impl SocketHandler for StompSocket {
    fn peer(&self) -> &Arc<Peer> {
        &self.conversation.peer
    }

    fn text(&mut self, text: &str) {
        self.conversation.feed(text.as_bytes());
    }

    fn binary(&mut self, bytes: &[u8]) {
        self.conversation.feed(bytes);
    }

    fn heard(&mut self, _: &Hub) {
        self.conversation.heard();
    }

    fn closing(&mut self) {
        self.conversation.peer.outbox.close(Close::Normal);
        self.conversation.closing();
    }
}
