//! A sink behind a queue: it writes on a thread of its own, so that neither a disk that hangs nor a terminal that takes
//! nothing holds up the other sinks or the run.
//!
//! What finds no room in the queue is left out, counted, and told when the run has ended.

use sonagi_engine::SinkThread;
use sonagi_report::figures::counted;
use sonagi_report::sink::{Sink, SinkEvent, again};
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
        let writer = SinkWriter { sink, untold: Arc::clone(&untold), last: None };
        let thread = Some(SinkThread::start("sink", MOST_WAITING, writer)?);
        Ok(QueuedSink { name, is_record, thread, untold, left_out: [0, 0] })
    }

    /// Queues an event; fails with the error of an earlier write.
    fn give(&mut self, event: &SinkEvent) -> io::Result<()> {
        let size = match event {
            SinkEvent::Second(_) => SECOND_SIZE,
            // Always find room: the record is worth little without them, and there are a few.
            SinkEvent::Noted { .. } | SinkEvent::Ended(_) => 0,
            _ => LINE_SIZE,
        };
        let is_taken = self.thread.as_mut().is_some_and(|thread| thread.give(event.clone(), size));
        self.left_out[usize::from(!matches!(event, SinkEvent::Second(_)))] += u64::from(!is_taken);
        let untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner).take();
        untold.map_or(Ok(()), Err)
    }

    /// Waits until everything is written; fails with the last write's error, or because something was left out.
    fn finish(&mut self, thread: SinkThread<SinkEvent>) -> io::Result<()> {
        thread.finish()?;
        let left_out = self.left_out.into_iter().zip(["second", "line"]).filter(|(count, _)| *count > 0);
        let left_out: Vec<String> = left_out.map(|(count, what)| counted(count, what)).collect();
        if left_out.is_empty() {
            return Ok(());
        }
        Err(io::Error::other(format!("{} came faster than it could be written", left_out.join(" and "))))
    }
}

impl Sink for QueuedSink {
    fn name(&self) -> &str {
        &self.name
    }
    fn is_record(&self) -> bool {
        self.is_record
    }
    fn event(&mut self, event: &SinkEvent) -> io::Result<()> {
        let was_idle = self.thread.as_ref().is_some_and(SinkThread::is_idle);
        let given = self.give(event);
        match event {
            SinkEvent::Ended(_) => self.thread.take().map_or(given, |thread| self.finish(thread)),
            // Who is shown a second finds it on the disk, and who prints a line room made for it on the terminal: where
            // the sink is not slow.
            SinkEvent::Second(_) | SinkEvent::Line { is_printed: true, .. } if was_idle => {
                self.thread.iter().for_each(|thread| thread.settle(SETTLED));
                given
            }
            _ => given,
        }
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
}

impl<S: Sink + Send + 'static> sonagi_engine::Sink<SinkEvent> for SinkWriter<S> {
    fn write(&mut self, event: SinkEvent) -> io::Result<()> {
        self.last = self.sink.event(&event).err();
        if let Some(error) = &self.last {
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
    use sonagi_measure::At;
    use sonagi_measure::ledger::Rules;
    use sonagi_measure::metrics::{MetricStore, Registry};
    use sonagi_measure::totals::{Header, Snapshot, Totals};
    use sonagi_report::sink::Live;
    use std::sync::mpsc::{Receiver, Sender, channel};

    fn second() -> SinkEvent {
        SinkEvent::Second(Arc::new(Snapshot::default()))
    }

    fn end() -> SinkEvent {
        let store = MetricStore::new(Arc::new(Registry::new(&[])));
        SinkEvent::Ended(Arc::new(Totals::new(&Header::default(), Rules::default(), store).summary()))
    }

    /// Counts the seconds it writes, once it may write.
    struct Stuck {
        may: Receiver<()>,
        seconds: Arc<Mutex<u64>>,
    }

    impl Sink for Stuck {
        fn event(&mut self, event: &SinkEvent) -> io::Result<()> {
            if matches!(event, SinkEvent::Second(_)) {
                // The end of the test lets it go on.
                let _ = self.may.recv();
                *self.seconds.lock().unwrap() += 1;
            }
            Ok(())
        }
    }

    #[test]
    fn a_sink_that_is_stuck_holds_nobody_up_and_lacks_what_found_no_room() {
        let (go, may) = channel();
        let seconds: Arc<Mutex<u64>> = Arc::default();
        let mut queued = QueuedSink::start(Stuck { may, seconds: Arc::clone(&seconds) }).unwrap();
        for _ in 0..125 {
            queued.event(&second()).unwrap();
        }
        drop(go);
        let why = queued.event(&end()).unwrap_err().to_string();
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
            live.event(&second()).unwrap();
        }
        for _ in 0..2 {
            let (at, user, text) = (At(0), None, "hello".into());
            live.event(&SinkEvent::Line { at, user, text, is_printed: true }).unwrap();
        }
        drop(go);
        let why = live.event(&end()).unwrap_err().to_string();
        assert_eq!(why, "1 second and 2 lines came faster than it could be written");
    }

    /// Its disk is full for the first second; then its sender is gone.
    struct Full(Option<Sender<()>>);

    impl Sink for Full {
        fn event(&mut self, _: &SinkEvent) -> io::Result<()> {
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
        let at_once = queued.event(&second()).err();
        assert!(failed.recv().is_err(), "the first second has failed");
        let later = std::iter::repeat_with(|| {
            std::thread::yield_now();
            queued.event(&SinkEvent::Draining { at: At(0) }).err()
        });
        let told = std::iter::once(at_once).chain(later);
        assert_eq!(told.flatten().next().unwrap().kind(), io::ErrorKind::StorageFull);
        queued.event(&second()).unwrap();
        queued.event(&end()).unwrap();
    }
}
