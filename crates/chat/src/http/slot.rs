//! A connection's place among those that may be open.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::connection::source::Source;
use crate::hub::Hub;

/// An open socket in the count of all.
pub(crate) struct Slot {
    hub: Arc<Hub>,
    pub(crate) source: Source,
}

impl Slot {
    /// `None` when as many are open as may be.
    pub(crate) fn take(hub: &Arc<Hub>, from: SocketAddr) -> Option<Arc<Slot>> {
        if hub.metrics.sockets.get() >= hub.config.limits.connections as u64 {
            return None;
        }
        hub.metrics.sockets.add(1);
        Some(Arc::new(Slot { hub: hub.clone(), source: from.ip().into() }))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.hub.metrics.sockets.sub(1);
    }
}
