//! Lines on their way from threads to the collector: a thread that speaks never waits for who listens.
//!
//! Two limits hold. So many lines a second of one thread, where the dialect says so; and so many bytes over all threads
//! that the collector has not taken yet, whoever speaks. What goes over either is left out, and a line says so.

use std::cell::Cell;
use std::cmp::Ordering::{Equal, Greater, Less};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::event::{Level, LogLine};

/// Bytes of lines that may wait for the collector, over all threads.
const MAX_WAITING_BYTES: u64 = 16 << 20;

/// The bytes counted for a line beside its text.
const LINE_BYTES: u64 = size_of::<LogLine>() as u64;

/// The lines waiting for the collector, over all threads of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    bytes: AtomicU64,
    left_out: AtomicU64,
}

impl Waiting {
    /// Whether there is room for one more; it is left out else, and counted.
    fn admits(&self, line: &LogLine) -> bool {
        let size = size(line);
        if self.0.bytes.fetch_add(size, Relaxed) + size <= MAX_WAITING_BYTES {
            return true;
        }
        self.0.bytes.fetch_sub(size, Relaxed);
        self.0.left_out.fetch_add(1, Relaxed);
        false
    }

    /// The collector has taken a line.
    pub(crate) fn taken(&self, line: &LogLine) {
        self.0.bytes.fetch_sub(size(line), Relaxed);
    }

    /// The message about lines left out since the last call.
    pub(crate) fn take_left_out(&self) -> Option<LogLine> {
        let count = self.0.left_out.swap(0, Relaxed);
        let text = (count > 0).then(|| {
            format!("{count} lines of the log came faster than they could be written and are left out")
        });
        text.map(|text| LogLine::new(Level::Warn, text))
    }
}

fn size(line: &LogLine) -> u64 {
    let fields: usize = line.fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    LINE_BYTES + (line.text.len() + fields) as u64
}

/// A thread's log.
pub(crate) struct Log {
    pass_on: Box<dyn Fn(LogLine)>,
    waiting: Waiting,
    /// Lines a second; None: as many as can be taken.
    limit: Option<u32>,
    /// Lines said, and left unsaid, in this second.
    lines: Cell<u32>,
    /// The limit holds for a second, and for all that comes before second 0.
    has_begun: Cell<bool>,
}

impl Log {
    pub(crate) fn new(pass_on: impl Fn(LogLine) + 'static, waiting: Waiting, limit: Option<u32>) -> Log {
        let (lines, has_begun) = (Cell::new(0), Cell::new(false));
        Log { pass_on: Box::new(pass_on), waiting, limit, lines, has_begun }
    }

    pub(crate) fn say(&self, line: LogLine) {
        let Some(limit) = self.limit else { return self.send(line) };
        self.lines.set(self.lines.get().saturating_add(1));
        match self.lines.get().cmp(&limit.saturating_add(1)) {
            Less => self.send(line),
            Equal => {
                let span = if self.has_begun() { "in a second" } else { "before the load began" };
                let text = format!("(more than {limit} lines {span}: the rest is left out)");
                self.send(LogLine { at: line.at, ..LogLine::new(Level::Info, text) });
            }
            Greater => {}
        }
    }

    /// A new second begins.
    pub(crate) fn begin_second(&self) {
        self.has_begun.set(true);
        self.lines.set(0);
    }

    /// Whether second 0 has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.get()
    }

    fn send(&self, line: LogLine) {
        if self.waiting.admits(&line) {
            (self.pass_on)(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    fn log(limit: Option<u32>) -> (Log, Waiting, Rc<RefCell<Vec<LogLine>>>) {
        let (said, waiting) = (Rc::new(RefCell::new(Vec::new())), Waiting::default());
        let kept = Rc::clone(&said);
        (Log::new(move |line| kept.borrow_mut().push(line), waiting.clone(), limit), waiting, said)
    }

    fn texts(said: &RefCell<Vec<LogLine>>) -> Vec<String> {
        said.take().into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_beyond_a_seconds_limit_are_left_out_and_one_says_so() {
        let (log, _, said) = log(Some(2));
        let say = |count: u32| (0..count).for_each(|n| log.say(LogLine::new(Level::Info, n.to_string())));
        say(4);
        assert_eq!(
            texts(&said),
            ["0", "1", "(more than 2 lines before the load began: the rest is left out)"]
        );
        log.begin_second();
        say(4);
        assert_eq!(texts(&said), ["0", "1", "(more than 2 lines in a second: the rest is left out)"]);
        log.begin_second();
        say(2);
        assert_eq!(texts(&said), ["0", "1"]);
    }

    #[test]
    fn who_speaks_does_not_wait_for_who_does_not_listen_and_what_is_left_out_is_told() {
        let (log, waiting, said) = log(None);
        let long = "x".repeat(1 << 20);
        (0..20).for_each(|_| log.say(LogLine::new(Level::Info, long.clone())));
        assert_eq!(said.borrow().len(), 15);
        let told = waiting.take_left_out().map(|line| line.text);
        let expected = "5 lines of the log came faster than they could be written and are left out";
        assert_eq!(told.as_deref(), Some(expected));
        assert_eq!(waiting.take_left_out(), None);
        said.take().iter().for_each(|line| waiting.taken(line));
        log.say(LogLine::new(Level::Info, long));
        assert_eq!(said.borrow().len(), 1);
    }
}
