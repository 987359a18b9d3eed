//! A raw WebSocket: messages as the peer sent them.

use std::task::{Context, Poll};

use sonagi_wire::websocket::Opcode;

use super::channel::{Channel, Message};
use super::handshake::{self, ConnectRequest};
use super::{Ended, Env, Incoming};
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

    /// Queues a text message; the next drive writes it. Nothing once closing began.
    pub fn send_text(&mut self, text: &str) {
        self.channel.send(Opcode::Text, text.as_bytes());
    }

    /// Queues a binary message; the next drive writes it. Nothing once closing began.
    pub fn send_binary(&mut self, bytes: &[u8]) {
        self.channel.send(Opcode::Binary, bytes);
    }

    /// What the server chose of the subprotocols offered.
    pub fn subprotocol(&self) -> Option<&str> {
        self.subprotocol.as_deref()
    }

    pub(super) fn poll_drive(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        on: &mut dyn FnMut(Incoming<'_>),
    ) -> Poll<Ended> {
        self.channel.poll_drive(cx, env, &mut |message, _| {
            on(match message {
                Message::Text(text) => Incoming::Text(text),
                Message::Binary(bytes) => Incoming::Binary(bytes),
            });
            Ok(())
        })
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.channel.outbox.is_empty()
    }

    pub(super) fn take_bytes(&mut self) -> (u64, u64) {
        self.channel.take_bytes()
    }

    pub(super) fn begin_close(&mut self) {
        self.channel.begin_close();
    }
}
