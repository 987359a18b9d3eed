//! Sinks on threads of their own: whoever gives them something never waits, however slow the disk behind them is.
//!
//! A bounded queue before a sink. Items that find no room are left out as a whole and counted, so that the owner can
//! report them.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A destination for items.
pub trait Sink<T>: Send + 'static {
    /// Writes one thing; what it wrote before is written.
    ///
    /// # Errors
    /// When it cannot be written: nothing more is given to it.
    fn write(&mut self, given: T) -> io::Result<()>;

    /// Nothing comes any more.
    ///
    /// # Errors
    /// When what is left cannot be written.
    fn finish(self) -> io::Result<()>;
}

/// A sink on a thread of its own.
#[derive(Debug)]
pub struct SinkThread<T> {
    queue: Sender<(T, u64)>,
    waiting: Arc<Waiting>,
    /// How much may wait.
    most: u64,
    left_out: u64,
    thread: JoinHandle<io::Result<()>>,
}

/// How much waits for a sink, what it writes at the moment included.
#[derive(Debug, Default)]
struct Waiting {
    size: Mutex<u64>,
    written: Condvar,
}

impl Waiting {
    fn size(&self) -> MutexGuard<'_, u64> {
        self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> SinkThread<T> {
    /// Starts the thread; it ends when the sink does. As much as `most` may wait for it, in the unit of
    /// [`SinkThread::give`].
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(name: &str, most: u64, sink: impl Sink<T>) -> io::Result<SinkThread<T>> {
        let (queue, given) = channel();
        let waiting = Arc::new(Waiting::default());
        let written = Arc::clone(&waiting);
        let thread = std::thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || write(sink, &given, &written))?;
        Ok(SinkThread { queue, waiting, most, left_out: 0, thread })
    }

    /// Hands something over that counts as `size`, if there is room for it, and says whether there was; never waits. A
    /// sink for which nothing waits takes anything.
    pub fn give(&mut self, given: T, size: u64) -> bool {
        let mut waiting = self.waiting.size();
        if *waiting > 0 && *waiting + size > self.most {
            self.left_out += size;
            return false;
        }
        *waiting += size;
        drop(waiting);
        // A sink that has failed takes no more: its end says why.
        let _ = self.queue.send((given, size));
        true
    }

    /// Whether nothing waits for it.
    pub fn is_idle(&self) -> bool {
        *self.waiting.size() == 0
    }

    /// Waits until nothing waits for it any more, but not longer than this.
    pub fn settle(&self, limit: Duration) {
        let settled = self.waiting.written.wait_timeout_while(self.waiting.size(), limit, |size| *size > 0);
        drop(settled);
    }

    /// How much found no room so far.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether it cannot be written any more; [`SinkThread::finish`] says why.
    pub fn has_failed(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until all that it was given is written.
    ///
    /// # Errors
    /// Why not all of it is.
    pub fn finish(self) -> io::Result<()> {
        drop(self.queue);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread broke")))
    }
}

fn write<T>(mut sink: impl Sink<T>, given: &Receiver<(T, u64)>, waiting: &Waiting) -> io::Result<()> {
    for (given, size) in given {
        sink.write(given)?;
        *waiting.size() -= size;
        waiting.written.notify_all();
    }
    sink.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what it gets, once it may.
    struct Slow {
        may: Receiver<()>,
        written: Arc<Mutex<Vec<u64>>>,
        is_full: bool,
    }

    impl Sink<u64> for Slow {
        fn write(&mut self, given: u64) -> io::Result<()> {
            // An end of the test lets it go on.
            let _ = self.may.recv();
            if self.is_full {
                return Err(io::Error::other("full"));
            }
            self.written.lock().unwrap().push(given);
            Ok(())
        }

        fn finish(self) -> io::Result<()> {
            self.written.lock().unwrap().push(0);
            Ok(())
        }
    }

    fn slow(most: u64, is_full: bool) -> (SinkThread<u64>, Sender<()>, Arc<Mutex<Vec<u64>>>) {
        let (go, may) = channel();
        let written = Arc::default();
        let sink = Slow { may, written: Arc::clone(&written), is_full };
        (SinkThread::start("slow", most, sink).unwrap(), go, written)
    }

    #[test]
    fn what_finds_no_room_is_left_out_and_counted_and_nobody_waits() {
        let (mut sink, go, written) = slow(10, false);
        let taken: Vec<bool> = (1..=4).map(|given| sink.give(given, 4)).collect();
        assert_eq!(taken, [true, true, false, false]);
        assert_eq!(sink.left_out(), 8);
        drop(go);
        sink.finish().unwrap();
        assert_eq!(*written.lock().unwrap(), [1, 2, 0]);
    }

    #[test]
    fn a_sink_for_which_nothing_waits_takes_anything() {
        let (mut sink, go, written) = slow(10, false);
        sink.give(1, 1000);
        sink.give(2, 1);
        assert_eq!(sink.left_out(), 1);
        drop(go);
        sink.finish().unwrap();
        assert_eq!(*written.lock().unwrap(), [1, 0]);
    }

    #[test]
    fn a_sink_that_cannot_be_written_takes_no_more_and_says_why_at_its_end() {
        let (mut sink, go, _) = slow(10, true);
        sink.give(1, 1);
        drop(go);
        while !sink.has_failed() {
            std::thread::yield_now();
        }
        sink.give(2, 1);
        assert_eq!(sink.finish().unwrap_err().to_string(), "full");
    }
}
