//! What holds the limits of a service's CPU and memory: the first that can of a control group of ours, one that systemd
//! makes for this user, and CPU affinity, which can do whole cores and nothing else. Where none can, the service is not
//! started: a limit that is not held is never ignored.
//!
//! Memory is not limited by RLIMIT_AS, which any user might set: it counts address space that is only reserved, of
//! which Node and JVMs reserve many times what they use.

use super::Keeper;
use super::scope::{Scope, holds, scope};
use crate::affinity;
use crate::cgroup::{self, Hierarchy};
use crate::credits::Bucket;
use crate::job::Event;
use crate::settings::Limits;
use std::io;

/// What helps where nothing holds the limits.
const HINT: &str = "a control group is needed: run as root where /sys/fs/cgroup may be written, or as a user for whom \
                    `systemd-run --user --scope -p CPUQuota=50% true` works (without CPU credits); whole cores alone \
                    need none: `cpu: 1` is then held by CPU affinity; or leave `cpu`, `memory` and `host` out";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldBy {
    Group,
    Scope,
    /// It may run on so many cores and no others.
    Affinity(usize),
}

/// What holds these limits; None: nothing does. systemd is asked only where there can be no group.
fn held_by(limits: &Limits, has_group: bool, has_scope: impl FnOnce() -> bool) -> Option<HeldBy> {
    if has_group {
        return Some(HeldBy::Group);
    }
    // The quota follows the credits, and only that of a group of ours can be changed.
    if limits.credits.is_some() {
        return None;
    }
    if has_scope() {
        return Some(HeldBy::Scope);
    }
    let whole = limits.cpu.filter(|cores| *cores >= 1.0 && cores.fract() == 0.0)?;
    limits.memory.is_none().then_some(HeldBy::Affinity(whole as usize))
}

impl Keeper {
    /// Has the limits of CPU and memory held; the words before the command by which systemd does it, where it does. The
    /// error is why nothing can, and what helps.
    pub(super) fn limited(&mut self) -> Result<Vec<String>, (String, String)> {
        let limits = &self.job.limits;
        lacks_swap(limits.swap.unwrap_or(0), cgroup::swap_bytes()).map_or(Ok(()), Err)?;
        // Without credits at the start it is the baseline that it begins with.
        let bucket = limits.credits.map(|credits| Bucket::new(credits, limits.cpu.unwrap_or(1.0)));
        let first =
            Limits { cpu: bucket.map_or(limits.cpu, |bucket| Some(bucket.quota())), ..limits.clone() };
        let made = Hierarchy::of_machine().make(&cgroup::own_name(), &first);
        let in_front = scope(limits);
        let held_by = held_by(limits, made.is_ok(), || holds(&in_front, limits));
        match (held_by, made) {
            (_, Ok(group)) => {
                self.group = Some(group);
                Ok(Vec::new())
            }
            (Some(HeldBy::Scope), Err(_)) => {
                self.scope = limits.memory.map(|_| Scope::default());
                Ok(in_front)
            }
            (Some(HeldBy::Affinity(count)), Err(_)) => {
                self.keep_to_cores(count).map_err(|error| refusal(&error))?;
                Ok(Vec::new())
            }
            (Some(HeldBy::Group) | None, Err(error)) => Err(refusal(&error)),
        }
    }

    /// Keeps the service to so many cores and tells which; where it may use no more anyway, nothing is to be done.
    fn keep_to_cores(&mut self, count: usize) -> io::Result<()> {
        let allowed = affinity::allowed()?;
        if let Some(cores) = affinity::last(&allowed, count) {
            self.voice.tell(&Event::Notice(notice(cores)));
            self.cores = cores.to_vec();
        }
        Ok(())
    }
}

/// Why the service cannot have so many bytes of swap on a machine with these, and what helps.
fn lacks_swap(asked: u64, has: u64) -> Option<(String, String)> {
    let what = || format!("limits.swap is {asked} bytes, and this machine has {has} bytes of swap");
    let hint = "as root, `fallocate -l 1G /swap; chmod 600 /swap; mkswap /swap; swapon /swap` adds some: in `before`, \
                say, with `swapoff /swap; rm /swap` in `after`";
    (asked > has).then(|| (what(), hint.to_owned()))
}

fn refusal(why: &io::Error) -> (String, String) {
    (format!("limits of CPU and memory are not possible here: {why}"), HINT.to_owned())
}

/// What is told of a service that is kept to these cores.
fn notice(cores: &[usize]) -> String {
    let listed: Vec<String> = cores.iter().map(usize::to_string).collect();
    let (noun, them) = if cores.len() == 1 { ("core", "that core") } else { ("cores", "those cores") };
    format!(
        "`cpu: {}` is held by affinity to {noun} {}, as there is no control group; other processes may use \
         {them} too",
        cores.len(),
        listed.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Credits;

    #[test]
    fn limits_are_held_by_the_first_that_can_hold_them_all() {
        let cpu = |cores| Limits { cpu: Some(cores), ..Limits::default() };
        let memory = |cpu| Limits { cpu, memory: Some(64 << 20), ..Limits::default() };
        let credits = Credits { baseline: 0.1, an_hour: 6.0, at_start: 30.0, most: 144.0 };
        let host = Limits { cpu: Some(1.0), credits: Some(credits), ..Limits::default() };
        for (limits, with_systemd, with_neither) in [
            (cpu(1.0), Some(HeldBy::Scope), Some(HeldBy::Affinity(1))),
            (cpu(2.0), Some(HeldBy::Scope), Some(HeldBy::Affinity(2))),
            (cpu(0.5), Some(HeldBy::Scope), None),
            (cpu(1.5), Some(HeldBy::Scope), None),
            (memory(None), Some(HeldBy::Scope), None),
            (memory(Some(1.0)), Some(HeldBy::Scope), None),
            (host, None, None),
        ] {
            let with_group = held_by(&limits, true, || panic!("systemd is not asked"));
            assert_eq!(with_group, Some(HeldBy::Group), "{limits:?}");
            assert_eq!(held_by(&limits, false, || true), with_systemd, "{limits:?}");
            assert_eq!(held_by(&limits, false, || false), with_neither, "{limits:?}");
        }
    }

    #[test]
    fn swap_that_the_machine_has_not_is_refused() {
        assert_eq!((lacks_swap(0, 0), lacks_swap(1 << 30, 1 << 30)), (None, None));
        let (what, hint) = lacks_swap(1 << 30, 4096).unwrap();
        assert_eq!(what, "limits.swap is 1073741824 bytes, and this machine has 4096 bytes of swap");
        assert!(hint.contains("swapon"), "{hint}");
    }

    #[test]
    fn whoever_is_kept_to_cores_is_told_which_and_that_they_are_shared() {
        let expected = "`cpu: 1` is held by affinity to core 3, as there is no control group; other processes \
                        may use that core too";
        assert_eq!(notice(&[3]), expected);
        assert!(notice(&[2, 3]).starts_with("`cpu: 2` is held by affinity to cores 2, 3, as "));
    }
}
