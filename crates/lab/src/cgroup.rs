//! A control group of the kernel, version 1 or 2: limits of CPU and memory for all processes of a service together.
//!
//! Groups are made by the keeper beside its own (version 1) or at the top (version 2, where a group with processes has
//! none below it). Their names carry the keeper's process, when it started and its namespace of processes, so that a
//! later keeper knows those whose keeper is dead, and removes them with whatever is left in them.

use crate::settings::Limits;
use crate::tree;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The period of a CPU quota.
const PERIOD_US: u64 = 100_000;
/// The shortest quota that kernels take.
const SHORTEST_QUOTA_US: u64 = 1_000;
/// The time limit for processes of a group to be gone once they were killed.
const REMOVAL: Duration = Duration::from_secs(5);
/// What the names of our groups begin with.
const PREFIX: &str = "sonagi-";

/// Where groups are, and where this process is among them.
#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    /// `/sys/fs/cgroup`.
    root: PathBuf,
    /// `/proc/self/cgroup`.
    own: String,
}

/// A group with limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Group {
    /// A folder for each controller.
    First { cpu: PathBuf, account: PathBuf, memory: PathBuf },
    /// One folder.
    Second(PathBuf),
}

impl Hierarchy {
    pub(crate) fn of_machine() -> Hierarchy {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Hierarchy { root: PathBuf::from("/sys/fs/cgroup"), own }
    }

    fn is_second(&self) -> bool {
        self.root.join("cgroup.controllers").exists()
    }

    /// The folder of version 1 in which a group of this controller is made.
    fn first(&self, controller: &str) -> PathBuf {
        let mount = self.root.join(controller);
        let own = self.own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            controllers.split(',').any(|one| one == controller).then_some(path)
        });
        // A container sees its part of the tree, perhaps by the whole tree's names.
        let own = mount.join(own.unwrap_or_default().trim_start_matches('/'));
        if own.is_dir() { own } else { mount }
    }

    /// Makes a group with these limits.
    ///
    /// # Errors
    /// The kernel refused it; nothing of it is left then.
    pub(crate) fn make(&self, name: &str, limits: &Limits) -> io::Result<Group> {
        let group = if self.is_second() {
            for controller in ["+cpu", "+memory"] {
                let _ = fs::write(self.root.join("cgroup.subtree_control"), controller);
            }
            Group::Second(self.root.join(name))
        } else {
            let folder = |controller| self.first(controller).join(name);
            Group::First { cpu: folder("cpu"), account: folder("cpuacct"), memory: folder("memory") }
        };
        let made = group.folders().into_iter().try_for_each(made).and_then(|()| group.limit(limits));
        match made {
            Ok(()) => Ok(group),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }

    /// Removes the groups of keepers that are dead, with the processes in them.
    pub(crate) fn remove_stale(&self) {
        let parents = match self.is_second() {
            true => vec![self.root.clone()],
            false => ["cpu", "cpuacct", "memory"].map(|controller| self.first(controller)).to_vec(),
        };
        for parent in parents {
            let Ok(entries) = fs::read_dir(&parent) else { continue };
            for entry in entries.flatten() {
                if entry.file_name().to_str().is_some_and(|name| is_stale(name, &namespace())) {
                    Group::Second(entry.path()).remove();
                }
            }
        }
    }
}

/// Makes a folder, which another controller may have made: two of them are one where the system mounts them so.
fn made(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map_err(|error| named(folder, &error)),
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The name of this process's group.
pub(crate) fn own_name() -> String {
    let id = std::process::id() as i32;
    let started = tree::process(id).map_or(0, |process| process.started);
    format!("{PREFIX}{id}-{started}-{}", namespace())
}

/// The namespace of processes that numbers of processes are of.
fn namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
}

/// Whether this is the name of a group whose keeper is dead.
fn is_stale(name: &str, namespace: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let parts: Vec<&str> = rest.split('-').collect();
    let &[id, started, of] = parts.as_slice() else { return false };
    let (Ok(id), Ok(started)) = (id.parse(), started.parse::<u64>()) else { return false };
    // Numbers of another namespace say nothing here: its keeper may well be alive.
    of == namespace && tree::process(id).is_none_or(|process| process.started != started)
}

impl Group {
    fn folders(&self) -> Vec<&Path> {
        match self {
            Group::First { cpu, account, memory } => vec![cpu, account, memory],
            Group::Second(folder) => vec![folder],
        }
    }

    /// The files that a process joins the group by.
    pub(crate) fn doors(&self) -> Vec<PathBuf> {
        self.folders().into_iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    fn limit(&self, limits: &Limits) -> io::Result<()> {
        if let Some(cores) = limits.cpu {
            self.set_quota(cores)?;
        }
        let Some(bytes) = limits.memory else { return Ok(()) };
        let swap = limits.swap.unwrap_or(0);
        match self {
            Group::First { memory, .. } => {
                write(memory, "memory.limit_in_bytes", bytes)?;
                // Without accounts of swap, it is at least not asked for.
                if swap > 0 || memory.join("memory.memsw.limit_in_bytes").exists() {
                    write(memory, "memory.memsw.limit_in_bytes", bytes.saturating_add(swap))
                } else {
                    write(memory, "memory.swappiness", 0)
                }
            }
            Group::Second(folder) => {
                write(folder, "memory.max", bytes)?;
                // A kernel without swap has no such file.
                if swap > 0 || swap_bytes() > 0 { write(folder, "memory.swap.max", swap) } else { Ok(()) }
            }
        }
    }

    /// Lets it use so many cores.
    pub(crate) fn set_quota(&self, cores: f64) -> io::Result<()> {
        let quota = ((cores * PERIOD_US as f64).round() as u64).max(SHORTEST_QUOTA_US);
        match self {
            Group::First { cpu, .. } => {
                write(cpu, "cpu.cfs_period_us", PERIOD_US)?;
                write(cpu, "cpu.cfs_quota_us", quota)
            }
            Group::Second(folder) => write(folder, "cpu.max", format!("{quota} {PERIOD_US}")),
        }
    }

    /// The CPU time of all processes that were ever in it.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        match self {
            Group::First { account, .. } => {
                let text = fs::read_to_string(account.join("cpuacct.usage")).ok()?;
                text.trim().parse().ok().map(Duration::from_nanos)
            }
            Group::Second(folder) => {
                member(&folder.join("cpu.stat"), "usage_usec").map(Duration::from_micros)
            }
        }
    }

    /// Resident memory of its processes now: without what is only cached of files.
    pub(crate) fn resident(&self) -> Option<u64> {
        match self {
            Group::First { memory, .. } => member(&memory.join("memory.stat"), "total_rss"),
            Group::Second(folder) => member(&folder.join("memory.stat"), "anon"),
        }
    }

    /// Processes of it that the kernel killed for want of memory.
    pub(crate) fn oom_kills(&self) -> u64 {
        let file = match self {
            Group::First { memory, .. } => memory.join("memory.oom_control"),
            Group::Second(folder) => folder.join("memory.events"),
        };
        member(&file, "oom_kill").unwrap_or_default()
    }

    /// Kills its processes and removes it; whether it is gone.
    pub(crate) fn remove(&self) -> bool {
        let began = Instant::now();
        loop {
            let mut is_gone = true;
            for folder in self.folders() {
                match fs::remove_dir(folder) {
                    Ok(()) => {}
                    // Where the whole tree can only be read, the kernel says so first.
                    Err(_) if !folder.exists() => {}
                    Err(_) => {
                        kill_in(folder);
                        is_gone = false;
                    }
                }
            }
            if is_gone || began.elapsed() > REMOVAL {
                return is_gone;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Kills the processes in a folder; version 2 does that by itself.
fn kill_in(folder: &Path) {
    let ids = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    // 0 is a process of another namespace.
    for id in ids.lines().filter_map(|id| id.parse::<i32>().ok()).filter(|id| *id > 0) {
        if let Some(process) = tree::process(id) {
            tree::send(id, process.started, Signal::KILL);
        }
    }
    let kill = folder.join("cgroup.kill");
    if kill.exists() {
        let _ = fs::write(kill, "1");
    }
}

/// How much swap the machine has.
pub(crate) fn swap_bytes() -> u64 {
    swap_of(&fs::read_to_string("/proc/swaps").unwrap_or_default())
}

/// Reads `/proc/swaps`: below a headline a swap each, whose size is in KiB, without the page that `mkswap` writes its
/// header to. With it, a file of 1 GiB is 1 GiB of swap.
fn swap_of(swaps: &str) -> u64 {
    let kib = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024 + rustix::param::page_size() as u64).sum()
}

fn write(folder: &Path, file: &str, value: impl ToString) -> io::Result<()> {
    let path = folder.join(file);
    fs::write(&path, value.to_string()).map_err(|error| named(&path, &error))
}

/// A number of a file with a name and a number in each line.
fn member(path: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { cpu: Some(0.5), memory: Some(64 << 20), swap: None, nofile: None, credits: None };

    fn read(folder: &Path, file: &str) -> String {
        fs::read_to_string(folder.join(file)).unwrap_or_default()
    }

    #[test]
    fn version_2_is_written_as_the_kernel_documents_it() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cgroup.controllers"), "cpu memory").unwrap();
        let hierarchy = Hierarchy { root: root.path().to_owned(), own: "0::/own\n".to_owned() };
        let group = hierarchy.make("sonagi-x", &LIMITS).unwrap();
        let folder = root.path().join("sonagi-x");
        assert_eq!(group, Group::Second(folder.clone()));
        assert_eq!(
            (read(&folder, "cpu.max"), read(&folder, "memory.max")),
            ("50000 100000".into(), "67108864".into())
        );
        assert_eq!(group.doors(), [folder.join("cgroup.procs")]);
        group.set_quota(0.001).unwrap();
        assert_eq!(read(&folder, "cpu.max"), "1000 100000", "kernels take no less than a millisecond");
        fs::write(folder.join("cpu.stat"), "usage_usec 1500000\nuser_usec 1\n").unwrap();
        fs::write(folder.join("memory.events"), "oom 2\noom_kill 1\n").unwrap();
        fs::write(folder.join("memory.stat"), "anon 4096\nfile 1\n").unwrap();
        assert_eq!((group.cpu(), group.oom_kills()), (Some(Duration::from_millis(1500)), 1));
        assert_eq!(group.resident(), Some(4096));
    }

    #[test]
    fn version_1_has_a_folder_for_each_controller_below_this_processs_own() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["cpu", "cpuacct", "memory/own"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let own = "4:memory:/own\n2:cpuacct,cpu:/elsewhere\n".to_owned();
        let hierarchy = Hierarchy { root: root.path().to_owned(), own };
        hierarchy.make("sonagi-x", &LIMITS).unwrap();
        let (cpu, memory) = (root.path().join("cpu/sonagi-x"), root.path().join("memory/own/sonagi-x"));
        assert_eq!(
            (read(&cpu, "cpu.cfs_quota_us"), read(&cpu, "cpu.cfs_period_us")),
            ("50000".into(), "100000".into())
        );
        assert_eq!(read(&memory, "memory.limit_in_bytes"), "67108864");
        assert_eq!(read(&memory, "memory.swappiness"), "0", "this kernel keeps no accounts of swap");
    }

    #[test]
    fn what_may_be_swapped_out_is_beyond_the_limit_of_memory() {
        let swaps =
            "Filename\tType\tSize\tUsed\tPriority\n/swap file 1048572 0 -2\n/dev/sdb partition 4 0 -3\n";
        let headers = 2 * rustix::param::page_size() as u64;
        assert_eq!((swap_of(swaps), swap_of("Filename\tType\n")), (1_048_576 * 1024 + headers, 0));
        let limits = Limits { swap: Some(32 << 20), ..LIMITS };
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (root.path().join("first"), root.path().join("second"));
        [&first, &second].iter().for_each(|folder| fs::create_dir(folder).unwrap());
        let of = |folder: &Path| folder.to_owned();
        Group::First { cpu: of(&first), account: of(&first), memory: of(&first) }.limit(&limits).unwrap();
        assert_eq!(read(&first, "memory.limit_in_bytes"), "67108864");
        assert_eq!(read(&first, "memory.memsw.limit_in_bytes"), "100663296", "of both together");
        Group::Second(of(&second)).limit(&limits).unwrap();
        assert_eq!(
            (read(&second, "memory.max"), read(&second, "memory.swap.max")),
            ("67108864".into(), "33554432".into())
        );
    }

    #[test]
    fn a_group_is_stale_when_its_keeper_is_dead_and_was_of_this_namespace() {
        let own = own_name();
        assert!(!is_stale(&own, &namespace()), "{own}: we live");
        let started = tree::process(std::process::id() as i32).unwrap().started;
        let other = format!("{PREFIX}{}-{}-7", std::process::id(), started + 1);
        assert!(is_stale(&other, "7") && !is_stale(&other, "8"));
        assert!(!is_stale("sonagi-bottleneck-12-1", "1") && !is_stale("system.slice", "1"));
    }
}
