//! Limits where this user may make no control group but systemd makes one for it (version 2).
//!
//! That systemd answers does not say that it holds what it was asked: of controllers that were not delegated to the
//! user it says nothing. So the limits are read inside a scope first, by a command that prints them.
//!
//! What the limit of memory has killed is counted in the scope's group, which this user may read. systemd removes the
//! group with its last process, so it is read often and the count is remembered; a service of one process may be gone
//! with its group before it was read.

use super::{LONGEST_LOOK, LOOK};
use crate::cgroup::Group;
use crate::settings::Limits;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit of a command that is only tried.
const TRIED: Duration = Duration::from_secs(5);
/// Prints the limits of the group it runs in.
const PRINTS: &str = "folder=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)
for file in cpu.max memory.max; do cat \"$folder/$file\" || echo none; done";
/// Bytes of that which are read.
const PRINTED: u64 = 4096;

/// The words by which systemd puts a command under limits.
pub(super) fn scope(limits: &Limits) -> Vec<String> {
    // Without a description systemd shows, and logs, the whole command, in which there may be a password.
    let mut words: Vec<String> =
        ["systemd-run", "--user", "--scope", "--quiet", "--collect", "--description=sonagi"]
            .map(str::to_owned)
            .to_vec();
    let mut property = |text: String| words.extend(["-p".to_owned(), text]);
    if let Some(cores) = limits.cpu {
        property(format!("CPUQuota={}%", percent(cores)));
    }
    if let Some(bytes) = limits.memory {
        property(format!("MemoryMax={bytes}"));
        property(format!("MemorySwapMax={}", limits.swap.unwrap_or(0)));
    }
    words.push("--".to_owned());
    words
}

fn percent(cores: f64) -> f64 {
    (cores * 100.0).round().max(1.0)
}

/// Whether a command behind these words has these limits.
pub(super) fn holds(in_front: &[String], limits: &Limits) -> bool {
    printed(in_front, TRIED).is_some_and(|text| is_held(&text, limits))
}

/// Whether these are the limits: a quota and its period, then bytes.
fn is_held(text: &str, limits: &Limits) -> bool {
    let mut lines = text.lines();
    let mut numbers = lines.next().unwrap_or_default().split_whitespace().map(str::parse::<f64>);
    let cores = match (numbers.next(), numbers.next()) {
        (Some(Ok(quota)), Some(Ok(period))) => Some(quota / period),
        _ => None,
    };
    let bytes = lines.next().and_then(|line| line.trim().parse::<u64>().ok());
    let has_quota = |asked: f64| cores.is_some_and(|cores| (100.0 * cores - percent(asked)).abs() < 0.5);
    // The kernel rounds to pages.
    let has_memory = |asked: u64| bytes.is_some_and(|bytes| bytes <= asked && asked - bytes < 1 << 20);
    limits.cpu.is_none_or(has_quota) && limits.memory.is_none_or(has_memory)
}

/// What the command prints behind these words; None: it failed, or took longer than this.
fn printed(in_front: &[String], limit: Duration) -> Option<String> {
    let mut command = Command::new(&in_front[0]);
    command.args(&in_front[1..]).args(["sh", "-c", PRINTS]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take();
    let (began, mut pause) = (Instant::now(), LOOK);
    // A bus that does not answer is as good as none.
    while began.elapsed() < limit {
        match child.try_wait() {
            Ok(None) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_LOOK);
            }
            Ok(Some(status)) if status.success() => {
                let mut text = String::new();
                output?.take(PRINTED).read_to_string(&mut text).ok()?;
                return Some(text);
            }
            _ => return None,
        }
    }
    let _ = (child.kill(), child.wait());
    None
}

/// The scope of a service, once the service is in it.
#[derive(Debug, Default)]
pub(super) struct Scope {
    group: Option<Group>,
    memory_kills: u64,
}

impl Scope {
    /// Reads how many processes the limit of memory has killed so far, of a service with this first process; whether
    /// they are more than before. None: it has ended, and its number may be another process's.
    pub(super) fn look(&mut self, service: Option<i32>) -> bool {
        if self.group.is_none()
            && let Some(service) = service
        {
            let groups = |of: &str| std::fs::read_to_string(format!("/proc/{of}/cgroup")).unwrap_or_default();
            self.group = folder(&groups(&service.to_string()), &groups("self")).map(Group::Second);
        }
        let kills = self.group.as_ref().map_or(0, Group::oom_kills);
        let is_more = kills > self.memory_kills;
        self.memory_kills = self.memory_kills.max(kills);
        is_more
    }

    /// Processes that the limit of memory has killed, as far as that was read.
    pub(super) fn memory_kills(&self) -> u64 {
        self.memory_kills
    }
}

/// The folder of a service's scope by `/proc/PID/cgroup` of the service and of this process; None: it is in none of its
/// own yet.
fn folder(of_service: &str, own: &str) -> Option<PathBuf> {
    let path = second(of_service).filter(|path| path.ends_with(".scope") && second(own) != Some(*path))?;
    Some(Path::new("/sys/fs/cgroup").join(path.trim_start_matches('/')))
}

/// The group of version 2 in `/proc/PID/cgroup`.
fn second(groups: &str) -> Option<&str> {
    groups.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn limits_hold_where_the_group_itself_says_so() {
        let limits = Limits { cpu: Some(0.5), memory: Some(64 << 20), ..Limits::default() };
        for (text, expected) in [
            ("50000 100000\n67108864\n", true),
            ("25000 50000\n67108864\n", true),
            ("max 100000\n67108864\n", false),
            ("60000 100000\n67108864\n", false),
            ("50000 100000\nmax\n", false),
            ("50000 100000\n134217728\n", false),
            ("50000 100000\n", false),
            ("", false),
        ] {
            assert_eq!(is_held(text, &limits), expected, "{text:?}");
        }
        let quota = Limits { cpu: Some(0.5), ..Limits::default() };
        assert!(is_held("50000 100000\nmax\n", &quota) && !is_held("max 100000\nmax\n", &quota));
    }

    #[test]
    fn what_puts_a_command_under_limits_is_tried_or_given_up_on() {
        let said = |in_front: &[&str], limit| printed(&words(in_front), limit);
        assert_eq!(said(&["sh", "-c", "echo 1 2; echo 3"], TRIED).as_deref(), Some("1 2\n3\n"));
        assert_eq!(said(&["false"], TRIED), None);
        assert_eq!(said(&["/nowhere/systemd-run", "--user"], TRIED), None);
        assert_eq!(said(&["sh", "-c", "exec sleep 600"], Duration::from_millis(100)), None);
    }

    #[test]
    fn a_service_is_in_its_scope_once_it_is_in_another_one_than_its_keeper() {
        let own = "1:name=systemd:/x.scope\n0::/user.slice/vte-spawn.scope\n";
        assert_eq!(folder(own, own), None);
        assert_eq!(folder("0::/user.slice/app.slice\n", own), None);
        assert_eq!(folder("", own), None);
        let expected = PathBuf::from("/sys/fs/cgroup/user.slice/app.slice/run-r1.scope");
        assert_eq!(folder("0::/user.slice/app.slice/run-r1.scope\n", own), Some(expected));
    }

    #[test]
    fn what_a_scopes_limit_has_killed_is_remembered_when_the_scope_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let events = |kills: u64| {
            let text = format!("oom 3\noom_kill {kills}\n");
            std::fs::write(folder.path().join("memory.events"), text).unwrap();
        };
        let mut scope = Scope { group: Some(Group::Second(folder.path().to_owned())), memory_kills: 0 };
        events(0);
        assert!(!scope.look(Some(1)));
        events(2);
        assert!(scope.look(Some(1)) && !scope.look(None));
        folder.close().unwrap();
        assert_eq!((scope.look(None), scope.memory_kills()), (false, 2));
    }

    #[test]
    fn systemd_is_asked_for_the_limits() {
        let limits = Limits { cpu: Some(0.5), memory: Some(64 << 20), ..Limits::default() };
        let words = scope(&limits).join(" ");
        let expected = "systemd-run --user --scope --quiet --collect --description=sonagi -p CPUQuota=50% \
                        -p MemoryMax=67108864 -p \
                        MemorySwapMax=0 --";
        assert_eq!(words, expected);
    }
}
