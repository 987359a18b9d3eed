//! Sinks, which follow a run: one required method, the rest optional.
//!
//! A sink's error never ends a run. [`Sinks`] hands each sink's first error to its owner, once, and goes on calling it:
//! a disk that was full for a minute may have room again, and the run folder then goes on.

mod folder;
mod live;

pub use folder::Folder;
pub use live::Live;

use serde_json::Value;
use sonagi_measure::At;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, Snapshot};
use std::io;
use std::sync::Arc;

/// What sinks are told of a run. A copy costs little: a sink may keep it for later.
#[derive(Clone, Debug)]
pub enum SinkEvent {
    /// The run begins.
    Began(Arc<Header>),
    /// A second of the run is over.
    Second(Arc<Snapshot>),
    /// A phase of the load begins.
    Phase {
        /// When it was planned to.
        at: At,
        /// Its name in the script.
        name: Arc<str>,
    },
    /// Words about the script, or of the script.
    Line {
        /// When.
        at: At,
        /// The user that speaks, where one does.
        user: Option<u32>,
        /// The words.
        text: Arc<str>,
        /// Whether they are the script's (`log` steps, its functions' console), which go to a standard stream besides.
        is_printed: bool,
    },
    /// What the script's language wants in the run's record.
    Noted {
        /// When.
        at: At,
        /// What it is.
        kind: &'static str,
        /// What belongs to it.
        detail: Value,
    },
    /// The phases of the load are over; users finish, then copies under way are waited for.
    Draining {
        /// When the last of them ended.
        at: At,
    },
    /// The run is over.
    Ended(Arc<Summary>),
}

/// Follows a run as it goes. Called on one thread, about once a second.
pub trait Sink {
    /// Takes an event.
    fn event(&mut self, event: &SinkEvent) -> io::Result<()>;
    /// The sink's name in a warning: "the run folder".
    fn name(&self) -> &str {
        "an output"
    }
    /// Whether it is a record of the run: what it could not write is missing for good.
    fn is_record(&self) -> bool {
        false
    }
}

/// A sink that has failed, with why; reported once per sink.
#[derive(Debug)]
pub struct Trouble {
    /// The sink's [`Sink::name`].
    pub sink: String,
    /// The system's error.
    pub error: io::Error,
}

/// All sinks of a run, called in order.
#[derive(Default)]
pub struct Sinks {
    all: Vec<Called>,
}

/// A sink and what came of calling it.
struct Called {
    sink: Box<dyn Sink>,
    has_failed: bool,
    /// Why the last call failed, if it did.
    last: Option<io::Error>,
}

impl Sinks {
    /// Adds a sink.
    pub fn add(&mut self, sink: impl Sink + 'static) {
        self.all.push(Called { sink: Box::new(sink), has_failed: false, last: None });
    }

    /// Tells every sink of an event; `trouble` hears of each sink's first error.
    pub fn tell(&mut self, event: &SinkEvent, mut trouble: impl FnMut(Trouble)) {
        for Called { sink, has_failed, last } in &mut self.all {
            *last = sink.event(event).err();
            if let Some(error) = last.as_ref().filter(|_| !*has_failed) {
                *has_failed = true;
                trouble(Trouble { sink: sink.name().to_string(), error: again(error) });
            }
        }
    }

    /// The first record that could not be brought to its end: call it when the run has ended.
    pub fn incomplete(&mut self) -> Option<Trouble> {
        self.all.iter_mut().filter(|called| called.sink.is_record()).find_map(|called| {
            let error = called.last.take()?;
            Some(Trouble { sink: called.sink.name().to_string(), error })
        })
    }
}

/// The same error for a second reader.
pub fn again(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}
