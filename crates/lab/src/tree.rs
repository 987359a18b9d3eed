//! The processes below one, as `/proc` has them: who they are, what they use, and signals to all of them.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// What a service has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// The CPU time of all its threads, including those that have ended.
    pub cpu: Duration,
    /// Memory that is resident now, in bytes.
    pub resident: u64,
}

/// A process as `/proc/PID/stat` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) parent: i32,
    /// A process that has ended and was not waited for is none that a signal reaches.
    is_zombie: bool,
    /// Ticks of its own threads.
    own_ticks: u64,
    /// Ticks of those of its children that have ended and were waited for.
    childrens_ticks: u64,
    /// When it started, in ticks since the machine did: with its number it is one process and no other.
    pub(crate) started: u64,
    resident_pages: u64,
}

/// Reads `/proc/PID/stat`.
fn parse(stat: &str) -> Option<Process> {
    // The name in parentheses may hold anything; the state behind it is the third field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Process {
        parent: fields.get(1)?.parse().ok()?,
        is_zombie: matches!(fields.first(), Some(&"Z" | &"X")),
        own_ticks: number(14)? + number(15)?,
        childrens_ticks: number(16)? + number(17)?,
        started: number(22)?,
        resident_pages: number(24)?,
    })
}

/// One process, if it is there.
pub(crate) fn process(id: i32) -> Option<Process> {
    parse(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// All processes of this machine.
fn all() -> HashMap<i32, Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    ids.filter_map(|id| Some((id, process(id)?))).collect()
}

/// Those of these processes that descend from `root`, without it.
fn descendants(all: &HashMap<i32, Process>, root: i32) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (id, process) in all {
        children.entry(process.parent).or_default().push(*id);
    }
    // Read one after another, not at one instant: a number may be there twice, so whoever was seen is not seen again.
    let (mut seen, mut open) = (HashSet::from([root]), vec![root]);
    let mut found = Vec::new();
    while let Some(id) = open.pop() {
        for child in children.get(&id).into_iter().flatten() {
            if seen.insert(*child) {
                found.push(*child);
                open.push(*child);
            }
        }
    }
    found
}

/// The living processes below this one.
pub(crate) fn below(root: i32) -> Vec<i32> {
    let all = all();
    let mut below = descendants(&all, root);
    below.retain(|id| !all[id].is_zombie);
    below
}

/// Sends a signal to all living processes below this one; how many there were.
pub(crate) fn signal_below(root: i32, signal: Signal) -> usize {
    let all = all();
    let mut living = descendants(&all, root);
    living.retain(|id| !all[id].is_zombie);
    living.iter().for_each(|id| send(*id, all[id].started, signal));
    living.len()
}

/// Sends a signal to the process of this number that started then, and to no other that has its number by now.
pub(crate) fn send(id: i32, started: u64, signal: Signal) {
    let Some(pid) = Pid::from_raw(id) else { return };
    let Ok(process_handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if process(id).is_some_and(|process| process.started == started) {
        let _ = pidfd_send_signal(process_handle, signal);
    }
}

/// What the processes below this one have used, those that have ended included: whoever waits for a process takes over
/// its account, and whoever is nobody's child any more is `root`'s.
pub(crate) fn used(root: i32) -> Option<Used> {
    let all = all();
    let own = all.get(&root)?;
    let mut ticks = own.childrens_ticks;
    let mut pages = 0;
    for process in descendants(&all, root).iter().map(|id| &all[id]) {
        ticks += process.own_ticks + process.childrens_ticks;
        pages += process.resident_pages;
    }
    let a_second = rustix::param::clock_ticks_per_second().max(1);
    let cpu = Duration::from_secs_f64(ticks as f64 / a_second as f64);
    Some(Used { cpu, resident: pages * rustix::param::page_size() as u64 })
}

/// The most memory that a process has had resident at a time, in bytes, by the kernel's own account.
pub(crate) fn resident_peak(id: i32) -> Option<u64> {
    peak(&std::fs::read_to_string(format!("/proc/{id}/status")).ok()?)
}

/// Reads `/proc/PID/status`.
fn peak(status: &str) -> Option<u64> {
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_a_processs_memory_is_the_kernels() {
        let status = "Name:\ta\nVmPeak:\t   99 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!((peak(status), peak("Name:\ta\n")), (Some(2 << 20), None));
        let own = std::process::id() as i32;
        assert!(resident_peak(own).unwrap() > 1 << 20, "{:?}", resident_peak(own));
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let stat = "42 (a ) S (b) R 1 42 42 0 -1 4194560 903 0 0 0 150 75 9 8 20 0 5 0 100 4096 7 0";
        let expected = Process {
            parent: 1,
            is_zombie: false,
            own_ticks: 225,
            childrens_ticks: 17,
            started: 100,
            resident_pages: 7,
        };
        assert_eq!(parse(stat), Some(expected));
        assert!(parse("42 (a) Z 1 42 42 0 -1 0 0 0 0 0 1 1 0 0 20 0 5 0 100 0 0").unwrap().is_zombie);
        assert_eq!(parse("42 (a) R 1"), None);
    }

    #[test]
    fn descendants_are_found_over_generations_and_in_a_circle_as_well() {
        let process = |parent| Process {
            parent,
            ..parse("1 (a) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 5 0 1 0 0").unwrap()
        };
        let all = HashMap::from([
            (1, process(0)),
            (2, process(1)),
            (3, process(2)),
            (4, process(5)),
            (5, process(4)),
        ]);
        let mut found = descendants(&all, 1);
        found.sort_unstable();
        assert_eq!(found, [2, 3]);
        assert_eq!(descendants(&all, 4), [5]);
    }
}
