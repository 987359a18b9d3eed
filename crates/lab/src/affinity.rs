//! CPU affinity: the cores that a process and whatever it starts may run on.
//!
//! It stands in for a quota where there can be no control group. It needs no right and is no wall: a process may choose
//! other cores for itself, and whoever else runs on these cores shares them.

use rustix::io;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this thread may run on, in their order.
pub(crate) fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}

/// The last `count` of the allowed cores: the first ones are left to the load generator. None: there are no others.
pub(crate) fn last(allowed: &[usize], count: usize) -> Option<&[usize]> {
    let left = allowed.len().checked_sub(count).filter(|left| *left > 0)?;
    Some(&allowed[left..])
}

/// Keeps this thread, and whatever it becomes or starts from now on, to these cores.
pub(crate) fn keep_to(cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    cores.iter().for_each(|core| set.set(*core));
    sched_setaffinity(None, &set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The cores allowed, how many are wanted, and which these are.
    type Case = (&'static [usize], usize, Option<&'static [usize]>);

    #[test]
    fn a_service_has_the_last_cores_unless_these_are_all() {
        let cases: [Case; 6] = [
            (&[0, 1], 1, Some(&[1])),
            (&[0, 1], 2, None),
            (&[0, 1], 3, None),
            (&[2, 3, 7], 2, Some(&[3, 7])),
            (&[5], 1, None),
            (&[], 1, None),
        ];
        for (allowed, count, expected) in cases {
            assert_eq!(last(allowed, count), expected, "{count} of {allowed:?}");
        }
    }

    #[test]
    fn what_a_thread_starts_runs_on_the_cores_that_the_thread_is_kept_to() {
        // Affinity is a thread's: those of the other tests keep theirs.
        let kept = std::thread::spawn(|| {
            let core = *allowed().unwrap().last().unwrap();
            keep_to(&[core]).unwrap();
            assert_eq!(allowed().unwrap(), [core]);
            let words = ["-c", "grep Cpus_allowed_list /proc/self/status; :"];
            let output = Command::new("sh").args(words).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("Cpus_allowed_list:\t{core}\n"));
        });
        kept.join().unwrap();
    }
}
