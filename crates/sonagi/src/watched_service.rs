//! The service started for a run: the reference service or one of the script's own, its usage read once a second.
//!
//! Its usage is read from the kernel's accounts of its processes, which costs it nothing. The one decision a
//! reader would question: it is read when a second of the run is over, by our clock, and not by a thread of its own. A
//! second that is handled late is longer, and its share is of that longer time.

use crate::error::Error;
use crate::launch::Wish;
use crate::load::ScriptRun;
use serde_json::Value;
use sonagi_lab::{Lateness, Launched};
use sonagi_measure::folder::redact;
use sonagi_measure::summary::{self, Summary};
use sonagi_measure::totals::Snapshot;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// Shorter intervals are not measured: the kernel counts CPU time in hundredths of a second.
const SHORTEST: Duration = Duration::from_millis(500);

/// How long it may take until the end of a service is told, and how often it is looked for.
const END_IS_TOLD: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(20);

/// The file of a run folder that holds what the run's service printed.
pub(crate) const SERVICE_LOG: &str = "service.log";

/// A running service and its usage since its run began.
pub(crate) struct WatchedService {
    launched: Launched,
    wish: Wish,
    seen: summary::Service,
    /// The cores from which on it is full.
    cores: f64,
    first: Duration,
    last: (Instant, Duration),
    /// Most memory resident so far.
    resident_peak: u64,
    /// Processes that its memory limit had killed before the run.
    killed_before: u64,
    /// How often the network before it had nothing left for a connection before the run.
    exhausted_before: u64,
    /// Whether what it prints is written into a folder.
    is_logged: bool,
}

impl WatchedService {
    /// Starts the service that a run wants, and waits until it is ready or somebody asks to stop. None: it wants none.
    pub(crate) fn of(
        job: &ScriptRun,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<WatchedService>, Error> {
        job.service.as_ref().map(|wish| WatchedService::launch(wish, is_stopped)).transpose()
    }

    /// Starts the service of this wish and waits until it is ready.
    pub(crate) fn launch(wish: &Wish, is_stopped: &dyn Fn() -> bool) -> Result<WatchedService, Error> {
        let launched = wish.start(is_stopped)?;
        let wish = match launched.told_address() {
            Some(address) => wish.clone().at(address),
            None => wish.clone(),
        };
        // Threads that the reference service was told to serve with.
        let told = wish.options().and_then(workers);
        let cores = told.unwrap_or(machine_cores()) as f64;
        let cores = wish.cores().map_or(cores, |limit| limit.min(cores));
        let own = || vec![wish.command().to_owned()];
        let seen = summary::Service {
            arguments: masked(wish.options().map_or_else(own, <[String]>::to_vec)),
            workers: told.unwrap_or(cores.ceil() as u64),
            machine_cores: machine_cores(),
            ..summary::Service::default()
        };
        Ok(WatchedService::new(launched, wish, seen, cores))
    }

    fn new(launched: Launched, wish: Wish, seen: summary::Service, cores: f64) -> WatchedService {
        let (first, last) = (Duration::ZERO, (Instant::now(), Duration::ZERO));
        let mut watched = WatchedService {
            launched,
            wish,
            seen,
            cores,
            first,
            last,
            resident_peak: 0,
            killed_before: 0,
            exhausted_before: 0,
            is_logged: false,
        };
        let cpu = watched.cpu().unwrap_or_default();
        (watched.first, watched.last.1) = (cpu, cpu);
        watched
    }

    /// The target that the load goes to, if it is not the script's own: where the service said that it listens, or what
    /// is in front of it.
    pub(crate) fn url(&self) -> Option<String> {
        match self.launched.address() {
            Some(front) => self.wish.target_at(front),
            None => self.launched.told_address().and(self.wish.target()).map(str::to_owned),
        }
    }

    /// The target that the load goes to, also where that is the script's own.
    pub(crate) fn target(&self) -> Option<String> {
        self.url().or_else(|| self.wish.target().map(str::to_owned))
    }

    /// The service's own address, where the load goes to something in front of it.
    pub(crate) fn own_target(&self) -> Option<String> {
        self.launched.address().and(self.wish.target()).map(str::to_owned)
    }

    /// The service's first process, if it is ours: what listens may be only the last of many.
    pub(crate) fn first_process(&self) -> Option<i32> {
        self.launched.process()
    }

    /// The service's port and the address in front of it, if there is one.
    pub(crate) fn proxy(&self) -> Option<(u16, SocketAddr)> {
        self.launched.port().zip(self.launched.address())
    }

    /// How late the network before the service is itself, if there is one.
    pub(crate) fn network_lateness(&self) -> Option<Lateness> {
        self.launched.network_lateness()
    }

    /// Writes what the service prints into this folder, unless it is written into one already.
    pub(crate) fn log_in(&mut self, folder: &Path) {
        if !std::mem::replace(&mut self.is_logged, true) {
            self.launched.log_to(&folder.join(SERVICE_LOG));
        }
    }

    /// A run begins against a service that outlives it: its usage is counted from now on. The peak of the reference
    /// service's memory is the kernel's, and that of its whole life.
    pub(crate) fn begin_run(&mut self) {
        self.resident_peak = 0;
        (self.killed_before, self.exhausted_before) =
            (self.launched.memory_kills(), self.launched.exhausted());
        let summary::Service { arguments, workers, machine_cores, ended, .. } =
            std::mem::take(&mut self.seen);
        self.seen =
            summary::Service { arguments, workers, machine_cores, ended, ..summary::Service::default() };
        let cpu = self.cpu().unwrap_or(self.last.1);
        (self.first, self.last) = (cpu, (Instant::now(), cpu));
    }

    /// Its usage in the run that is over, of a service that goes on; None of one that runs already and is not ours.
    pub(crate) fn used_in_run(&mut self, run: &Summary) -> Option<summary::Service> {
        self.look(0, 0);
        // Failures may come of its end, which whoever keeps it tells a moment later.
        let has_failed = run.operations.iter().any(|operation| operation.failed > 0);
        let until = Instant::now() + END_IS_TOLD;
        while has_failed && self.seen.ended.is_none() && Instant::now() < until {
            std::thread::sleep(LOOK);
            self.seen.ended = self.launched.has_ended();
        }
        self.launched.is_ours().then(|| self.seen.clone())
    }

    /// Reads the usage at the end of a second of the run.
    pub(crate) fn second(&mut self, snapshot: &Snapshot) {
        self.look(snapshot.interval_ns, snapshot.shards.iter().map(|shard| shard.cpu_ns).sum());
    }

    /// Ends the service with the run, or gives one that runs already its own settings back. Returns its usage, None of
    /// one that is not ours, and what went wrong around its end, to be told. `is_hurried` says when there is no time
    /// any more for its grace, or for one that runs already to be ready again.
    #[must_use = "what went wrong is to be told"]
    pub(crate) fn end(mut self, is_hurried: &dyn Fn() -> bool) -> (Option<summary::Service>, Vec<Error>) {
        // Another one's processes are the target's to watch.
        let is_ours = self.launched.is_ours();
        self.look(0, 0);
        if let Some(how) = self.launched.has_ended() {
            self.seen.ended = Some(how);
        }
        let troubles = self.launched.end(is_hurried);
        (is_ours.then_some(self.seen), troubles.into_iter().map(Error::could_not).collect())
    }

    /// The CPU time that it has used so far, for which its memory is looked at as well; None: it cannot be read.
    fn cpu(&mut self) -> Option<Duration> {
        let used = self.launched.used()?;
        // The reference service is a single process: the kernel knows its peak, between looks too.
        let peak = if self.wish.options().is_some() { self.launched.first_process_peak() } else { None };
        self.resident_peak = self.resident_peak.max(peak.unwrap_or(used.resident));
        Some(used.cpu)
    }

    /// Reads the service's usage so far. `interval_ns` 0: the generator's interval is unknown.
    fn look(&mut self, interval_ns: i64, generator_ns: u64) {
        self.seen.exhausted = self.launched.exhausted().saturating_sub(self.exhausted_before);
        self.seen.network_late_s = self.network_lateness().map_or(0, |lateness| lateness.late_s());
        if self.seen.ended.is_some() {
            return;
        }
        self.seen.ended = self.launched.has_ended();
        let killed = self.launched.memory_kills().saturating_sub(self.killed_before);
        self.seen.memory_kills = self.seen.memory_kills.max(killed);
        let Some(cpu) = self.cpu() else { return };
        self.seen.cpu_s = cpu.saturating_sub(self.first).as_secs_f64();
        self.seen.resident_peak_mb = (self.resident_peak as f64 / 1e5).round() / 10.0;
        let (since, before) = self.last;
        let passed = since.elapsed();
        if passed < SHORTEST {
            return;
        }
        self.last = (Instant::now(), cpu);
        let cores = cpu.saturating_sub(before).as_secs_f64() / passed.as_secs_f64();
        let generator = if interval_ns > 0 { generator_ns as f64 / interval_ns as f64 } else { 0.0 };
        count(&mut self.seen, self.cores, cores, generator);
    }
}

/// What a service was started with, for run folders and summaries: without the passwords in it.
fn masked(arguments: Vec<String>) -> Vec<String> {
    let word = |word: &str| match word.split_once(':').filter(|_| word.starts_with("--account=")) {
        Some((email, _)) => format!("{email}:***"),
        None => {
            let mut value = Value::from(word);
            redact(&mut value);
            value.as_str().unwrap_or_default().to_owned()
        }
    };
    let argument = |text: String| text.split(' ').map(word).collect::<Vec<_>>().join(" ");
    arguments.into_iter().map(argument).collect()
}

fn machine_cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// Counts an interval in which the service used `cores` of the `full` ones that it may, and the generator `generator`.
fn count(seen: &mut summary::Service, full: f64, cores: f64, generator: f64) {
    let is_full = |used: f64, of: f64| used >= summary::FULL_SHARE * of;
    seen.busiest_cores = seen.busiest_cores.max((cores * 100.0).round() / 100.0);
    seen.full_s += u64::from(is_full(cores, full));
    seen.machine_full_s += u64::from(is_full(cores + generator, seen.machine_cores as f64));
}

/// The value of `--workers=N`.
fn workers(arguments: &[String]) -> Option<u64> {
    arguments.iter().find_map(|argument| argument.strip_prefix("--workers=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_full_by_its_workers_and_a_machine_by_both_sides() {
        let mut seen = summary::Service { workers: 1, machine_cores: 2, ..summary::Service::default() };
        for (cores, generator, full, machine) in
            [(0.94, 0.9, 0, 0), (0.95, 0.9, 1, 0), (0.3, 1.6, 1, 1), (1.02, 0.0, 2, 1)]
        {
            count(&mut seen, 1.0, cores, generator);
            assert_eq!((seen.full_s, seen.machine_full_s), (full, machine), "{cores} and {generator}");
        }
        assert_eq!(seen.busiest_cores, 1.02);
    }

    #[test]
    fn no_password_is_told_of_what_a_service_was_started_with() {
        let given = ["--store=postgres://u:planted@db/chat", "--account=ann@x:planted", "--workers=2"];
        let told = masked(given.map(str::to_owned).to_vec());
        assert!(!told.concat().contains("planted") && told[0].contains("@db/chat"), "{told:?}");
        assert_eq!(told[1..], ["--account=ann@x:***", "--workers=2"]);
        let command = masked(vec!["node main.js --db postgres://u:planted@db --port 3000".to_owned()]);
        assert!(!command[0].contains("planted") && command[0].ends_with(" --port 3000"), "{command:?}");
    }

    #[test]
    fn workers_are_those_the_options_name() {
        let named =
            |options: &[&str]| workers(&options.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["--gather=0ms", "--workers=3"]), Some(3));
        assert_eq!(named(&["--gather=0ms"]), None);
    }
}
