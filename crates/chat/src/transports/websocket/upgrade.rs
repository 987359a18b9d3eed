//! The WebSocket upgrade: the handshake, and taking the bare socket from hyper.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use sonagi_wire::websocket;

use super::connection::{SocketHandler, carry};
use crate::connection::socket::Socket;
use crate::connection::source::Source;
use crate::http::write_timeout::WriteTimeout;
use crate::http::{self, Answer, Slot};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::rooms::peer::{Newcomer, Peer, Ping};

/// A new connection outside of Engine.IO.
pub(crate) fn newcomer(hub: &Hub, queue_bytes: usize, source: Source) -> Arc<Peer> {
    let newcomer = Newcomer { ping: Ping::WebSocket, source, queue_bytes, ..Newcomer::default() };
    hub.peers.add(newcomer, hub.now(), &hub.config.limits)
}

/// A request that may become a WebSocket (RFC 6455 §4.2.1).
pub(crate) struct Handshake {
    accept: String,
    upgrade: OnUpgrade,
}

impl Handshake {
    pub(crate) fn check(request: &Request<Incoming>) -> Result<Handshake, Problem> {
        let headers = request.headers();
        let lists = |name: header::HeaderName, word: &str| {
            headers
                .get_all(name)
                .iter()
                .filter_map(|value| value.to_str().ok())
                .flat_map(|value| value.split(','))
                .any(|part| part.trim().eq_ignore_ascii_case(word))
        };
        if !lists(header::UPGRADE, "websocket") || !lists(header::CONNECTION, "upgrade") {
            return Err(Problem::new(426, "upgrade_required", "this path takes WebSocket upgrades"));
        }
        if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
            return Err(Problem::new(426, "upgrade_required", "Sec-WebSocket-Version is 13"));
        }
        let key = headers.get(header::SEC_WEBSOCKET_KEY).and_then(|key| key.to_str().ok());
        let key = key.filter(|key| key.len() == 24 && key.ends_with("=="));
        let key = key.ok_or_else(|| Problem::bad_request("Sec-WebSocket-Key is 16 bytes in base64"))?;
        Ok(Handshake { accept: websocket::accept_key(key), upgrade: OnUpgrade::clone(upgrade_of(request)?) })
    }

    pub(crate) fn answer(&self) -> Answer {
        let mut answer = http::empty(StatusCode::SWITCHING_PROTOCOLS);
        let headers = answer.headers_mut();
        headers.clear();
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        if let Ok(accept) = HeaderValue::from_str(&self.accept) {
            headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        }
        answer
    }

    /// Carries the WebSocket once the answer is out.
    pub(crate) fn then<A: SocketHandler + 'static>(
        self,
        slot: &Arc<Slot>,
        hub: Arc<Hub>,
        max_message: usize,
        handle: impl FnOnce() -> A + Send + 'static,
    ) {
        let slot = slot.clone();
        tokio::spawn(async move {
            if let Some((stream, first)) = bare(self.upgrade).await {
                hub.metrics.websocket.add(1);
                carry(stream, first, max_message, handle(), hub.clone()).await;
                hub.metrics.websocket.sub(1);
            } else {
                // The client left between request and answer.
                let mut handler = handle();
                handler.closing();
                hub.peers.remove(handler.peer());
            }
            drop(slot);
        });
    }
}

fn upgrade_of(request: &Request<Incoming>) -> Result<&OnUpgrade, Problem> {
    request
        .extensions()
        .get::<OnUpgrade>()
        .ok_or_else(|| Problem::new(426, "upgrade_required", "this connection cannot be upgraded"))
}

/// The socket without hyper around it, and what was read beyond the request.
async fn bare(upgrade: OnUpgrade) -> Option<(Socket, Bytes)> {
    let parts = upgrade.await.ok()?.downcast::<TokioIo<WriteTimeout>>().ok()?;
    let (stream, unread) = parts.io.into_inner().into_inner();
    let first = if unread.is_empty() { parts.read_buf } else { [parts.read_buf, unread].concat().into() };
    Some((stream, first))
}
