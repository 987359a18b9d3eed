//! The machine just before a run: whether others use it, by a short look at /proc and /sys.

use sonagi_report::matrix::Fingerprint;
use std::fs;
use std::time::Duration;

/// How long others are watched. Ticks are a hundredth of a second.
const LOOK: Duration = Duration::from_millis(250);
/// Cores whose frequency is read.
const CORES_MAX: usize = 256;

/// Looks at the machine. What cannot be read is left out.
pub(crate) fn take() -> Fingerprint {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let before = now();
    std::thread::sleep(LOOK);
    let used = before.zip(now()).and_then(|(before, after)| shares(before, after));
    Fingerprint {
        load_1m: read("/proc/loadavg").split_whitespace().next().and_then(|load| load.parse().ok()),
        busy: used.map(|(busy, _)| busy),
        stolen: used.map(|(_, stolen)| stolen),
        mhz: frequency(),
    }
}

/// Ticks of all cores since the machine booted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ticks {
    all: u64,
    idle: u64,
    stolen: u64,
}

impl Ticks {
    /// Those in which a core was used, or stolen; waiting for a disk is idle.
    pub(crate) fn busy(self) -> u64 {
        self.all - self.idle
    }
}

/// Those until now.
pub(crate) fn now() -> Option<Ticks> {
    ticks(&fs::read_to_string("/proc/stat").ok()?)
}

/// The share of this machine's time that its host gave to other guests between two looks.
pub(crate) fn stolen(before: Ticks, after: Ticks) -> Option<f64> {
    shares(before, after).map(|(_, stolen)| stolen)
}

/// The first line of /proc/stat: `cpu user nice system idle iowait irq softirq steal guest guest_nice`.
pub(crate) fn ticks(stat: &str) -> Option<Ticks> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|ticks| ticks.parse().ok()).collect();
    // Time of guests is part of user and nice already.
    let kinds = ticks.get(..8)?;
    Some(Ticks { all: kinds.iter().sum(), idle: kinds[3] + kinds[4], stolen: kinds[7] })
}

/// The shares that were used, and stolen, between two looks.
fn shares(before: Ticks, after: Ticks) -> Option<(f64, f64)> {
    let of = |ticks: fn(Ticks) -> u64| ticks(after).saturating_sub(ticks(before)) as f64;
    let all = of(|ticks| ticks.all);
    let (idle, stolen) = (of(|ticks| ticks.idle), of(|ticks| ticks.stolen));
    let rounded = |share: f64| (share.clamp(0.0, 1.0) * 1e3).round() / 1e3;
    (all > 0.0).then(|| (rounded((all - idle - stolen) / all), rounded(stolen / all)))
}

/// The mean of all cores, where the kernel tells it.
fn frequency() -> Option<f64> {
    let of = |core: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq");
        fs::read_to_string(path).ok()?.trim().parse::<f64>().ok().map(|khz| khz / 1e3)
    };
    let by_core: Vec<f64> = (0..CORES_MAX).map_while(of).collect();
    let all = if by_core.is_empty() { told(&fs::read_to_string("/proc/cpuinfo").ok()?) } else { by_core };
    (!all.is_empty()).then(|| (all.iter().sum::<f64>() / all.len() as f64).round())
}

/// The lines `cpu MHz : 2445.404` of /proc/cpuinfo.
fn told(cpuinfo: &str) -> Vec<f64> {
    let lines = cpuinfo.lines().filter(|line| line.starts_with("cpu MHz"));
    lines.filter_map(|line| line.split(':').nth(1)?.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_use_is_what_is_neither_idle_nor_stolen() {
        let before = ticks("cpu  100 0 50 800 10 0 0 40 5 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!(before, Ticks { all: 1000, idle: 810, stolen: 40 });
        let after = ticks("cpu  130 0 60 840 20 0 0 50 9 0\n").unwrap();
        assert_eq!((shares(before, after), stolen(before, after)), (Some((0.4, 0.1)), Some(0.1)));
        assert_eq!(shares(before, before), None);
        assert_eq!((ticks(""), ticks("cpu 1 2 3")), (None, None));
    }

    #[test]
    fn frequencies_are_read_where_the_kernel_tells_them() {
        assert_eq!(told("processor : 0\ncpu MHz\t\t: 2400.5\ncpu MHz : 1200\n"), [2400.5, 1200.0]);
    }
}
