//! A sink behind a queue: it writes on a thread of its own, so that neither a disk that hangs nor a terminal that takes
//! nothing holds up the other sinks or the run.
//!
//! What finds no room in the queue is left out, counted, and told when the run has ended.

use serde_json::Value;
use sonagi_engine::SinkThread;
use sonagi_measure::At;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, Snapshot};
use sonagi_report::figures::counted;
use sonagi_report::sink::{Sink, again};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The queue's limit: two minutes of a run, or that many lines.
const MOST_WAITING: u64 = 120 * SECOND_SIZE;
/// The size of a second in the queue.
const SECOND_SIZE: u64 = 100;
/// The size of a line or a phase in the queue.
const LINE_SIZE: u64 = 1;

/// How long what finds an empty queue is waited for.
const SETTLED: Duration = Duration::from_millis(100);

/// A sink's events, to be handed over later.
enum SinkEvent {
    Began(Box<Header>),
    Second(Box<Snapshot>),
    Phase { at: At, name: String },
    Log { at: At, user: Option<u32>, text: String },
    Printed { at: At, user: Option<u32>, text: String },
    Noted { at: At, kind: &'static str, detail: Value },
    Draining { at: At },
    Ended(Box<Summary>),
}

/// The queue's end in the run.
pub(crate) struct QueuedSink {
    name: String,
    is_record: bool,
    /// None: the run has ended.
    thread: Option<SinkThread<SinkEvent>>,
    /// The writer's error, until it is reported.
    untold: Arc<Mutex<Option<io::Error>>>,
    /// Seconds that found no room, and lines and phases.
    left_out: [u64; 2],
}

impl QueuedSink {
    /// Starts the sink's thread.
    pub(crate) fn start(sink: impl Sink + Send + 'static) -> io::Result<QueuedSink> {
        let (name, is_record) = (sink.name().to_owned(), sink.is_record());
        let untold: Arc<Mutex<Option<io::Error>>> = Arc::default();
        let writer = SinkWriter { sink, untold: Arc::clone(&untold), last: None, has_failed: false };
        let thread = Some(SinkThread::start("sink", MOST_WAITING, writer)?);
        Ok(QueuedSink { name, is_record, thread, untold, left_out: [0, 0] })
    }

    /// Queues an event; fails with the error of an earlier write.
    fn give(&mut self, event: SinkEvent, size: u64) -> io::Result<()> {
        let is_second = matches!(event, SinkEvent::Second(_));
        let is_taken = self.thread.as_mut().is_some_and(|thread| thread.give(event, size));
        self.left_out[usize::from(!is_second)] += u64::from(!is_taken);
        let untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner).take();
        untold.map_or(Ok(()), Err)
    }

    /// [`QueuedSink::give`] of what should be written when this returns; where the sink is slow, it is not.
    fn settle(&mut self, event: SinkEvent, size: u64) -> io::Result<()> {
        let was_idle = self.thread.as_ref().is_some_and(SinkThread::is_idle);
        let given = self.give(event, size);
        if let Some(thread) = self.thread.as_ref().filter(|_| was_idle) {
            thread.settle(SETTLED);
        }
        given
    }
}

impl Sink for QueuedSink {
    fn snapshot(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        // Who is shown a second finds it on the disk.
        self.settle(SinkEvent::Second(Box::new(snapshot.clone())), SECOND_SIZE)
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn is_record(&self) -> bool {
        self.is_record
    }
    fn began(&mut self, header: &Header) -> io::Result<()> {
        self.give(SinkEvent::Began(Box::new(header.clone())), LINE_SIZE)
    }
    fn phase(&mut self, at: At, name: &str) -> io::Result<()> {
        self.give(SinkEvent::Phase { at, name: name.to_owned() }, LINE_SIZE)
    }
    fn log(&mut self, at: At, user: Option<u32>, text: &str) -> io::Result<()> {
        self.give(SinkEvent::Log { at, user, text: text.to_owned() }, LINE_SIZE)
    }
    fn printed(&mut self, at: At, user: Option<u32>, text: &str) -> io::Result<()> {
        // Who prints it finds room made for it on the terminal.
        self.settle(SinkEvent::Printed { at, user, text: text.to_owned() }, LINE_SIZE)
    }
    /// Always finds room: the record is worth little without it, and there are a few.
    fn noted(&mut self, at: At, kind: &'static str, detail: &Value) -> io::Result<()> {
        self.give(SinkEvent::Noted { at, kind, detail: detail.clone() }, 0)
    }
    fn draining(&mut self, at: At) -> io::Result<()> {
        self.give(SinkEvent::Draining { at }, LINE_SIZE)
    }

    /// Waits until everything is written; fails with the last write's error, or because seconds were left out.
    fn ended(&mut self, summary: &Summary) -> io::Result<()> {
        let given = self.give(SinkEvent::Ended(Box::new(summary.clone())), 0);
        let Some(thread) = self.thread.take() else { return given };
        thread.finish()?;
        let left_out = self.left_out.into_iter().zip(["second", "line"]).filter(|(count, _)| *count > 0);
        let left_out: Vec<String> = left_out.map(|(count, what)| counted(count, what)).collect();
        if left_out.is_empty() {
            return Ok(());
        }
        Err(io::Error::other(format!("{} came faster than it could be written", left_out.join(" and "))))
    }
}

impl Drop for QueuedSink {
    fn drop(&mut self) {
        // When the run could not be carried out, its beginning is written before anybody looks.
        let _ = self.thread.take().map(SinkThread::finish);
    }
}

/// The sink on its thread. It is called again after an error: a disk that was full for a minute may have room again.
struct SinkWriter<S> {
    sink: S,
    untold: Arc<Mutex<Option<io::Error>>>,
    last: Option<io::Error>,
    has_failed: bool,
}

impl<S: Sink + Send + 'static> sonagi_engine::Sink<SinkEvent> for SinkWriter<S> {
    fn write(&mut self, event: SinkEvent) -> io::Result<()> {
        let sink = &mut self.sink;
        let written = match event {
            SinkEvent::Began(header) => sink.began(&header),
            SinkEvent::Second(snapshot) => sink.snapshot(&snapshot),
            SinkEvent::Phase { at, name } => sink.phase(at, &name),
            SinkEvent::Log { at, user, text } => sink.log(at, user, &text),
            SinkEvent::Printed { at, user, text } => sink.printed(at, user, &text),
            SinkEvent::Noted { at, kind, detail } => sink.noted(at, kind, &detail),
            SinkEvent::Draining { at } => sink.draining(at),
            SinkEvent::Ended(summary) => sink.ended(&summary),
        };
        self.last = written.err();
        if let Some(error) = self.last.as_ref().filter(|_| !self.has_failed) {
            self.has_failed = true;
            *self.untold.lock().unwrap_or_else(PoisonError::into_inner) = Some(again(error));
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        self.last.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sonagi_measure::ledger::Rules;
    use sonagi_measure::metrics::{MetricStore, Registry};
    use sonagi_measure::totals::Totals;
    use sonagi_report::sink::Live;
    use std::sync::mpsc::{Receiver, Sender, channel};

    fn summary() -> Summary {
        let store = MetricStore::new(Arc::new(Registry::new(&[])));
        Totals::new(&Header::default(), Rules::default(), store).summary()
    }

    /// Counts the seconds it writes, once it may write.
    struct Stuck {
        may: Receiver<()>,
        seconds: Arc<Mutex<u64>>,
    }

    impl Sink for Stuck {
        fn snapshot(&mut self, _: &Snapshot) -> io::Result<()> {
            // The end of the test lets it go on.
            let _ = self.may.recv();
            *self.seconds.lock().unwrap() += 1;
            Ok(())
        }
    }

    #[test]
    fn a_sink_that_is_stuck_holds_nobody_up_and_lacks_what_found_no_room() {
        let (go, may) = channel();
        let seconds: Arc<Mutex<u64>> = Arc::default();
        let mut queued = QueuedSink::start(Stuck { may, seconds: Arc::clone(&seconds) }).unwrap();
        for _ in 0..125 {
            queued.snapshot(&Snapshot::default()).unwrap();
        }
        drop(go);
        let why = queued.ended(&summary()).unwrap_err().to_string();
        assert_eq!(why, "5 seconds came faster than it could be written");
        assert_eq!(*seconds.lock().unwrap(), 120);
    }

    /// A terminal that takes nothing, until its test ends.
    struct Paused(Receiver<()>);

    impl io::Write for Paused {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_that_takes_nothing_holds_nobody_up_and_what_the_live_line_lacks_is_told() {
        let (go, may) = channel::<()>();
        let mut live = QueuedSink::start(Live::redrawn(Paused(may), 80)).unwrap();
        for _ in 0..121 {
            live.snapshot(&Snapshot::default()).unwrap();
        }
        for _ in 0..2 {
            live.printed(At(0), None, "hello").unwrap();
        }
        drop(go);
        let why = live.ended(&summary()).unwrap_err().to_string();
        assert_eq!(why, "1 second and 2 lines came faster than it could be written");
    }

    /// Its disk is full for the first second; then its sender is gone.
    struct Full(Option<Sender<()>>);

    impl Sink for Full {
        fn snapshot(&mut self, _: &Snapshot) -> io::Result<()> {
            match self.0.take() {
                Some(_) => Err(io::Error::from(io::ErrorKind::StorageFull)),
                None => Ok(()),
            }
        }
    }

    #[test]
    fn a_failure_is_told_once_and_forgotten_when_there_is_room_again() {
        let (failing, failed) = channel();
        let mut queued = QueuedSink::start(Full(Some(failing))).unwrap();
        // Its thread may have written before the call looks for a failure.
        let at_once = queued.snapshot(&Snapshot::default()).err();
        assert!(failed.recv().is_err(), "the first second has failed");
        let later = std::iter::repeat_with(|| {
            std::thread::yield_now();
            queued.draining(At(0)).err()
        });
        let told = std::iter::once(at_once).chain(later);
        assert_eq!(told.flatten().next().unwrap().kind(), io::ErrorKind::StorageFull);
        queued.snapshot(&Snapshot::default()).unwrap();
        queued.ended(&summary()).unwrap();
    }
}
