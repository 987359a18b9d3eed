//! The target's processes, their limits, sockets and machine: one probe, for all of them are read from one machine's
//! files.

use super::cgroup::Cgroup;
use super::connections::Connections;
use super::host::Host;
use super::listeners::Listeners;
use super::peer::Peer;
use super::processes::Processes;
use super::reach::Reach;
use crate::machine::{Machine, Wanted, parsed};
use crate::probe::{Probe, Readings, Unread};
use procfs_core::process::Stat;
use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

/// How often it is looked for new children and listeners while none of the known ones is gone.
const SEARCHED_EVERY: Duration = Duration::from_secs(5);
/// Processes that are watched, at most.
const PROCESSES_MAX: usize = 200;

/// The hint where a machine is not reached.
const REACHED: &str = "`ssh -o BatchMode=yes HOST true` must work without a question";

/// The processes to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Those that listen at this port.
    Port(u16),
    /// This one.
    Pid(i32),
    /// A service that we have started: all that came of this process, and what listens at the port.
    Started {
        /// Its first process.
        first: i32,
        /// Where the load goes.
        port: u16,
    },
    /// None: the machine alone.
    Machine,
    /// Those that this process has connections with: who asked for no target is told by where its load goes.
    Peer,
}

pub(super) fn port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| format!("a port is a number from 1 to 65535; got `{text}`"))
}

pub(super) fn pid(text: &str) -> Result<i32, String> {
    let pid = text.parse().ok().filter(|pid| *pid > 0);
    pid.ok_or_else(|| format!("a process id is a number from 1; got `{text}`"))
}

impl Target {
    /// The target that a text names; None: it names something else.
    pub fn named(text: &str) -> Option<Target> {
        match text.split_once(':')? {
            ("port", text) => port(text).ok().map(Target::Port),
            ("pid", text) => pid(text).ok().map(Target::Pid),
            _ => None,
        }
    }
}

/// Watches a target on a machine, and the machine.
pub fn on_machine(machine: impl Machine + 'static, target: Target) -> Box<dyn Probe> {
    Box::new(OnMachine {
        machine: Box::new(machine),
        port: match target {
            Target::Port(port) | Target::Started { port, .. } => Some(port),
            Target::Pid(_) | Target::Machine | Target::Peer => None,
        },
        target,
        peer: Peer::default(),
        listeners: Listeners::default(),
        found: Vec::new(),
        was_found: false,
        search_at: Instant::now(),
        reach: Reach::default(),
        processes: Processes::default(),
        cgroup: Cgroup::default(),
        connections: Connections::default(),
        host: Host::default(),
    })
}

struct OnMachine {
    machine: Box<dyn Machine>,
    target: Target,
    /// Where it listens, once that is known.
    port: Option<u16>,
    peer: Peer,
    listeners: Listeners,
    /// Those that listen, or were named, before their children.
    found: Vec<i32>,
    was_found: bool,
    search_at: Instant,
    reach: Reach,
    processes: Processes,
    cgroup: Cgroup,
    connections: Connections,
    host: Host,
}

impl Probe for OnMachine {
    fn subject(&self) -> String {
        let target = match self.target {
            Target::Port(port) | Target::Started { port, .. } => format!("port {port}"),
            Target::Pid(pid) => format!("process {pid}"),
            Target::Machine => "the machine".to_owned(),
            Target::Peer => match self.port {
                Some(port) => format!("port {port}"),
                None => "the target".to_owned(),
            },
        };
        self.machine.name().map_or_else(|| target.clone(), |machine| format!("{target} of {machine}"))
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        self.machine.name().map(|machine| ("on", machine)).into_iter().collect()
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        if self.reach.is_waiting() {
            return Ok(());
        }
        let looked = self.machine.look().map_err(|error| Unread::because(error).hint(REACHED));
        self.reach.took(looked, readings)?;
        self.find(readings);
        let OnMachine { machine, found, processes, cgroup, connections, host, port, .. } = self;
        let machine = &mut **machine;
        processes.look(machine, found, readings);
        if let Some(first) = found.first() {
            cgroup.look(machine, *first, readings);
        }
        // A process may have a network of its own.
        let net = found.first().map_or_else(|| "/proc/net".to_owned(), |pid| format!("/proc/{pid}/net"));
        if let Some(port) = port {
            connections.look(machine, (&net, *port), readings);
        }
        host.look(machine, &net, readings);
        Ok(())
    }
}

impl OnMachine {
    /// Finds the processes, anew from time to time and when one is gone.
    fn find(&mut self, readings: &mut Readings<'_>) {
        let is_known = |pid: &i32| self.processes.is_alive(*pid);
        let gone: Vec<i32> = self.found.iter().copied().filter(|pid| !is_known(pid)).collect();
        let now = Instant::now();
        if gone.is_empty() && !self.found.is_empty() && now < self.search_at {
            return;
        }
        self.listeners.forget(&gone);
        self.search_at = now + SEARCHED_EVERY;
        let roots = match self.target {
            Target::Pid(pid) => Ok(vec![pid]),
            Target::Port(port) => self.listeners.find(&mut *self.machine, port, now),
            Target::Started { first, port } => {
                self.listeners.find(&mut *self.machine, port, now).map(|mut roots| {
                    if !roots.contains(&first) {
                        roots.push(first);
                    }
                    roots
                })
            }
            Target::Machine => return,
            Target::Peer => self.peer.port(&mut *self.machine, now).and_then(|port| {
                self.port = port;
                port.map_or_else(|| Ok(Vec::new()), |port| self.listeners.find(&mut *self.machine, port, now))
            }),
        };
        let roots = match roots {
            Ok(roots) => roots,
            Err(error) => {
                return readings.not_measured("the target's processes are", &Unread::because(error));
            }
        };
        if roots.is_empty() && !self.was_found {
            let Some(port) = self.port else { return };
            let unread = Unread::because(format_args!(
                "no process that we may look at listens at port {port}"
            ))
            .hint("run as the user of the target, or as root; or watch it where it runs (--watch ssh:…)");
            readings.not_measured("the target's processes are", &unread);
        }
        match with_children(&mut *self.machine, roots) {
            Ok(mut found) => {
                if found.len() > PROCESSES_MAX {
                    let unread = Unread::because(format_args!("there are more than {PROCESSES_MAX} of them"));
                    readings.not_measured("some of the target's processes are", &unread);
                    found.truncate(PROCESSES_MAX);
                }
                self.was_found |= !found.is_empty();
                self.found = found;
            }
            Err(error) => readings.not_measured("the target's processes are", &Unread::because(error)),
        }
    }
}

pub(super) fn pids(machine: &mut dyn Machine) -> io::Result<Vec<i32>> {
    Ok(machine.list("/proc")?.iter().filter_map(|name| name.parse().ok()).collect())
}

/// These processes and their descendants; parents come before their children, and among the first ones the oldest.
fn with_children(machine: &mut dyn Machine, roots: Vec<i32>) -> io::Result<Vec<i32>> {
    if roots.is_empty() {
        return Ok(roots);
    }
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let mut began: HashMap<i32, u64> = HashMap::new();
    let pids = pids(machine)?;
    machine.ahead(pids.iter().map(|pid| Wanted::Read(format!("/proc/{pid}/stat"))).collect(), false)?;
    for pid in pids {
        // One that has ended meanwhile.
        let Ok(stat) = stat(machine, pid) else { continue };
        children.entry(stat.ppid).or_default().push(pid);
        began.insert(pid, stat.starttime);
    }
    let mut found: Vec<i32> = roots.into_iter().filter(|pid| began.contains_key(pid)).collect();
    found.sort_by_key(|pid| (began.get(pid).copied(), *pid));
    let mut seen: HashSet<i32> = found.iter().copied().collect();
    let mut next = 0;
    while next < found.len() {
        for child in children.remove(&found[next]).unwrap_or_default() {
            if seen.insert(child) {
                found.push(child);
            }
        }
        next += 1;
    }
    Ok(found)
}

/// A process that lives; a zombie does not.
pub(super) fn stat(machine: &mut dyn Machine, pid: i32) -> io::Result<Stat> {
    let stat: Stat = parsed(machine, &format!("/proc/{pid}/stat"))?;
    match stat.state {
        'Z' | 'X' => Err(io::Error::from(io::ErrorKind::NotFound)),
        _ => Ok(stat),
    }
}
