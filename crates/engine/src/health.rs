//! The generator's own costs: its threads' CPU, its memory, descriptors and ports, and its threads' lateness. Read
//! here, judged in `measure`.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use sonagi_measure::At;
use sonagi_measure::totals::ProcessGauges;
use std::cell::Cell;
use std::fs;
use std::rc::Rc;

use sonagi_transport::clock::Clock;

/// How often it beats. A hundred times a second: a beat that wakes an idle machine costs some 10 µs, more than all else
/// in a run of few messages. What is held up between two beats shows in how late the clock's alarm was taken, which
/// each beat asks for; nothing shows while nobody sleeps.
const HEARTBEAT_NS: i64 = 10_000_000;
/// Beats that a hold-up swallowed and that are told afterwards, at most: ten minutes of them.
const MAX_MISSED_BEATS: i64 = 60_000;

/// Waits for a shard's next heartbeat after the one that was due at `last`. Tells how late it came (ns), or how late
/// the clock's alarm was taken since the last beat if that is worse: it shows when the shard itself was held up. Beats
/// that were due meanwhile are told too, each with its own lateness: half a second is fifty beats of a run, not one.
/// Returns when the last of them was due.
pub(crate) async fn beat(clock: &Rc<Clock>, last: At, mut late_by: impl FnMut(i64)) -> At {
    let due = last.plus(HEARTBEAT_NS);
    clock.sleep_until(due).await;
    let late = clock.now().since(due);
    late_by(late.max(clock.take_lateness()));
    let missed = (late / HEARTBEAT_NS).min(MAX_MISSED_BEATS);
    for beat in 1..=missed {
        late_by(late - beat * HEARTBEAT_NS);
    }
    due.plus(missed * HEARTBEAT_NS).max(clock.now().plus(-HEARTBEAT_NS))
}

/// CPU time the current thread has used, in ns.
pub fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

/// How long the current thread was ready to run and had no core, in ns; 0 where the system does not say.
pub fn thread_wait_ns() -> u64 {
    second_number(read("/proc/thread-self/schedstat").split_whitespace())
}

/// How long a process's first thread was busy, or ready to run and had no core, since it began (ns); None when it has
/// ended, and where the system does not say.
pub fn process_wanted_ns(pid: u32) -> Option<u64> {
    let told = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    told.split_whitespace().take(2).map(|ns| ns.parse::<u64>().ok()).sum()
}

/// A thread's CPU and waiting time since the last call.
#[derive(Debug)]
pub struct ThreadTimes {
    cpu_ns: Cell<u64>,
    wait_ns: Cell<u64>,
}

impl ThreadTimes {
    /// The times of the current thread, from now on.
    pub fn begin() -> ThreadTimes {
        ThreadTimes { cpu_ns: Cell::new(thread_cpu_ns()), wait_ns: Cell::new(thread_wait_ns()) }
    }

    /// CPU time and waiting for a core since the last call (ns); only the thread that began it may ask.
    pub fn take(&self) -> (u64, u64) {
        let (cpu, wait) = (thread_cpu_ns(), thread_wait_ns());
        let since = |before: &Cell<u64>, now: u64| now.saturating_sub(before.replace(now));
        (since(&self.cpu_ns, cpu), since(&self.wait_ns, wait))
    }
}

/// Cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}

/// Raises the limit on open files to what the system allows us: one connection is one file.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Refused: the limit stays, and running into it shows as an exhausted generator.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Levels of this process now. What cannot be read (another system than Linux) is 0. Each of `source_addresses` (at
/// least one) has the whole range of ports to itself.
pub fn process(source_addresses: usize) -> ProcessGauges {
    let (open_files, sources) = (open_files(), source_addresses.max(1) as u64);
    ProcessGauges {
        resident_bytes: resident_bytes(),
        open_files,
        open_files_limit: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        // An upper bound: nearly all our files are connections, and a port rests for a minute after its connection.
        ports_used: open_files + resting_ports(),
        ports_available: local_ports().unwrap_or(0) * sources,
        cpu_pressure_us: cpu_pressure_us(),
    }
}

/// The machine, as far as results depend on it.
pub fn environment() -> Value {
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let memory = read("/proc/meminfo");
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default();
    let (low, high) = port_range().unwrap_or((0, 0));
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "cpu": model.trim_start_matches([' ', '\t', ':']),
        "cpus": cores(),
        "memory": total.trim(),
        "open_files_limit": getrlimit(Resource::Nofile).current,
        "port_range": [low, high],
        "somaxconn": read("/proc/sys/net/core/somaxconn").trim().parse::<u64>().ok(),
    })
}

/// The text of a file; none where it cannot be read, on another system than Linux.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The second of the words as a number; 0: it is none.
fn second_number<'w>(mut words: impl Iterator<Item = &'w str>) -> u64 {
    words.nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// How long some task of the machine has waited for a core (`some … total=`).
fn cpu_pressure_us() -> u64 {
    let told = read("/proc/pressure/cpu");
    let some = told.lines().find(|line| line.starts_with("some")).unwrap_or_default();
    let total = some.split_whitespace().find_map(|word| word.strip_prefix("total="));
    total.and_then(|total| total.parse().ok()).unwrap_or(0)
}

fn resident_bytes() -> u64 {
    second_number(read("/proc/self/statm").split_whitespace()) * rustix::param::page_size() as u64
}

/// Since Linux 6.2 the folder's size is the number of open files; before, they have to be listed.
fn open_files() -> u64 {
    match fs::metadata("/proc/self/fd") {
        Ok(folder) if folder.len() > 0 => folder.len(),
        Ok(_) => fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64),
        Err(_) => 0,
    }
}

/// Local ports for connections from one address to another; None: the system does not say.
pub fn local_ports() -> Option<u64> {
    let (low, high) = port_range()?;
    Some(u64::from(high - low) + 1)
}

fn port_range() -> Option<(u16, u16)> {
    bounds(&fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?)
}

fn bounds(range: &str) -> Option<(u16, u16)> {
    let mut bounds = range.split_whitespace().map(|bound| bound.parse().ok());
    let (low, high) = (bounds.next()??, bounds.next()??);
    (low <= high).then_some((low, high))
}

/// TCP connections in TIME_WAIT, of the whole machine.
fn resting_ports() -> u64 {
    let sockets = read("/proc/net/sockstat");
    let tcp = sockets.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    second_number(tcp.split_whitespace().skip_while(|word| *word != "tw"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_grow_with_every_file_opened() {
        let before = open_files();
        let files: Vec<_> = (0..50).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        assert!(open_files() >= before + 40, "{before} then {}", open_files());
        drop(files);
    }

    #[test]
    fn a_range_of_ports_has_two_bounds_in_order() {
        let read = ["32768\t60999\n", "9 8", "9", ""].map(bounds);
        assert_eq!(read, [Some((32_768, 60_999)), None, None, None]);
    }

    #[test]
    fn a_busy_thread_uses_cpu_and_the_process_memory() {
        let before = thread_cpu_ns();
        let mut sum = 0_u64;
        while thread_cpu_ns() - before < 1_000_000 {
            sum = sum.wrapping_add(1);
        }
        assert!(sum > 0);
        assert!(process(1).resident_bytes > 1_000_000);
    }
}
