//! Machines by name: the limits that stand for a small rented one.
//!
//! vCPUs, memory, baselines, credits an hour and the most that can be saved up are those of the vendor's "Key concepts
//! for burstable performance instances"
//! (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-credits-baseline-concepts.html>), credits at the
//! start those of "Standard mode concepts"
//! (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-standard-mode-concepts.html>):
//! 30 for each vCPU of a T2, none of a T3. Both as of standard mode: in unlimited mode there is no baseline to fall to.
//! What these limits leave out: the vendor's processors are others than this machine's, and its machine sinks to the
//! baseline gradually.
//!
//! `none` is a name as well, of no machine: so a matrix of hosts may have this one, as it is, beside them.

use crate::settings::{Credits, Limits};

/// A machine that can be named.
struct Host {
    name: &'static str,
    vcpus: f64,
    memory: u64,
    /// Of each vCPU, in percent.
    baseline: f64,
    credits_an_hour: f64,
    credits_at_start: f64,
    credits_most: f64,
}

const fn host(name: &'static str, vcpus: f64, half_gib: u64, baseline: f64, credits: [f64; 3]) -> Host {
    let [credits_an_hour, credits_at_start, credits_most] = credits;
    Host { name, vcpus, memory: half_gib << 29, baseline, credits_an_hour, credits_at_start, credits_most }
}

const HOSTS: &[Host] = &[
    host("t2.nano", 1.0, 1, 5.0, [3.0, 30.0, 72.0]),
    host("t2.micro", 1.0, 2, 10.0, [6.0, 30.0, 144.0]),
    host("t2.small", 1.0, 4, 20.0, [12.0, 30.0, 288.0]),
    host("t2.medium", 2.0, 8, 20.0, [24.0, 60.0, 576.0]),
    host("t3.nano", 2.0, 1, 5.0, [6.0, 0.0, 144.0]),
    host("t3.micro", 2.0, 2, 10.0, [12.0, 0.0, 288.0]),
    host("t3.small", 2.0, 4, 20.0, [24.0, 0.0, 576.0]),
    host("t3.medium", 2.0, 8, 20.0, [24.0, 0.0, 576.0]),
];

/// The name of no machine: nothing is limited.
pub(crate) const NONE: &str = "none";

/// The limits of a machine of this name.
pub(crate) fn limits(name: &str) -> Option<Limits> {
    if name == NONE {
        return Some(Limits::default());
    }
    let host = HOSTS.iter().find(|host| host.name == name)?;
    Some(Limits {
        cpu: Some(host.vcpus),
        memory: Some(host.memory),
        swap: None,
        nofile: None,
        credits: Some(Credits {
            baseline: host.vcpus * host.baseline / 100.0,
            an_hour: host.credits_an_hour,
            at_start: host.credits_at_start,
            most: host.credits_most,
        }),
    })
}

/// All names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().map(|host| host.name).chain([NONE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_earns_in_an_hour_what_its_baseline_uses() {
        for Host { name, .. } in HOSTS {
            let Credits { baseline, an_hour, .. } = limits(name).unwrap().credits.unwrap();
            assert!((baseline * 60.0 - an_hour).abs() < 1e-9, "{name}: {baseline} cores, {an_hour} credits");
        }
        assert_eq!(limits("t2.micro").unwrap().memory, Some(1 << 30));
        assert_eq!(limits("t2.mikro"), None);
    }

    #[test]
    fn no_host_has_no_limits() {
        assert_eq!(limits(NONE), Some(Limits::default()));
        assert_eq!(names().last(), Some(NONE));
    }
}
