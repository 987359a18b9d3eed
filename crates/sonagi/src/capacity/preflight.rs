//! The preflight of a search: before the first trial it tells what on this machine will keep the generator from the top
//! of the range. That may be descriptors, local ports, cores that others use, or timers that ring late.
//!
//! The one decision a reader would question: it only warns, as each trial's own health decides what a trial says. Loads
//! that take more descriptors than there are, however, are not tried: their trials could say nothing.

use super::trials::Demand;
use crate::fingerprint;
use crate::limits;
use rustix::time::{ClockId, clock_gettime};
use sonagi_measure::histogram::Histogram;
use sonagi_measure::summary::Cause;
use sonagi_report::capacity::{GeneratorLimit, Preflight, PreflightFinding};
use sonagi_report::figures::{count, figure};
use sonagi_verdict::capacity::{End, Goal};
use std::time::{Duration, Instant};

/// The time over which the CPU of others is measured.
const WINDOW: Duration = Duration::from_millis(500);
/// Sleeps whose lateness is measured, or fewer where they take longer than they may.
const SLEEPS: usize = 100;
const SLEEP: Duration = Duration::from_millis(1);
const SLEEPS_TAKE: Duration = Duration::from_millis(200);

/// Files that the generator has open beside its connections, at most: the run folder, probes, pipes …
const OWN_FILES: u64 = 48;
/// … and for each of its threads, one per core, its timer and what wakes it.
const FILES_OF_THREAD: u64 = 8;
/// From this share of all cores on, what others use is worth a warning.
const BUSY_SHARE: f64 = 0.25;
/// From this lateness (ms) on, timers are: at twice as much a trial's generator counts as late.
const TIMERS_LATE_MS: f64 = 5.0;

/// The remedy against others on the machine.
const END_OTHERS: &str = "end what else runs on this machine, or search from another one";

/// This machine as a generator finds it while nothing is asked of the target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Machine {
    /// None: there is no limit.
    pub(super) open_files_limit: Option<u64>,
    /// For connections to one address; None: the system does not say.
    pub(super) local_ports: Option<u64>,
    pub(super) cores: u64,
    /// Cores that others use; None: the system does not say.
    pub(super) busy_cores: Option<f64>,
    /// How late sleeps end, at the 99th percentile.
    pub(super) timer_late_ms: f64,
}

impl Machine {
    /// Looks for half a second.
    pub(crate) fn read() -> Machine {
        let (began, busy, own) = (Instant::now(), busy_s(), own_cpu());
        let timers = timers();
        std::thread::sleep(WINDOW.saturating_sub(began.elapsed()));
        let (own_s, took_s) = ((own_cpu() - own).as_secs_f64(), began.elapsed().as_secs_f64());
        let others = busy.zip(busy_s()).map(|(before, now)| (now - before - own_s) / took_s);
        Machine {
            open_files_limit: limits::open_files(),
            local_ports: sonagi_engine::health::local_ports(),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
            busy_cores: others.map(|cores| cores.max(0.0)),
            timer_late_ms: timers.quantile_ms(0.99),
        }
    }

    /// Files that are not left for connections.
    pub(super) fn own_files(&self) -> u64 {
        OWN_FILES + FILES_OF_THREAD * self.cores
    }
}

/// Finds what keeps a search from the top of its range, where a trial at the top has this demand. `is_linear`: half the
/// load has half of the demand. Loads are told by `name`.
pub(super) fn preflight(
    machine: &Machine,
    goal: &Goal,
    demand: Demand,
    is_linear: bool,
    name: impl Fn(u64) -> String,
) -> Preflight {
    let highest = highest(machine, goal, demand).filter(|_| is_linear);
    let top = highest.unwrap_or(goal.to);
    let share = top as f64 / goal.to as f64;
    let of_top = Demand { ports: (demand.ports as f64 * share) as u64, ..demand };
    let findings = [
        descriptors(machine, demand, &name(goal.to), highest.map(&name)),
        ports_short(machine, of_top, &name(top)),
        cores(machine),
        late_timers(machine),
    ];
    let &Machine { open_files_limit, local_ports, cores, busy_cores, timer_late_ms } = machine;
    Preflight {
        open_files_limit,
        local_ports,
        cores,
        busy_cores: busy_cores.map(|cores| (cores * 100.0).round() / 100.0),
        timer_late_ms,
        highest,
        findings: findings.into_iter().flatten().collect(),
    }
}

/// The end of a search, and the finding of its preflight that explains why the generator could do no more; `cause` is
/// that of the last trial in which it fell behind.
pub(super) fn limited(
    preflight: &Preflight,
    end: End,
    cause: Option<Cause>,
) -> (End, Option<GeneratorLimit>) {
    match end {
        // The range that was searched ended where the descriptors did.
        End::AtLeast if preflight.highest.is_some() => (End::Generator, Some(GeneratorLimit::Descriptors)),
        End::Generator => (end, explanation(preflight, cause)),
        _ => (end, None),
    }
}

fn explanation(preflight: &Preflight, cause: Option<Cause>) -> Option<GeneratorLimit> {
    let candidates: &[GeneratorLimit] = match cause? {
        Cause::Exhausted => &[GeneratorLimit::Descriptors, GeneratorLimit::Ports],
        Cause::Starved => &[GeneratorLimit::Cores, GeneratorLimit::Timers],
        Cause::Bursts => &[GeneratorLimit::Timers],
        Cause::Overloaded => &[],
    };
    candidates.iter().copied().find(|limit| preflight.finding(*limit).is_some())
}

/// Files that connections may have.
fn room(machine: &Machine) -> Option<u64> {
    machine.open_files_limit.map(|limit| limit.saturating_sub(machine.own_files()))
}

/// The highest load of the range that there are descriptors for. None: its top has them, or not even its lowest load.
fn highest(machine: &Machine, goal: &Goal, demand: Demand) -> Option<u64> {
    let room = room(machine).filter(|room| demand.files > *room)?;
    let possible = (goal.to as f64 * room as f64 / demand.files as f64) as u64;
    (possible >= goal.from).then_some(possible)
}

fn descriptors(
    machine: &Machine,
    demand: Demand,
    top: &str,
    highest: Option<String>,
) -> Option<PreflightFinding> {
    room(machine).filter(|room| demand.files > *room)?;
    let limit = count(machine.open_files_limit?);
    let then = match highest {
        Some(highest) => format!("no load above {highest} is tried"),
        None => "trials are INVALID when they run out".to_owned(),
    };
    Some(PreflightFinding {
        limit: GeneratorLimit::Descriptors,
        what: format!(
            "a trial at {top} has at least {} files open, and this process may have {limit}: {then}",
            count(demand.files)
        ),
        hint: limits::RAISE_OPEN_FILES.to_owned(),
    })
}

fn ports_short(machine: &Machine, demand: Demand, top: &str) -> Option<PreflightFinding> {
    let ports = machine.local_ports.filter(|ports| demand.ports > *ports)?;
    Some(PreflightFinding {
        limit: GeneratorLimit::Ports,
        what: format!(
            "a trial at {top} may take {} local ports, those in TIME_WAIT included, and this machine has {} for one \
             address",
            count(demand.ports),
            count(ports)
        ),
        hint: "widen net.ipv4.ip_local_port_range, or let users share connections".to_owned(),
    })
}

fn cores(machine: &Machine) -> Option<PreflightFinding> {
    let busy = machine.busy_cores.filter(|busy| *busy >= BUSY_SHARE * machine.cores as f64)?;
    Some(PreflightFinding {
        limit: GeneratorLimit::Cores,
        what: format!(
            "others use {} of this machine's {} cores before the first trial",
            figure(busy),
            machine.cores
        ),
        hint: END_OTHERS.to_owned(),
    })
}

fn late_timers(machine: &Machine) -> Option<PreflightFinding> {
    let late_ms = machine.timer_late_ms;
    (late_ms >= TIMERS_LATE_MS).then(|| PreflightFinding {
        limit: GeneratorLimit::Timers,
        what: format!("this machine's timers ring {} ms late (p99) before the first trial", figure(late_ms)),
        hint: format!("{END_OTHERS}; a virtual machine's host may be full"),
    })
}

/// Seconds that all cores together were busy since the machine booted.
fn busy_s() -> Option<f64> {
    let ticks = fingerprint::now()?.busy();
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// CPU time of this process.
fn own_cpu() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// How late sleeps end.
fn timers() -> Histogram {
    let (began, mut late) = (Instant::now(), Histogram::new());
    for _ in 0..SLEEPS {
        if began.elapsed() >= SLEEPS_TAKE {
            break;
        }
        let asleep = Instant::now();
        std::thread::sleep(SLEEP);
        late.record_ns(asleep.elapsed().saturating_sub(SLEEP).as_nanos() as i64);
    }
    late
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::{Ticks, ticks};

    const GOAL: (u64, u64) = (10, 10_000);
    /// A quiet machine of two cores on which 1,000 connections find descriptors.
    const QUIET: Machine = Machine {
        open_files_limit: Some(1_000 + OWN_FILES + 2 * FILES_OF_THREAD),
        local_ports: Some(28_232),
        cores: 2,
        busy_cores: Some(0.1),
        timer_late_ms: 0.2,
    };

    fn found(machine: &Machine, demand: Demand, is_linear: bool) -> Preflight {
        let goal = Goal::of(GOAL.0, GOAL.1, 0.05, 20.0);
        preflight(machine, &goal, demand, is_linear, |load| format!("{load} users"))
    }

    /// What was found, without hints.
    fn told(preflight: &Preflight) -> Vec<&str> {
        preflight.findings.iter().map(|finding| finding.what.as_str()).collect()
    }

    #[test]
    fn a_quiet_machine_with_room_keeps_a_search_from_nothing() {
        let all = found(&QUIET, Demand { files: 1_000, ports: 28_232 }, true);
        assert_eq!((told(&all), all.highest, all.cores), (vec![], None, 2));
        let unlimited = Machine { open_files_limit: None, local_ports: None, ..QUIET };
        assert_eq!(told(&found(&unlimited, Demand { files: u64::MAX, ports: u64::MAX }, true)), [""; 0]);
    }

    #[test]
    fn the_search_ends_where_descriptors_do_if_that_is_known() {
        let all = found(&QUIET, Demand { files: 30_000, ports: 10_000 }, true);
        let what = "a trial at 10000 users has at least 30,000 files open, and this process may have 1,064: no load \
                    above 333 users is tried";
        assert_eq!((told(&all), all.highest), (vec![what], Some(333)));
        assert_eq!(all.findings[0].limit, GeneratorLimit::Descriptors);
        for (files, is_linear) in [(30_000, false), (2_000_000, true)] {
            let all = found(&QUIET, Demand { files, ports: 0 }, is_linear);
            assert!(told(&all)[0].ends_with(": trials are INVALID when they run out"), "{all:?}");
            assert_eq!(all.highest, None);
        }
    }

    #[test]
    fn ports_are_those_of_the_highest_load_that_is_tried() {
        let ports = |files| found(&QUIET, Demand { files, ports: 50_000 }, true);
        let what = "a trial at 10000 users may take 50,000 local ports, those in TIME_WAIT included, and this machine \
                    has 28,232 for one address";
        assert_eq!(told(&ports(0)), [what]);
        // Of 5,000 users there are half as many.
        let half = ports(2_000);
        assert_eq!((told(&half).len(), half.findings[0].limit), (1, GeneratorLimit::Descriptors));
    }

    #[test]
    fn others_that_use_cores_and_late_timers_are_told() {
        let busy = Machine { busy_cores: Some(0.5), timer_late_ms: 5.0, ..QUIET };
        let all = found(&busy, Demand::default(), true);
        assert_eq!(
            told(&all),
            [
                "others use 0.50 of this machine's 2 cores before the first trial",
                "this machine's timers ring 5.00 ms late (p99) before the first trial"
            ]
        );
        let less = Machine { busy_cores: Some(0.49), timer_late_ms: 4.9, ..QUIET };
        assert_eq!(told(&found(&less, Demand::default(), true)), [""; 0]);
    }

    #[test]
    fn an_answer_names_what_the_preflight_had_found_if_that_explains_it() {
        use GeneratorLimit::{Cores, Descriptors, Ports};
        let capped = found(&QUIET, Demand { files: 2_000, ports: 90_000 }, true);
        assert_eq!(limited(&capped, End::AtLeast, None), (End::Generator, Some(Descriptors)));
        assert_eq!(limited(&capped, End::Bracket, None), (End::Bracket, None));
        let short = found(&QUIET, Demand { files: 0, ports: 90_000 }, true);
        assert_eq!(limited(&short, End::AtLeast, None), (End::AtLeast, None));
        let busy = found(&Machine { busy_cores: Some(1.9), ..QUIET }, Demand::default(), true);
        for (preflight, cause, limit) in [
            (&short, Some(Cause::Exhausted), Some(Ports)),
            (&short, Some(Cause::Starved), None),
            (&busy, Some(Cause::Starved), Some(Cores)),
            (&busy, Some(Cause::Overloaded), None),
            (&busy, None, None),
        ] {
            assert_eq!(limited(preflight, End::Generator, cause), (End::Generator, limit), "{cause:?}");
        }
    }

    #[test]
    fn the_kernels_ticks_are_read() {
        let stat = "cpu  10 20 30 4000 500 6 7 8 100 200\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 1\n";
        let busy = |stat| ticks(stat).map(Ticks::busy);
        assert_eq!((busy(stat), busy("intr 1\n")), (Some(81), None));
    }
}
