//! `/ws/echo`: everything comes back.

use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;
use sonagi_wire::websocket::{self, Opcode};

use crate::connection::outbox::{Close, Pushed};
use crate::connection::source::Source;
use crate::http::{Answer, Slot};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::rooms::peer::Peer;
use crate::transports::websocket::connection::SocketHandler;
use crate::transports::websocket::upgrade::{self, Handshake};

/// The largest message and the longest queue of `/ws/echo`: conformance suites send 16 MiB messages.
pub(crate) const ECHO_MESSAGE: usize = 16 * 1024 * 1024;
const ECHO_QUEUE: usize = 4 * ECHO_MESSAGE;

/// `/ws/echo`: says everything back; for conformance suites and benchmarks, needs no token.
pub(crate) fn connect(
    request: Request<Incoming>,
    slot: &Arc<Slot>,
    hub: &Arc<Hub>,
) -> Result<Answer, Problem> {
    let handshake = Handshake::check(&request)?;
    hub.admit_connection()?;
    let answer = handshake.answer();
    let hub = hub.clone();
    handshake.then(slot, hub.clone(), ECHO_MESSAGE, move || echoing(&hub));
    Ok(answer)
}

/// The handler of `/ws/echo`.
pub(crate) fn echoing(hub: &Arc<Hub>) -> Echo {
    let peer = upgrade::newcomer(hub, ECHO_QUEUE, Source::default());
    peer.deadlines.settled();
    Echo { peer, hub: hub.clone() }
}

/// `/ws/echo`: says everything back.
pub(crate) struct Echo {
    pub(crate) peer: Arc<Peer>,
    pub(crate) hub: Arc<Hub>,
}

/// Bytes an echo may owe before it stops reading.
const ECHO_PATIENCE: usize = 256 * 1024;

impl Echo {
    fn say(&self, opcode: Opcode, payload: &[u8]) {
        if self.peer.outbox.push(websocket::shared(opcode, payload)) == Pushed::Queued {
            self.hub.metrics.frames_out.add(1);
        }
    }
}

impl SocketHandler for Echo {
    fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    fn text(&mut self, text: &str) {
        self.say(Opcode::Text, text.as_bytes());
    }

    fn binary(&mut self, bytes: &[u8]) {
        self.say(Opcode::Binary, bytes);
    }

    fn closing(&mut self) {
        self.peer.outbox.close(Close::Normal);
    }

    fn patience(&self) -> usize {
        ECHO_PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_echo_that_was_not_queued_is_not_counted() {
        let service = crate::start(crate::Config { null: true, ..Default::default() }).await.unwrap();
        let hub = service.hub().clone();
        let mut echo = Echo { peer: upgrade::newcomer(&hub, 100, Default::default()), hub: hub.clone() };
        echo.text("short");
        echo.text(&"long".repeat(100));
        assert_eq!(hub.metrics.frames_out.get(), 1);
    }
}
