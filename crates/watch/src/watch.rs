//! Probes at work: a thread each, a look a second, and what they saw, taken by the run's collector.

use crate::observations::Observations;
use crate::probe::{Memory, Note, Probe, Readings};
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};
use sonagi_measure::At;
use sonagi_measure::metrics::{Interval, Registry};
use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a probe looks.
const EVERY: Duration = Duration::from_secs(1);
/// The priority of probes where the system lets us have it: a machine under load must not blind them.
const NICE: i32 = -5;
/// How long the end of a run waits for probes that are in the middle of a look.
const PATIENCE: Duration = Duration::from_secs(2);
/// Notes that wait to be taken, at most.
const NOTES_MAX: usize = 1_000;

/// Probes that look once a second until this is dropped.
pub struct Watch {
    probes: Vec<Running>,
}

/// What probes saw since it was last taken.
#[derive(Debug, Default)]
pub struct Taken {
    /// Metrics.
    pub interval: Interval,
    /// What is to be told.
    pub notes: Vec<Note>,
}

struct Running {
    seen: Arc<Mutex<Seen>>,
    /// Dropped, it ends the thread.
    stop: Option<SyncSender<()>>,
    /// Disconnected when the thread has ended.
    ended: Receiver<Infallible>,
}

struct Seen {
    observations: Observations,
    notes: Vec<Note>,
}

impl Watch {
    /// Starts the probes. Their metrics go into the run's registry; instants count from its epoch.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(probes: Vec<Box<dyn Probe>>, registry: &Arc<Registry>, epoch: Instant) -> io::Result<Watch> {
        let count = probes.len() as u32;
        let turn = |index: u32| Turn { epoch, phase: EVERY * (2 * index + 1) / (2 * count) };
        let running =
            probes.into_iter().zip(0..).map(|(probe, index)| Running::start(probe, turn(index), registry));
        Ok(Watch { probes: running.collect::<io::Result<_>>()? })
    }

    /// What was seen since the last time.
    pub fn take(&self) -> Taken {
        let mut all = Taken::default();
        let mut intervals = Vec::with_capacity(self.probes.len());
        for probe in &self.probes {
            let mut seen = locked(&probe.seen);
            intervals.push(seen.observations.take());
            all.notes.append(&mut seen.notes);
        }
        all.interval = Interval::merged(intervals);
        all.notes.sort_by_key(|note| note.at);
        all
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for probe in &mut self.probes {
            probe.stop = None;
        }
        let until = Instant::now() + PATIENCE;
        for probe in &self.probes {
            // One that hangs in a look is left behind: it holds nothing that anybody waits for.
            let _ = probe.ended.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}

impl Running {
    /// Starts a probe that looks at once, for what was before the load, and in its turn from then on.
    fn start(mut probe: Box<dyn Probe>, turn: Turn, registry: &Arc<Registry>) -> io::Result<Running> {
        let observations = Observations::new(registry);
        let seen = Arc::new(Mutex::new(Seen { observations, notes: Vec::new() }));
        let into = Arc::clone(&seen);
        let (stop, stopped) = sync_channel::<()>(0);
        let (ending, ended) = sync_channel::<Infallible>(0);
        let name = format!("watch {}", probe.subject());
        std::thread::Builder::new().name(name.chars().take(15).collect()).spawn(move || {
            // Refused to all but root: it looks at the usual priority.
            let _ = setpriority_process(Some(gettid()), NICE);
            let mut memory = Memory::default();
            // What is counted between two looks is told by the second of them: they are not too near to one another.
            let mut after = Instant::now() + EVERY / 2;
            loop {
                look(&mut *probe, &mut memory, &into, turn.epoch);
                let due = turn.next(after.max(Instant::now()));
                after = due;
                match stopped.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            probe.leave();
            // What the probe has started, such as a shell on another machine, ends before the thread counts as ended.
            drop(probe);
            drop(ending);
        })?;
        Ok(Running { seen, stop: Some(stop), ended })
    }
}

/// When in each second of the run a probe looks: several do not look at the same instant, and one alone looks half a
/// second away from the end of a second, when the run's collector is at work.
#[derive(Clone, Copy, Debug)]
struct Turn {
    epoch: Instant,
    phase: Duration,
}

impl Turn {
    /// The first turn after an instant.
    fn next(self, after: Instant) -> Instant {
        let first = self.epoch + self.phase;
        let past = after.saturating_duration_since(first);
        if after < first { first } else { first + EVERY * (past.as_secs() as u32 + 1) }
    }
}

/// One look. Nobody waits for it: it is handed over when it is done.
fn look(probe: &mut dyn Probe, memory: &mut Memory, into: &Mutex<Seen>, epoch: Instant) {
    let (subject, tags) = (probe.subject(), probe.tags());
    let at = At(epoch.elapsed().as_nanos() as i64);
    let (began, cpu) = (Instant::now(), thread_cpu());
    let mut readings = Readings::new(at, (&subject, &tags), memory);
    if let Err(unread) = probe.look(&mut readings) {
        readings.not_measured("it is", &unread);
    }
    let looked = readings.end(began.elapsed(), thread_cpu().saturating_sub(cpu));
    let mut seen = locked(into);
    seen.observations.add(looked.observations, at);
    let room = NOTES_MAX.saturating_sub(seen.notes.len());
    seen.notes.extend(looked.notes.into_iter().take(room));
}

/// The CPU time that this thread has used so far.
pub(crate) fn thread_cpu() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

fn locked(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_comes_once_a_second_of_the_run_whenever_it_is_asked_for() {
        let epoch = Instant::now();
        let turn = Turn { epoch, phase: Duration::from_millis(750) };
        let next = |ms| turn.next(epoch + Duration::from_millis(ms)).duration_since(epoch).as_millis();
        assert_eq!(
            [0, 749, 750, 751, 1_749, 1_750, 9_000].map(next),
            [750, 750, 1_750, 1_750, 1_750, 2_750, 9_750]
        );
    }
}
