//! Who listens at a port. Finding out means reading the links of all open files of every process, milliseconds for one
//! with ten thousand. So it is remembered who holds no such socket, and our own process comes last.

use super::sockets::listening_inodes;
use super::target::pids;
use crate::machine::{Machine, Wanted, inode};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How often a process is looked into before it counts as one that holds none: a server may be handed its socket by
/// another one, some time after it has begun.
const LOOKS: u32 = 2;
/// How often all are looked into again, whatever is remembered of them.
const FORGOTTEN_EVERY: Duration = Duration::from_secs(60);

/// The processes that hold a socket that listens at a port.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    /// The sockets that listen there.
    inodes: HashSet<u64>,
    seen: BTreeMap<i32, Seen>,
    forgotten_at: Option<Instant>,
}

/// What is known of a process.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    holds: bool,
    looks: u32,
}

impl Listeners {
    /// The processes that hold one now.
    pub(super) fn find(
        &mut self,
        machine: &mut dyn Machine,
        port: u16,
        now: Instant,
    ) -> io::Result<Vec<i32>> {
        let inodes = listening_inodes(machine, port)?;
        if inodes != self.inodes || self.forgotten_at.is_none_or(|at| at + FORGOTTEN_EVERY <= now) {
            *self = Listeners { inodes, seen: BTreeMap::new(), forgotten_at: Some(now) };
        }
        if self.inodes.is_empty() {
            return Ok(Vec::new());
        }
        let mut pids: BTreeSet<i32> = pids(machine)?.into_iter().collect();
        self.seen.retain(|pid, _| pids.contains(pid));
        // It has the most open files, and is hardly ever the target.
        let own = machine.name().is_none().then(|| std::process::id() as i32).filter(|own| pids.remove(own));
        pids.retain(|pid| self.is_unknown(*pid));
        machine.ahead(pids.iter().map(|pid| Wanted::Links(links(*pid))).collect(), false)?;
        for pid in pids {
            self.look_into(machine, pid);
        }
        if let Some(own) = own.filter(|own| self.is_unknown(*own) && self.holders().next().is_none()) {
            self.look_into(machine, own);
        }
        Ok(self.holders().collect())
    }

    /// Forgets processes that have ended: their numbers may be others' by now.
    pub(super) fn forget(&mut self, ended: &[i32]) {
        self.seen.retain(|pid, _| !ended.contains(pid));
    }

    fn is_unknown(&self, pid: i32) -> bool {
        self.seen.get(&pid).is_none_or(|seen| !seen.holds && seen.looks < LOOKS)
    }

    fn holders(&self) -> impl Iterator<Item = i32> {
        self.seen.iter().filter(|(_, seen)| seen.holds).map(|(pid, _)| *pid)
    }

    fn look_into(&mut self, machine: &mut dyn Machine, pid: i32) {
        let mut holds = false;
        // Those of other users cannot be looked into.
        let _ = machine.links(&links(pid), &mut |link| {
            holds = inode(link).is_some_and(|inode| self.inodes.contains(&inode));
            if holds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let seen = self.seen.entry(pid).or_default();
        *seen = Seen { holds, looks: seen.looks + 1 };
    }
}

/// Where the links to a process's open files are.
fn links(pid: i32) -> String {
    format!("/proc/{pid}/fd")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Units;

    /// Processes, the socket that each holds, and who was looked into.
    struct Processes {
        holds: BTreeMap<i32, u64>,
        listening: Vec<u64>,
        looked_into: Vec<i32>,
    }

    impl Machine for Processes {
        fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
            if path != "/proc/net/tcp" {
                return Err(io::ErrorKind::NotFound.into());
            }
            let mut text = "sl local_address ...\n".to_owned();
            for inode in &self.listening {
                text += "0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 ";
                text += &format!("{inode} 1 0 1 0 0 1 0\n");
            }
            Ok(text.into_bytes())
        }

        fn list(&mut self, _path: &str) -> io::Result<Vec<String>> {
            Ok(self.holds.keys().map(i32::to_string).collect())
        }

        fn links(&mut self, path: &str, tell: &mut dyn FnMut(&str) -> ControlFlow<()>) -> io::Result<()> {
            let pid: i32 = path.split('/').nth(2).unwrap().parse().unwrap();
            self.looked_into.push(pid);
            let _ = tell(&format!("socket:[{}]", self.holds[&pid]));
            Ok(())
        }

        fn units(&self) -> Units {
            Units { ticks: 100, page: 4_096, is_little_endian: true }
        }
    }

    /// Numbers that no process of this machine has.
    const A: i32 = 4_200_001;
    const B: i32 = 4_200_002;
    const C: i32 = 4_200_003;

    /// A machine on which each of these processes holds a socket, and 55 is one that listens at port 8080.
    fn machine(holds: [(i32, u64); 2]) -> Processes {
        Processes { holds: BTreeMap::from(holds), listening: vec![55], looked_into: Vec::new() }
    }

    /// Who holds it, and who was looked into to know.
    fn found(listeners: &mut Listeners, machine: &mut Processes, now: Instant) -> (Vec<i32>, Vec<i32>) {
        let found = listeners.find(machine, 8080, now).unwrap();
        (found, std::mem::take(&mut machine.looked_into))
    }

    #[test]
    fn who_holds_a_socket_is_looked_into_once_and_who_holds_none_twice_until_the_sockets_are_others() {
        let mut machine = machine([(A, 55), (B, 1)]);
        let (mut listeners, now) = (Listeners::default(), Instant::now());
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![A], vec![A, B]));
        machine.holds.insert(B, 55);
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![A, B], vec![B]), "handed to it since");
        machine.holds.insert(C, 1);
        assert_eq!(found(&mut listeners, &mut machine, now).1, [C]);
        assert_eq!(found(&mut listeners, &mut machine, now).1, [C]);
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![A, B], vec![]));
        machine.listening.push(1);
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![A, B, C], vec![A, B, C]));
        assert_eq!(found(&mut listeners, &mut machine, now + FORGOTTEN_EVERY).1, [A, B, C]);
    }

    #[test]
    fn a_number_is_another_process_once_the_first_has_ended() {
        let mut machine = machine([(A, 55), (B, 1)]);
        let (mut listeners, now) = (Listeners::default(), Instant::now());
        found(&mut listeners, &mut machine, now);
        found(&mut listeners, &mut machine, now);
        listeners.forget(&[B]);
        machine.holds.insert(B, 55);
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![A, B], vec![B]));
        machine.holds.remove(&A);
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![B], vec![]));
    }

    #[test]
    fn our_own_process_is_looked_into_only_where_nobody_else_holds_the_socket() {
        let own = std::process::id() as i32;
        let mut machine = machine([(A, 55), (own, 55)]);
        let (mut listeners, now) = (Listeners::default(), Instant::now());
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![A], vec![A]));
        machine.holds.remove(&A);
        assert_eq!(found(&mut listeners, &mut machine, now), (vec![own], vec![own]));
    }
}
