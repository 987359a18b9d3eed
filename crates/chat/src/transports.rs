//! The wires that rooms are reached by, a folder each, and all of them over one hub.

pub(crate) mod engineio;
pub(crate) mod polling;
pub(crate) mod sockjs;
pub(crate) mod sse;
pub(crate) mod stomp;
pub(crate) mod websocket;

use std::sync::Arc;

use engineio::EngineIo;
use polling::pollers::Pollers;
use sockjs::SockJs;

use crate::hub::Hub;
use crate::rooms::peer::Peer;

/// The transports that know sessions beside their connections.
pub(crate) struct Transports {
    pub(crate) hub: Arc<Hub>,
    pub(crate) engineio: Arc<EngineIo>,
    pub(crate) sockjs: Arc<SockJs>,
    pub(crate) pollers: Pollers,
}

impl Transports {
    pub(crate) fn new(hub: Arc<Hub>) -> Transports {
        Transports {
            engineio: Arc::new(EngineIo::new(hub.clone())),
            sockjs: Arc::new(SockJs::new(hub.clone())),
            pollers: Pollers::new(hub.clone()),
            hub,
        }
    }

    /// The service has closed this peer: ends its session where that is polled.
    pub(crate) fn abandoned(&self, peer: &Peer) {
        self.engineio.abandoned(peer);
        self.sockjs.abandoned(peer);
    }
}
