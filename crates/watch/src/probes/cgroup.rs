//! The limits that the target's control group sets: CPU quota and memory, of cgroup versions 1 and 2.
//!
//! A limit may stand on any level above the process; the tightest one binds. See the kernel's
//! admin-guide/cgroup-v2.rst and, for version 1, scheduler/sched-bwc.rst and cgroup-v1/memory.rst.

use crate::machine::{Machine, parsed, text};
use crate::probe::{Readings, Unread};
use procfs_core::VmStat;
use procfs_core::process::MountInfos;
use std::collections::HashMap;
use std::io;

/// Memory limits of version 1 from here on mean that there is none.
const NO_LIMIT: f64 = (1u64 << 60) as f64;

/// Where a process's groups are, kept while it is the same process.
#[derive(Debug, Default)]
pub(super) struct Cgroup {
    pid: Option<i32>,
    places: Places,
}

/// The folders of a process's groups, from its own up to the root.
#[derive(Debug, Default)]
struct Places {
    /// Of version 2.
    unified: Vec<String>,
    /// Of version 1.
    cpu: Vec<String>,
    memory: Vec<String>,
}

/// A quota of CPU time, and where it stands.
struct Quota {
    cores: f64,
    folder: String,
}

impl Cgroup {
    pub(super) fn look(&mut self, machine: &mut dyn Machine, pid: i32, readings: &mut Readings<'_>) {
        if self.pid != Some(pid) {
            match places(machine, pid) {
                Ok(places) => (self.pid, self.places) = (Some(pid), places),
                Err(error) => {
                    return readings.not_measured("limits of its cgroup are", &Unread::because(error));
                }
            }
        }
        if let Some(Quota { cores, folder }) = self.quota(machine) {
            readings.level("target.quota", &[], cores);
            throttled(machine, &folder, readings);
        }
        self.memory(machine, readings);
    }

    /// The tightest quota.
    fn quota(&self, machine: &mut dyn Machine) -> Option<Quota> {
        let mut tightest = None::<Quota>;
        let mut consider = |cores: Option<f64>, folder: &String| {
            if let Some(cores) = cores.filter(|cores| tightest.as_ref().is_none_or(|it| *cores < it.cores)) {
                tightest = Some(Quota { cores, folder: folder.clone() });
            }
        };
        for folder in &self.places.unified {
            consider(text(machine, &format!("{folder}/cpu.max")).ok().and_then(|text| cores(&text)), folder);
        }
        for folder in &self.places.cpu {
            let mut of =
                |name: &str| text(machine, &format!("{folder}/cpu.cfs_{name}_us")).unwrap_or_default();
            let both = format!("{} {}", of("quota").trim(), of("period").trim());
            consider(cores(&both), folder);
        }
        tightest
    }

    fn memory(&self, machine: &mut dyn Machine, readings: &mut Readings<'_>) {
        let mut number = |folder: &String, name: &str| -> Option<f64> {
            text(machine, &format!("{folder}/{name}")).ok()?.trim().parse().ok()
        };
        let unified = self.places.unified.iter().map(|folder| (folder, "memory.max", "memory.current"));
        let first = self
            .places
            .memory
            .iter()
            .map(|folder| (folder, "memory.limit_in_bytes", "memory.usage_in_bytes"));
        let mut tightest = None::<(f64, f64)>;
        for (folder, limit, used) in unified.chain(first) {
            let (Some(limit), Some(used)) = (number(folder, limit), number(folder, used)) else { continue };
            if limit < NO_LIMIT && tightest.is_none_or(|(least, _)| limit < least) {
                tightest = Some((limit, used));
            }
        }
        if let Some((limit, used)) = tightest {
            readings.level("target.cgroup.memory", &[], used);
            readings.level("target.cgroup.memory.limit", &[], limit);
        }
        // A kill is counted where it happened, and in version 2 above it as well.
        let own = |folders: &[String], name: &str| folders.first().map(|folder| format!("{folder}/{name}"));
        if let Some(events) =
            own(&self.places.unified, "memory.events").and_then(|it| counts(machine, &it).ok())
        {
            let of = |name: &str| events.get(name).copied().unwrap_or(0) as f64;
            readings.total("target.oom_kills", &[], of("oom_kill"));
            readings.total("target.memory.reclaims", &[], of("max"));
        } else if let Some(control) = own(&self.places.memory, "memory.oom_control") {
            if let Some(kills) = counts(machine, &control).ok().and_then(|it| it.get("oom_kill").copied()) {
                readings.total("target.oom_kills", &[], kills as f64);
            }
            let failures = own(&self.places.memory, "memory.failcnt").unwrap_or_default();
            if let Some(failures) = text(machine, &failures).ok().and_then(|it| it.trim().parse().ok()) {
                readings.total("target.memory.reclaims", &[], failures);
            }
        }
    }
}

/// How often and how long a quota stopped the group.
fn throttled(machine: &mut dyn Machine, folder: &str, readings: &mut Readings<'_>) {
    let stat = match counts(machine, &format!("{folder}/cpu.stat")) {
        Ok(stat) => stat,
        Err(error) => return readings.not_measured("throttling is", &Unread::because(error)),
    };
    let of = |name: &str| stat.get(name).map(|count| *count as f64);
    if let (Some(periods), Some(throttled)) = (of("nr_periods"), of("nr_throttled")) {
        readings.share("target.throttled", &[], throttled, periods);
    }
    let seconds = of("throttled_usec").map(|us| us / 1e6).or(of("throttled_time").map(|ns| ns / 1e9));
    if let Some(seconds) = seconds {
        readings.pace("target.throttled.time", &[], seconds);
    }
}

/// A file with a name and a number a line.
fn counts(machine: &mut dyn Machine, path: &str) -> io::Result<HashMap<String, i64>> {
    parsed::<VmStat>(machine, path).map(|VmStat(counts)| counts)
}

/// `50000 100000` of `cpu.max`, or of quota and period: cores; none for `max 100000` and `-1 100000`.
fn cores(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Where the groups of a process are, by `/proc/PID/cgroup` and the machine's mounts.
fn places(machine: &mut dyn Machine, pid: i32) -> io::Result<Places> {
    let groups = text(machine, &format!("/proc/{pid}/cgroup"))?;
    let MountInfos(mounts) = parsed(machine, "/proc/self/mountinfo")?;
    let mut places = Places::default();
    for group in groups.lines() {
        // number:controllers:path, of version 2 without controllers.
        let mut parts = group.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let has = |name: &str| controllers.split(',').any(|controller| controller == name);
        let mount = mounts.iter().find(|mount| match mount.fs_type.as_str() {
            "cgroup2" => controllers.is_empty(),
            "cgroup" => {
                !controllers.is_empty()
                    && controllers.split(',').all(|name| mount.super_options.contains_key(name))
            }
            _ => false,
        });
        let Some(mount) = mount else { continue };
        let at = mount.mount_point.to_string_lossy().into_owned();
        // What a container mounts may begin below the machine's root.
        let path = path.strip_prefix(mount.root.trim_end_matches('/')).unwrap_or(path);
        let folders = upwards(&at, path);
        match controllers {
            "" => places.unified = folders,
            _ => {
                if has("cpu") {
                    places.cpu.clone_from(&folders);
                }
                if has("memory") {
                    places.memory = folders;
                }
            }
        }
    }
    Ok(places)
}

/// The folders from a path up to the mount.
fn upwards(mount: &str, path: &str) -> Vec<String> {
    let mut path = path.trim_end_matches('/');
    let mut folders = vec![format!("{mount}{path}")];
    while let Some(end) = path.rfind('/') {
        path = &path[..end];
        folders.push(format!("{mount}{path}"));
    }
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_of_cores() {
        assert_eq!(cores("50000 100000\n"), Some(0.5));
        assert_eq!(cores("max 100000"), None);
        assert_eq!(cores("-1 100000"), None);
        assert_eq!(cores(""), None);
    }

    #[test]
    fn limits_may_stand_on_any_level_above() {
        assert_eq!(upwards("/m", "/a/b"), ["/m/a/b", "/m/a", "/m"]);
        assert_eq!(upwards("/m", "/"), ["/m"]);
    }
}
