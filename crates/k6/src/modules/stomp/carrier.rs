//! The carrier of a session's frames: a WebSocket, one in each message, or a stream of bytes.

use sonagi_transport::link::{Env, Link, StreamLink, WebsocketEvent, WebsocketLink};
use std::task::{Context, Poll};

/// An open connection.
pub(super) enum Carrier {
    Websocket(Box<WebsocketLink>),
    Stream(Box<StreamLink>),
}

impl Carrier {
    /// Queues a frame, or the line end that is a heart-beat.
    pub(super) fn send(&mut self, frame: &[u8]) {
        match self {
            Carrier::Stream(link) => link.send(frame),
            Carrier::Websocket(link) => match std::str::from_utf8(frame) {
                Ok(text) => link.send_text(text),
                Err(_) => link.send_binary(frame),
            },
        }
    }

    /// Moves bytes both ways; `on` gets what came, cut anywhere. `Ready`: it is over, and why.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        env: &mut Env<'_>,
        mut on: impl FnMut(&[u8]),
    ) -> Poll<String> {
        let ended = match self {
            Carrier::Stream(link) => link.poll_bytes(cx, env, on),
            Carrier::Websocket(link) => link.poll_events(cx, env, |event| match event {
                WebsocketEvent::Text(text) => on(text.as_bytes()),
                WebsocketEvent::Binary(bytes) => on(bytes),
                WebsocketEvent::Ping(_) | WebsocketEvent::Pong(_) | WebsocketEvent::Close { .. } => {}
            }),
        };
        ended.map(|ended| ended.detail)
    }

    /// Writes what the kernel takes. `Ready`: nothing is left to write, or it is over.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Carrier::Stream(link) => link.poll_flush(cx),
            Carrier::Websocket(link) => link.poll_flush(cx),
        }
    }

    /// Bytes that wait for the kernel.
    pub(super) fn unsent(&self) -> usize {
        match self {
            Carrier::Stream(link) => link.unsent(),
            Carrier::Websocket(link) => link.unsent(),
        }
    }

    /// Says goodbye, as far as that goes at once.
    pub(super) fn close(&mut self, env: &mut Env<'_>) {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        match self {
            Carrier::Stream(link) => link.close(),
            Carrier::Websocket(link) => {
                link.close(1000, "");
                let _ = link.poll_events(&mut cx, env, |_| {});
            }
        }
    }

    /// Bytes sent and received since the last call.
    pub(super) fn take_bytes(&mut self) -> (u64, u64) {
        match self {
            Carrier::Stream(link) => link.take_bytes(),
            Carrier::Websocket(link) => link.take_bytes(),
        }
    }
}
