//! A raw WebSocket: messages as the peer sent them, and for who asks the pings, pongs and close frames between them.

use std::task::{Context, Poll};

use sonagi_measure::recorder::Counter;
use sonagi_wire::websocket::{Event, Opcode};

use super::channel::Channel;
use super::drive::{Ended, Env, Incoming, Link};
use super::handshake::{self, ConnectRequest};
use super::opened::{self, Answer, NotOpened};
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
    /// As [`Net::dial`]; `HandshakeRefused` with the status of an answer that does not upgrade, `Protocol` for an answer that
    /// is not a valid upgrade, `ClosedEarly`, `Reset`, and `Template` for headers that cannot be sent.
    pub async fn connect(net: &Net, request: ConnectRequest) -> Result<WebsocketLink, Failed> {
        let (channel, subprotocol) = handshake::connect(net, &request).await?;
        Ok(WebsocketLink { channel, subprotocol })
    }

    /// [`WebsocketLink::connect`] for who wants to see the answer. The server may choose any subprotocol or none.
    ///
    /// # Errors
    /// As [`WebsocketLink::connect`], with the answer where there was one, its first kilobyte of body included.
    pub async fn open(net: &Net, request: &ConnectRequest) -> Result<(WebsocketLink, Answer), NotOpened> {
        let (channel, subprotocol, answer) = opened::open(net, request).await?;
        Ok((WebsocketLink { channel, subprotocol }, answer))
    }

    /// Queues a text message; the next drive writes it. Nothing once closing began.
    pub fn send_text(&mut self, text: &str) {
        self.channel.send(Opcode::Text, text.as_bytes());
    }

    /// Queues a binary message; the next drive writes it. Nothing once closing began.
    pub fn send_binary(&mut self, bytes: &[u8]) {
        self.channel.send(Opcode::Binary, bytes);
    }

    /// Queues a ping of at most 125 bytes; the next drive writes it. Nothing once closing began.
    pub fn send_ping(&mut self, payload: &[u8]) {
        self.channel.send(Opcode::Ping, &payload[..payload.len().min(125)]);
    }

    /// Starts the closing handshake as [`Link::begin_close`], with a code (1005: without) and a reason.
    pub fn close(&mut self, code: u16, reason: &str) {
        self.channel.close(code, reason);
    }

    /// Writes what the kernel takes of what is queued, and reads nothing. `Ready`: nothing is left to write, or the connection
    /// is gone, which the next drive tells.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.channel.flush(cx) {
            Ok(()) if self.has_unsent() => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }

    /// Bytes queued that the kernel has not taken, frames' heads included.
    pub fn unsent(&self) -> usize {
        self.channel.outbox.unsent()
    }

    /// What the server chose of the subprotocols offered.
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
