//! A machine's files of /proc and /sys: of this machine, or of another one that is reached.

mod local;
mod shell;
mod sock_diag;

pub use local::Local;
pub use shell::{SSH, Shell};

use procfs_core::{ExplicitSystemInfo, FromRead, FromReadSI};
use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

/// The files of a machine that runs Linux.
pub trait Machine: Send {
    /// How messages name it, where it is not this one: `deploy@host`.
    fn name(&self) -> Option<String> {
        None
    }

    /// A new look begins: what is read from now on is of this moment.
    ///
    /// # Errors
    /// The machine is not reached.
    fn look(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// These will be asked for in this look: a machine that is far away fetches them at once. Those that are regular
    /// will be in the looks after it as well.
    ///
    /// # Errors
    /// The machine is not reached.
    fn ahead(&mut self, _wanted: Vec<Wanted>, _is_regular: bool) -> io::Result<()> {
        Ok(())
    }

    /// A file's contents, a text of lines.
    ///
    /// # Errors
    /// As the machine says.
    fn read(&mut self, path: &str) -> io::Result<Vec<u8>>;

    /// A file's first bytes.
    ///
    /// # Errors
    /// As the machine says.
    fn head(&mut self, path: &str, bytes: usize) -> io::Result<Vec<u8>> {
        let mut all = self.read(path)?;
        all.truncate(bytes);
        Ok(all)
    }

    /// How many names a folder has.
    ///
    /// # Errors
    /// As the machine says.
    fn count(&mut self, path: &str) -> io::Result<u64> {
        Ok(self.list(path)?.len() as u64)
    }

    /// The names in a folder.
    ///
    /// # Errors
    /// As the machine says.
    fn list(&mut self, path: &str) -> io::Result<Vec<String>>;

    /// Tells the targets of all symbolic links in a folder until one is enough; those that cannot be read are left out.
    /// One at a time, as those of a process with ten thousand open files would fill a megabyte.
    ///
    /// # Errors
    /// As the machine says.
    fn links(&mut self, path: &str, tell: &mut dyn FnMut(&str) -> ControlFlow<()>) -> io::Result<()>;

    /// Tells the sockets of the network whose files are at `net`, as the kernel does. None: it cannot be asked.
    fn sockets(
        &mut self,
        _net: &str,
        _asked: Sockets,
        _tell: &mut dyn FnMut(Socket),
    ) -> Option<io::Result<()>> {
        None
    }

    /// What its files take for granted.
    fn units(&self) -> Units;
}

/// Which sockets are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sockets {
    /// Those that listen at a port.
    Listening(u16),
    /// Connections at a port of this machine.
    ConnectedAt(u16),
    /// Connections to a port, be it of this machine or of another.
    ConnectedTo(u16),
    /// All connections that are established.
    Connected,
}

/// A TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// By which links of the processes that hold it name it.
    pub inode: u64,
    /// This machine's end.
    pub local: SocketAddr,
    /// The other end; of a socket that listens, nobody's address.
    pub peer: SocketAddr,
    /// Bytes that wait to be read; of a socket that listens, connections that wait to be accepted.
    pub waiting_in: u32,
    /// Bytes that were not acknowledged yet; of a socket that listens, how many connections may wait.
    pub waiting_out: u32,
    /// None: it listens, or nothing was asked but which sockets there are.
    pub connection: Option<Connection>,
}

/// What a kernel measures of a connection, from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// No other socket of this machine has the same.
    pub cookie: [u8; 8],
    /// The smoothed time from a segment to its acknowledgement.
    pub round_trip: Duration,
    /// Segments that were sent again.
    pub retransmitted: u32,
    /// How long it had to wait because the other end's buffer was full.
    pub held_by_receiver: Duration,
}

/// Something that a [`Machine`] is asked for, by its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// A whole file.
    Read(String),
    /// Its first bytes.
    Head(String, usize),
    /// The names in a folder.
    List(String),
    /// The targets of the links in a folder.
    Links(String),
}

/// What a machine's files take for granted.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Clock ticks in a second.
    pub ticks: u64,
    /// Bytes of a page of memory.
    pub page: u64,
    /// Whether the low byte of a word comes first, as /proc/net writes addresses.
    pub is_little_endian: bool,
}

impl Units {
    pub(crate) fn system(self) -> ExplicitSystemInfo {
        ExplicitSystemInfo {
            boot_time_secs: 0,
            ticks_per_second: self.ticks,
            page_size: self.page,
            is_little_endian: self.is_little_endian,
        }
    }

    pub(crate) fn seconds(self, ticks: u64) -> f64 {
        ticks as f64 / self.ticks as f64
    }
}

/// A file, read into its type.
pub(crate) fn parsed<T: FromRead>(machine: &mut dyn Machine, path: &str) -> io::Result<T> {
    T::from_read(machine.read(path)?.as_slice()).map_err(|error| malformed(path, error))
}

/// A file whose meaning depends on the machine, read into its type.
pub(crate) fn parsed_there<T: FromReadSI>(machine: &mut dyn Machine, path: &str) -> io::Result<T> {
    let system = machine.units().system();
    T::from_read(machine.read(path)?.as_slice(), &system).map_err(|error| malformed(path, error))
}

fn malformed(path: &str, error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{path} is not as we know it: {error}"))
}

/// The inodes of the sockets among a folder's links: those that a process holds.
pub(crate) fn held_sockets(machine: &mut dyn Machine, path: &str) -> io::Result<HashSet<u64>> {
    let mut held = HashSet::new();
    machine.links(path, &mut |link| {
        held.extend(inode(link));
        ControlFlow::Continue(())
    })?;
    Ok(held)
}

/// The inode of a socket that a link leads to.
pub(crate) fn inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// A file as text.
pub(crate) fn text(machine: &mut dyn Machine, path: &str) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&machine.read(path)?).into_owned())
}
