//! The target of a script that names none: where most of our own connections go.

use super::sockets::{Connected, connected, listening_inodes};
use crate::machine::{Machine, held_sockets};
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

/// The first wait before our connections are looked at again. Each wait is twice the one before: with ten thousand
/// connections to another machine, of which nothing can be found here, a look takes tens of milliseconds.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(8);
/// Ports that our connections go to, at most, of which it is asked whether somebody listens there.
const PORTS_MAX: usize = 16;

/// The port of this machine that most of our own connections go to, once there is one.
#[derive(Debug, Default)]
pub(super) struct Peer {
    port: Option<u16>,
    /// When it is looked for again, and the wait before that.
    again: Option<(Instant, Duration)>,
}

impl Peer {
    /// Looks for it, if it is time.
    pub(super) fn port(&mut self, machine: &mut dyn Machine, now: Instant) -> io::Result<Option<u16>> {
        let is_time = self.again.is_none_or(|(at, _)| at <= now);
        if self.port.is_none() && is_time {
            let wait = self.again.map_or(FIRST_WAIT, |(_, wait)| (wait * 2).min(LONGEST_WAIT));
            self.again = Some((now + wait, wait));
            self.port = busiest(machine)?;
        }
        Ok(self.port)
    }
}

fn busiest(machine: &mut dyn Machine) -> io::Result<Option<u16>> {
    let own = held_sockets(machine, "/proc/self/fd")?;
    if own.is_empty() {
        return Ok(None);
    }
    let mut ports: HashMap<u16, u32> = HashMap::new();
    for Connected { inode, local, peer } in connected(machine) {
        let (local, to) = (local.ip().to_canonical(), peer.ip().to_canonical());
        // A machine that connects to itself does so from the very address.
        if own.contains(&inode) && (to.is_loopback() || to == local) {
            *ports.entry(peer.port()).or_default() += 1;
        }
    }
    let mut ports: Vec<(u16, u32)> = ports.into_iter().collect();
    ports.sort_unstable_by_key(|(port, connections)| (std::cmp::Reverse(*connections), *port));
    for (port, _) in ports.into_iter().take(PORTS_MAX) {
        let listening = listening_inodes(machine, port)?;
        // Nobody listens at the other end of a connection that was opened to us; and if we listen there ourselves, it
        // is the network before a launched service, which is behind it.
        if !listening.is_empty() && listening.is_disjoint(&own) {
            return Ok(Some(port));
        }
    }
    Ok(None)
}
