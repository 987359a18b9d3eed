//! Our own connections to a target that is elsewhere: how long the way takes, and what is lost on it, as this machine's
//! kernel measures it. Of the target itself nothing is known from here.

use super::connections::Held;
use crate::machine::{Local, Machine, Sockets};
use crate::probe::{Probe, Readings, Unread};
use std::net::SocketAddr;

/// Watches our connections to an address; `name` is what messages call it.
pub fn own_connections(name: String, address: SocketAddr) -> Box<dyn Probe> {
    Box::new(Own { name, address, held: Held::default() })
}

struct Own {
    name: String,
    address: SocketAddr,
    held: Held,
}

impl Probe for Own {
    fn subject(&self) -> String {
        format!("connections to {}", self.name)
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        let asked = Sockets::ConnectedTo(self.address.port());
        let Some(sockets) = Local.sockets("/proc/net", asked) else {
            return Err(Unread::because("this system's kernel does not tell"));
        };
        let mut sockets = sockets.map_err(Unread::because)?;
        let address = self.address.ip().to_canonical();
        sockets.retain(|socket| {
            socket.connection.as_ref().is_some_and(|connection| connection.peer.to_canonical() == address)
        });
        self.held.look(&sockets, readings);
        Ok(())
    }
}
