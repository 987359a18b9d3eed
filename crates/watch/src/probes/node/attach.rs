//! Finds the inspector of a Node process, and opens it where nobody has: SIGUSR1 does that to a Node nobody prepared.
//!
//! That signal ends a program which does not know it. So it is sent once to a process, and only to one whose program is
//! Node and which catches the signal; and by a handle of the process (pidfd), for its number may become another's.

use crate::machine::{Local, held_sockets};
use crate::probe::Unread;
use crate::probes::page::Page;
use crate::probes::sockets::sockets_at;
use crate::probes::target::stat;
use procfs_core::net::{TcpNetEntries, TcpState};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a process may take to open its inspector.
const PATIENCE: Duration = Duration::from_millis(900);
/// How often it is looked for meanwhile.
const LOOKED_EVERY: Duration = Duration::from_millis(20);
/// Where inspectors listen unless they are told otherwise.
const USUAL: u16 = 9229;
/// SIGUSR1 in the masks of /proc/PID/status.
const SIGUSR1: u64 = 1 << 9;

/// Where an inspector listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Door {
    pub(super) address: SocketAddr,
    pub(super) path: String,
    /// Whether it was we who opened it.
    pub(super) is_ours: bool,
}

/// The process that was sent the signal, by its number and when it began.
#[derive(Debug, Default)]
pub(super) struct Asked(Option<(i32, u64)>);

impl Asked {
    /// The inspector of a process, opened if it is not open yet.
    ///
    /// # Errors
    /// It is no Node process, or not ours to look into, or opens none.
    pub(super) fn door(&mut self, pid: i32) -> Result<Door, Unread> {
        let gone = |_| Unread::because(format_args!("there is no process {pid}"));
        let handle = Pid::from_raw(pid).ok_or(Errno::SRCH).and_then(|it| pidfd_open(it, PidfdFlags::empty()));
        let handle = handle.map_err(gone)?;
        let begun = stat(&mut Local, pid).map_err(|_| gone(Errno::SRCH))?.starttime;
        is_node(pid)?;
        let was_asked = self.0 == Some((pid, begun));
        let before = listening(pid).map_err(|error| unread(pid, &error))?;
        let likely = inspect_ports(pid);
        let is_likely = |address: &&SocketAddr| likely.iter().any(|port| [0, address.port()].contains(port));
        let open = before.iter().filter(|address| was_asked || is_likely(address));
        if let Some(door) = open.copied().find_map(door) {
            return Ok(Door { is_ours: was_asked, ..door });
        }
        if was_asked {
            return Err(closed());
        }
        ask(&handle, pid)?;
        self.0 = Some((pid, begun));
        opened(pid, &before)
    }

    /// The inspector that the process opened for us, if both are still there.
    pub(super) fn left_open(&self) -> Option<Door> {
        let (pid, begun) = self.0?;
        (stat(&mut Local, pid).ok()?.starttime == begun).then_some(())?;
        listening(pid).ok()?.into_iter().find_map(door)
    }
}

/// The door that opens after the signal.
fn opened(pid: i32, before: &HashSet<SocketAddr>) -> Result<Door, Unread> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        std::thread::sleep(LOOKED_EVERY);
        let now = listening(pid).map_err(|error| unread(pid, &error))?;
        if let Some(door) = now.difference(before).copied().find_map(door) {
            return Ok(Door { is_ours: true, ..door });
        }
    }
    Err(closed())
}

fn closed() -> Unread {
    Unread::because("it was asked to open its inspector (SIGUSR1) and opened none").hint(
        "another process may have port 9229: start this one with --inspect-port=0; or it handles SIGUSR1 itself, or \
         runs with --permission",
    )
}

/// Sends the signal to a process that catches it.
fn ask(handle: &OwnedFd, pid: i32) -> Result<(), Unread> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(|error| unread(pid, &error))?;
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if caught & SIGUSR1 == 0 {
        return Err(Unread::because(
            "it does not listen to SIGUSR1: it was started with --disable-sigusr1, or has only begun",
        )
        .hint("start it without, or with --inspect=127.0.0.1:0"));
    }
    pidfd_send_signal(handle, Signal::USR1).map_err(|error| unread(pid, &error.into()))
}

/// Whether a process runs Node, in a network that is ours as well.
fn is_node(pid: i32) -> Result<(), Unread> {
    let link = |path: String| fs::read_link(path).map_err(|error| unread(pid, &error));
    let program = link(format!("/proc/{pid}/exe"))?;
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // A Node that was replaced by a newer one while it runs.
    if !["node", "nodejs"].contains(&name.trim_end_matches(" (deleted)")) {
        return Err(Unread::because(format_args!("process {pid} runs {name}, not Node")));
    }
    if link(format!("/proc/{pid}/ns/net"))? != link("/proc/self/ns/net".to_owned())? {
        return Err(Unread::because(format_args!("process {pid} has a network of its own"))
            .hint("watch it from inside its container"));
    }
    Ok(())
}

/// The places where a process listens.
fn listening(pid: i32) -> io::Result<HashSet<SocketAddr>> {
    let own = held_sockets(&mut Local, &format!("/proc/{pid}/fd"))?;
    let mut found = HashSet::new();
    for table in ["tcp", "tcp6"] {
        let rows = sockets_at(&mut Local, &format!("/proc/{pid}/net/{table}"), usize::MAX);
        // A system without IPv6 has no table of it.
        let TcpNetEntries(rows) = rows.unwrap_or_else(|_| TcpNetEntries(Vec::new()));
        let of_it = rows.into_iter().filter(|row| row.state == TcpState::Listen && own.contains(&row.inode));
        found.extend(of_it.map(|row| row.local_address));
    }
    Ok(found)
}

/// The ports at which a process's inspector may be open already: the usual one, and those it was started with. 0 is any
/// port.
fn inspect_ports(pid: i32) -> Vec<u16> {
    let of = |file: &str| fs::read(Path::new("/proc").join(pid.to_string()).join(file)).unwrap_or_default();
    let said = [of("cmdline"), of("environ")].concat();
    ports_said(&String::from_utf8_lossy(&said))
}

fn ports_said(said: &str) -> Vec<u16> {
    let words = said.split(['\0', ' ']).map(|word| word.strip_prefix("NODE_OPTIONS=").unwrap_or(word));
    let options = words.filter(|word| word.starts_with("--inspect"));
    let ports = options.filter_map(|option| option.split_once('=')?.1.rsplit(':').next()?.parse().ok());
    std::iter::once(USUAL).chain(ports).collect()
}

/// The door at an address, if an inspector listens there.
fn door(address: SocketAddr) -> Option<Door> {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let address = SocketAddr::new(ip, address.port());
    let list = Page::at(&format!("http://{address}/json/list")).ok()?.fetch("application/json").ok()?;
    let list: Value = serde_json::from_str(&list).ok()?;
    let first = list.as_array()?.iter().find(|one| one["type"] == "node")?;
    // ws://HOST:PORT/ID; where it listens we know better than it does.
    let rest = first["webSocketDebuggerUrl"].as_str()?.strip_prefix("ws://")?;
    let path = rest.split_once('/')?.1;
    Some(Door { address, path: format!("/{path}"), is_ours: false })
}

fn unread(pid: i32, error: &io::Error) -> Unread {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Unread::because(format_args!("process {pid} belongs to another user"))
                .hint("run as its user, or as root")
        }
        io::ErrorKind::NotFound => Unread::because(format_args!("there is no process {pid}")),
        _ => Unread::because(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_inspectors_are_those_it_was_started_with() {
        assert_eq!(ports_said("node\0--inspect=0.0.0.0:9300\0a.js\0"), [9229, 9300]);
        assert_eq!(ports_said("node\0a.js\0NODE_OPTIONS=--inspect-port=9301 --x\0"), [9229, 9301]);
        assert_eq!(ports_said("node\0--inspect\0--inspect=host\0"), [9229]);
    }
}
