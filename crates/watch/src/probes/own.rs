//! Our own connections to a target that is elsewhere: how long the way takes, and what is lost on it, as this machine's
//! kernel measures it. Of the target itself nothing is known from here.

use super::connections::{Held, Look};
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
        let (address, mut look) = (self.address.ip().to_canonical(), Look::default());
        let told = Local.sockets("/proc/net", asked, &mut |socket| {
            look.connections(socket.connection.filter(|_| socket.peer.ip().to_canonical() == address));
        });
        told.ok_or_else(|| Unread::because("this system's kernel does not tell"))?
            .map_err(Unread::because)?;
        self.held.take(look, readings);
        Ok(())
    }
}
