//! Who listens at a port. To know it, the open files of all processes are gone through, and a process with ten thousand
//! of them takes milliseconds: so it is remembered who was looked into, and who we are ourselves is asked last.

use super::target::{listening, pids};
use crate::machine::{Machine, Socket, Sockets, Wanted, inode};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How often all are looked into again: a socket may be handed to a process that was there before.
const FORGOTTEN_EVERY: Duration = Duration::from_secs(60);

/// The processes that hold a socket that listens at a port.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    /// The sockets that listen there.
    inodes: HashSet<u64>,
    /// Whether a process that was looked into holds one of them.
    holds: BTreeMap<i32, bool>,
    forget_at: Option<Instant>,
}

impl Listeners {
    /// Looks for them, among processes that were not looked into since these sockets listen.
    pub(super) fn find(&mut self, machine: &mut dyn Machine, port: u16) -> io::Result<Vec<i32>> {
        let inodes = listening_inodes(machine, port)?;
        let now = Instant::now();
        if inodes != self.inodes || self.forget_at.is_none_or(|at| at <= now) {
            *self = Listeners { inodes, forget_at: Some(now + FORGOTTEN_EVERY), ..Listeners::default() };
        }
        if self.inodes.is_empty() {
            return Ok(Vec::new());
        }
        let mut pids: BTreeSet<i32> = pids(machine)?.into_iter().collect();
        self.holds.retain(|pid, _| pids.contains(pid));
        let ourselves = machine.name().is_none().then(|| std::process::id() as i32);
        let are_we_there = ourselves.is_some_and(|own| pids.remove(&own));
        pids.retain(|pid| !self.holds.contains_key(pid));
        machine.ahead(pids.iter().map(|pid| Wanted::Links(format!("/proc/{pid}/fd"))).collect(), false)?;
        for pid in pids {
            self.look_into(machine, pid);
        }
        // Of all processes we have the most files open, and we are a target in demonstrations alone.
        if let Some(own) = ourselves.filter(|own| are_we_there && !self.holds.contains_key(own))
            && !self.holds.values().any(|holds| *holds)
        {
            self.look_into(machine, own);
        }
        Ok(self.holds.iter().filter(|(_, holds)| **holds).map(|(pid, _)| *pid).collect())
    }

    fn look_into(&mut self, machine: &mut dyn Machine, pid: i32) {
        let mut holds = false;
        // Those of other users cannot be looked into.
        let _ = machine.links(&format!("/proc/{pid}/fd"), &mut |link| {
            holds = inode(link).is_some_and(|inode| self.inodes.contains(&inode));
            if holds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.holds.insert(pid, holds);
    }
}

/// The processes that hold a socket that listens at this port.
pub(super) fn listeners(machine: &mut dyn Machine, port: u16) -> io::Result<Vec<i32>> {
    Listeners::default().find(machine, port)
}

/// The inodes of the sockets that listen at a port.
pub(super) fn listening_inodes(machine: &mut dyn Machine, port: u16) -> io::Result<HashSet<u64>> {
    let mut inodes = HashSet::new();
    let tell = &mut |socket: Socket| _ = inodes.insert(socket.inode);
    match machine.sockets("/proc/net", Sockets::Listening(port), tell) {
        Some(Ok(())) => Ok(inodes),
        _ => Ok(listening(machine, "/proc/net", port)?.iter().map(|socket| socket.inode).collect()),
    }
}
