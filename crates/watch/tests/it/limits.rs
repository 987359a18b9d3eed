//! Control groups of both versions, and machines that do not say everything.

use crate::fixture::Files;
use crate::support::Watching;
use sonagi_watch::probes::{Target, on_machine};

const V1_MOUNTS: &str = "\
31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct
34 23 0:30 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory
";
const V2_MOUNTS: &str = "31 23 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

/// A machine with one process, 7, in this group.
fn machine(mounts: &str, groups: &str) -> Files {
    let files = Files::default();
    files.process(7, 1, "service");
    files.put("/proc/7/cgroup", groups);
    files.put("/proc/self/mountinfo", mounts);
    files
}

#[test]
fn a_quota_of_version_2_is_read_where_it_is_tightest() {
    let files = machine(V2_MOUNTS, "0::/app/service\n");
    let group = "/sys/fs/cgroup/app";
    files.put(&format!("{group}/service/cpu.max"), "max 100000\n");
    files.put(&format!("{group}/cpu.max"), "30000 100000\n");
    files.put(&format!("{group}/cpu.stat"), "nr_periods 10\nnr_throttled 1\nthrottled_usec 1000\n");
    files.put(&format!("{group}/service/memory.max"), "1000000\n");
    files.put(&format!("{group}/service/memory.current"), "900000\n");
    files.put(&format!("{group}/memory.max"), "max\n");
    files.put(&format!("{group}/memory.current"), "950000\n");
    files.put(&format!("{group}/service/memory.events"), "low 0\nhigh 0\nmax 3\noom 0\noom_kill 0\n");
    let mut watching = Watching::start(on_machine(files.clone(), Target::Pid(7)));
    // The second look is up to half a second away from a second after the first; the third comes a second after it.
    watching.until("a second look", |seen| seen.get("target.throttled.time") == Some(0.0));
    files.put(&format!("{group}/cpu.stat"), "nr_periods 20\nnr_throttled 9\nthrottled_usec 701000\n");
    files.put(&format!("{group}/service/memory.events"), "low 0\nhigh 0\nmax 5\noom 1\noom_kill 1\n");
    watching.until("a kill", |seen| seen.get("target.oom_kills") == Some(1.0));
    let of = |metric: &str| watching.seen.get(metric);
    assert_eq!(of("target.quota"), Some(0.3));
    assert_eq!(of("target.throttled"), Some(0.8));
    assert!((0.5..1.0).contains(&of("target.throttled.time").unwrap()), "0.7 s in about a second");
    assert_eq!(of("target.cgroup.memory"), Some(900_000.0));
    assert_eq!(of("target.cgroup.memory.limit"), Some(1_000_000.0));
    assert_eq!(of("target.memory.reclaims"), Some(2.0));
}

#[test]
fn a_quota_of_version_1_is_read() {
    let files = machine(V1_MOUNTS, "4:memory:/small\n1:cpu,cpuacct:/small\n0::/\n");
    let cpu = "/sys/fs/cgroup/cpu,cpuacct/small";
    files.put(&format!("{cpu}/cpu.cfs_quota_us"), "50000\n");
    files.put(&format!("{cpu}/cpu.cfs_period_us"), "100000\n");
    files.put(&format!("{cpu}/cpu.stat"), "nr_periods 10\nnr_throttled 0\nthrottled_time 0\n");
    let memory = "/sys/fs/cgroup/memory/small";
    files.put(&format!("{memory}/memory.limit_in_bytes"), "130000000\n");
    files.put(&format!("{memory}/memory.usage_in_bytes"), "120000000\n");
    files.put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    files.put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "500000000\n");
    files.put(&format!("{memory}/memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    files.put(&format!("{memory}/memory.failcnt"), "4\n");
    let mut watching = Watching::start(on_machine(files.clone(), Target::Pid(7)));
    watching.until("a first look", |seen| seen.get("target.quota").is_some());
    files.put(&format!("{cpu}/cpu.stat"), "nr_periods 20\nnr_throttled 5\nthrottled_time 400000000\n");
    files.put(&format!("{memory}/memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    watching.until("two kills", |seen| seen.get("target.oom_kills") == Some(2.0));
    let of = |metric: &str| watching.seen.get(metric);
    assert_eq!(of("target.quota"), Some(0.5));
    assert_eq!(of("target.throttled"), Some(0.5));
    assert_eq!(of("target.cgroup.memory.limit"), Some(130_000_000.0));
    assert_eq!(of("target.cgroup.memory"), Some(120_000_000.0));
}

#[test]
fn what_a_machine_does_not_say_is_told_once_and_is_no_value() {
    let files = machine(V2_MOUNTS, "0::/\n");
    let mut watching = Watching::start(on_machine(files, Target::Pid(7)));
    watching.until("a second look", |seen| seen.get("target.cpu").is_some());
    let told = watching.seen.told();
    assert_eq!(told.matches("pressure is not measured").count(), 1, "{told}");
    assert!(told.contains("the kernel keeps no /proc/pressure"), "{told}");
    assert_eq!(told.matches("waiting for a core is not measured").count(), 1, "{told}");
    for metric in ["host.pressure.cpu", "target.cpu.waiting", "target.quota", "target.swap", "host.cpu"] {
        assert_eq!(watching.seen.get(metric), None, "{metric}");
    }
    assert_eq!(watching.seen.get("target.memory"), Some(500.0 * 4_096.0));
}

/// What a process of another user does not show: its files and limits. The rest of it is seen.
#[test]
fn what_may_not_be_read_is_told_once_with_what_helps_and_is_no_value() {
    let files = machine(V2_MOUNTS, "0::/\n");
    files.refuse("/proc/7/fd");
    let mut watching = Watching::start(on_machine(files, Target::Pid(7)));
    watching.until("a second look", |seen| seen.get("target.cpu").is_some());
    let notes: Vec<_> =
        watching.seen.notes.iter().filter(|note| note.text.contains("open files are not measured")).collect();
    assert_eq!(notes.len(), 1, "{}", watching.seen.told());
    assert!(notes[0].text.contains("process 7 (service): permission denied"), "{}", notes[0].text);
    assert_eq!(notes[0].hint.as_deref(), Some("run as the user of the target, or as root"));
    for metric in ["target.open_files", "target.open_files.limit"] {
        assert_eq!(watching.seen.get(metric), None, "{metric}");
    }
    assert_eq!(watching.seen.get("target.memory"), Some(500.0 * 4_096.0));
}

#[test]
fn a_process_that_ends_and_one_that_begins_are_told() {
    let files = machine(V2_MOUNTS, "0::/\n");
    files.process(8, 7, "worker");
    let mut watching = Watching::start(on_machine(files.clone(), Target::Pid(7)));
    watching.until("both", |seen| seen.get("target.processes") == Some(2.0));
    files.remove("/proc/8");
    watching.until("the end", |seen| seen.get("target.ended") == Some(1.0));
    files.process(9, 7, "worker");
    watching.until("the beginning", |seen| seen.get("target.started") == Some(1.0));
    let told = watching.seen.told();
    assert!(
        told.contains("process 8 (worker) ended\n") && told.contains("process 9 (worker) began\n"),
        "{told}"
    );
    assert_eq!(watching.seen.get("target.processes"), Some(2.0));
}
