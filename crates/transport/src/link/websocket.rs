//! A raw WebSocket: its messages, and on request the pings, pongs and close frames between them.

use std::task::{Context, Poll};

use sonagi_measure::recorder::Counter;
use sonagi_wire::websocket::{Event, Opcode};

use super::channel::Channel;
use super::drive::{Ended, Env, Incoming, Link};
use super::handshake::{self, ConnectRequest};
use super::opened::{self, HandshakeAnswer, NotOpened};
use crate::net::{Failed, Net};

/// A raw WebSocket.
pub struct WebsocketLink {
    channel: Channel,
    subprotocol: Option<Box<str>>,
}

impl WebsocketLink {
    /// Connects and upgrades. Cancel safe; without a time limit of its own.
    ///
    /// # Errors
    /// The errors of [`Net::dial`]; `HandshakeRefused` with the status of an answer that does not upgrade, `Protocol`
    /// for an answer that is not a valid upgrade, `ClosedEarly`, `Reset`, and `Template` for headers that cannot be
    /// sent.
    #[expect(clippy::manual_async_fn, reason = "it would keep the request twice")]
    pub fn connect(
        net: &Net,
        request: ConnectRequest,
    ) -> impl Future<Output = Result<WebsocketLink, Failed>> {
        async move {
            let (channel, subprotocol) = handshake::connect(net, &request).await?;
            Ok(WebsocketLink { channel, subprotocol })
        }
    }

    /// [`WebsocketLink::connect`] that returns the answer, too. The server may choose any subprotocol or none.
    ///
    /// # Errors
    /// The errors of [`WebsocketLink::connect`], with the answer if there was one, including the first kilobyte of its
    /// body.
    pub async fn open(
        net: &Net,
        request: &ConnectRequest,
    ) -> Result<(WebsocketLink, HandshakeAnswer), NotOpened> {
        let (channel, subprotocol, answer) = opened::open(net, request).await?;
        Ok((WebsocketLink { channel, subprotocol }, answer))
    }

    /// Queues a text message; the next drive writes it. Ignored once closing began.
    pub fn send_text(&mut self, text: &str) {
        self.channel.send(Opcode::Text, text.as_bytes());
    }

    /// Queues a binary message; the next drive writes it. Ignored once closing began.
    pub fn send_binary(&mut self, bytes: &[u8]) {
        self.channel.send(Opcode::Binary, bytes);
    }

    /// Queues a ping of at most 125 bytes; the next drive writes it. Ignored once closing began.
    pub fn send_ping(&mut self, payload: &[u8]) {
        self.channel.send(Opcode::Ping, &payload[..payload.len().min(125)]);
    }

    /// Starts the closing handshake as [`Link::begin_close`], with a code (1005: without) and a reason.
    pub fn close(&mut self, code: u16, reason: &str) {
        self.channel.close(code, reason);
    }

    /// Writes queued frames as far as the kernel takes them, and reads nothing. `Ready`: nothing is left to write, or
    /// the connection is gone, which the next drive reports.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.channel.flush(cx) {
            Ok(()) if self.has_unsent() => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }

    /// Bytes queued that the kernel has not taken, including frames' heads.
    pub fn unsent(&self) -> usize {
        self.channel.outbox.unsent()
    }

    /// The server's choice among the offered subprotocols.
    pub fn subprotocol(&self) -> Option<&str> {
        self.subprotocol.as_deref()
    }

    /// As [`Link::poll_drive`], of a link that is known to be a WebSocket.
    pub fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        mut on: impl FnMut(Event<'_>),
    ) -> Poll<Ended> {
        self.channel.poll_drive(cx, env, &mut |event, _| {
            on(event);
            Ok(())
        })
    }
}

impl Link for WebsocketLink {
    fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended> {
        self.poll_events(cx, env, |event| on(Incoming::Websocket(event)))
    }

    fn has_unsent(&self) -> bool {
        !self.channel.outbox.is_empty()
    }

    fn received(&self) -> Counter {
        Counter::WebsocketReceived
    }

    fn take_bytes(&mut self) -> (u64, u64) {
        self.channel.take_bytes()
    }

    fn begin_close(&mut self) {
        self.channel.begin_close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Origin;

    fn request() -> ConnectRequest {
        let (origin, path) = Origin::parse("ws://127.0.0.1/").expect("a URL");
        ConnectRequest { origin, path, headers: Vec::new(), subprotocols: Vec::new(), max_message: 1024 }
    }

    /// Thousands of users who come at once have one of these each at the same time, and what they leave behind stays
    /// in the heap as holes.
    #[test]
    fn a_websocket_that_opens_is_small_and_an_open_one_smaller() {
        let net = Net::simulated(drop);
        let opening = size_of_val(&WebsocketLink::connect(&net, request()));
        assert!(opening <= 912, "opening takes {opening} bytes");
        assert!(size_of::<WebsocketLink>() <= 168, "it takes {} bytes", size_of::<WebsocketLink>());
    }
}
