//! The service started for a run: a child process that is the run's target, its usage read once a second.
//!
//! Its usage is read from the kernel's accounts of the process (`/proc`), which costs it nothing. The one decision a
//! reader would question: it is read when a second of the run is over, by our clock, and not by a thread of its own. A
//! second that is handled late is longer, and its share is of that longer time.

use crate::error::Error;
use crate::service::Service;
use sonagi_artillery::Serve;
use sonagi_measure::summary;
use sonagi_measure::totals::Snapshot;
use std::time::{Duration, Instant};

/// Shorter intervals are not measured: the kernel counts CPU time in hundredths of a second.
const SHORTEST: Duration = Duration::from_millis(500);

/// A running service and its usage since its run began.
pub(crate) struct WatchedService {
    service: Service,
    seen: summary::Service,
    first: Duration,
    last: (Instant, Duration),
}

impl WatchedService {
    /// Starts the service and waits until it answers.
    pub(crate) fn start(serve: &Serve) -> Result<WatchedService, Error> {
        let mut arguments = ["serve", "--listen", "127.0.0.1:0", "--stop-on-eof"].map(String::from).to_vec();
        if !serve.arguments.iter().any(|argument| argument.starts_with("--grace")) {
            arguments.push("--grace=0s".to_owned());
        }
        arguments.extend(serve.arguments.iter().cloned());
        let mut service = Service::start(&arguments)?;
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let seen = summary::Service {
            arguments: serve.arguments.clone(),
            workers: workers(&serve.arguments).unwrap_or(cores),
            machine_cores: cores,
            ..summary::Service::default()
        };
        let cpu = service.used().map_or(Duration::ZERO, |used| used.cpu);
        Ok(WatchedService { service, seen, first: cpu, last: (Instant::now(), cpu) })
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        self.service.url()
    }

    /// Reads the usage at the end of a second of the run.
    pub(crate) fn second(&mut self, snapshot: &Snapshot) {
        self.look(snapshot.interval_ns, snapshot.shards.iter().map(|shard| shard.cpu_ns).sum());
    }

    /// Ends the service with the run and returns its usage.
    pub(crate) fn end(mut self) -> summary::Service {
        self.look(0, 0);
        if let Some(how) = self.service.has_ended() {
            self.seen.ended = Some(how);
        }
        self.service.end();
        self.seen
    }

    /// Reads the service's usage so far. `interval_ns` 0: the generator's interval is unknown.
    fn look(&mut self, interval_ns: i64, generator_ns: u64) {
        if self.seen.ended.is_some() {
            return;
        }
        let Some(used) = self.service.used() else {
            self.seen.ended = self.service.has_ended();
            return;
        };
        self.seen.cpu_s = used.cpu.saturating_sub(self.first).as_secs_f64();
        self.seen.resident_peak_mb = (used.resident_peak as f64 / 1e5).round() / 10.0;
        let (since, before) = self.last;
        let passed = since.elapsed();
        if passed < SHORTEST {
            return;
        }
        self.last = (Instant::now(), used.cpu);
        let cores = used.cpu.saturating_sub(before).as_secs_f64() / passed.as_secs_f64();
        let generator = if interval_ns > 0 { generator_ns as f64 / interval_ns as f64 } else { 0.0 };
        count(&mut self.seen, cores, generator);
    }
}

/// Counts an interval in which the service used `cores`, and the generator `generator`.
fn count(seen: &mut summary::Service, cores: f64, generator: f64) {
    let is_full = |used: f64, of: u64| used >= summary::FULL_SHARE * of as f64;
    seen.busiest_cores = seen.busiest_cores.max((cores * 100.0).round() / 100.0);
    seen.full_s += u64::from(is_full(cores, seen.workers));
    seen.machine_full_s += u64::from(is_full(cores + generator, seen.machine_cores));
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
            count(&mut seen, cores, generator);
            assert_eq!((seen.full_s, seen.machine_full_s), (full, machine), "{cores} and {generator}");
        }
        assert_eq!(seen.busiest_cores, 1.02);
    }

    #[test]
    fn workers_are_those_the_options_name() {
        let named =
            |options: &[&str]| workers(&options.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["--gather=0ms", "--workers=3"]), Some(3));
        assert_eq!(named(&["--gather=0ms"]), None);
    }
}
