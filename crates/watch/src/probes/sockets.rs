//! A machine's TCP sockets: as its kernel tells them, and by its files where it cannot be asked.

use crate::machine::{Machine, Sockets};
use procfs_core::FromReadSI;
use procfs_core::net::{TcpNetEntries, TcpNetEntry, TcpState};
use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;

/// Bytes of a table of sockets in which all that listen stand: they come first, some 150 bytes each.
const LISTENING_BYTES: usize = 128 << 10;

/// A connection: the inode of its socket, this machine's end and the other one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connected {
    pub(super) inode: u64,
    pub(super) local: SocketAddr,
    pub(super) peer: SocketAddr,
}

/// All connections that are established.
pub(super) fn connected(machine: &mut dyn Machine) -> Vec<Connected> {
    let mut all = Vec::new();
    let told = machine.sockets("/proc/net", Sockets::Connected, &mut |socket| {
        all.push(Connected { inode: socket.inode, local: socket.local, peer: socket.peer });
    });
    if matches!(told, Some(Ok(()))) {
        return all;
    }
    // A system without IPv6 has no table of it.
    let tables =
        ["tcp", "tcp6"].map(|table| sockets_at(machine, &format!("/proc/net/{table}"), usize::MAX).ok());
    let rows = tables.into_iter().flatten().flat_map(|TcpNetEntries(rows)| rows);
    let established = rows.filter(|row| matches!(row.state, TcpState::Established | TcpState::CloseWait));
    established
        .map(|row| Connected { inode: row.inode, local: row.local_address, peer: row.remote_address })
        .collect()
}

/// The inodes of the sockets that listen at a port.
pub(super) fn listening_inodes(machine: &mut dyn Machine, port: u16) -> io::Result<HashSet<u64>> {
    let mut inodes = HashSet::new();
    let told =
        machine.sockets("/proc/net", Sockets::Listening(port), &mut |socket| _ = inodes.insert(socket.inode));
    match told {
        Some(Ok(())) => Ok(inodes),
        _ => Ok(listening(machine, "/proc/net", port)?.iter().map(|socket| socket.inode).collect()),
    }
}

/// The sockets that listen at a port.
pub(super) fn listening(machine: &mut dyn Machine, net: &str, port: u16) -> io::Result<Vec<TcpNetEntry>> {
    let mut found = Vec::new();
    let mut failed = None;
    for table in ["tcp", "tcp6"] {
        match sockets_at(machine, &format!("{net}/{table}"), LISTENING_BYTES) {
            Ok(TcpNetEntries(rows)) => found.extend(
                rows.into_iter()
                    .filter(|row| row.state == TcpState::Listen && row.local_address.port() == port),
            ),
            // A system without IPv6 has no table of it.
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) if found.is_empty() && error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(found),
    }
}

/// The rows of a table of sockets within its first bytes.
pub(super) fn sockets_at(machine: &mut dyn Machine, path: &str, bytes: usize) -> io::Result<TcpNetEntries> {
    let system = machine.units().system();
    let mut text = machine.head(path, bytes)?;
    if text.len() == bytes {
        let whole = text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        text.truncate(whole);
    }
    TcpNetEntries::from_read(text.as_slice(), &system).map_err(|error| io::Error::other(error.to_string()))
}
