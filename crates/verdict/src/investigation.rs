//! Follows a run for its diagnosis, second by second; what it keeps is bounded.

use crate::diagnosis::{Diagnosis, diagnose};
use crate::timeline::Timeline;
use serde_json::Value;
use sonagi_measure::frame::Frame;
use sonagi_measure::summary::Summary;
use sonagi_measure::watched;

/// Events that are kept, at most. Rules quote the first few of a kind.
const EVENTS_MAX: usize = 2_000;

/// A run on its way to a diagnosis.
#[derive(Debug)]
pub struct Investigation {
    timeline: Timeline,
    events: Vec<Value>,
    /// Seconds that are kept, at most.
    longest: usize,
    /// Whether there were more: then nothing is kept any longer.
    is_too_long: bool,
}

impl Investigation {
    /// For what is diagnosed while the generator still runs, or beside it: an hour, which takes tens of megabytes.
    pub const AN_HOUR: usize = 3_600;

    /// An investigation of runs of at most this many seconds.
    pub fn of_at_most(longest: usize) -> Investigation {
        Investigation { timeline: Timeline::default(), events: Vec::new(), longest, is_too_long: false }
    }

    /// Takes the next second.
    pub fn frame(&mut self, frame: Frame) {
        if self.timeline.len() >= self.longest {
            self.is_too_long = true;
            (self.timeline, self.events) = (Timeline::default(), Vec::new());
        }
        if !self.is_too_long {
            self.timeline.push(frame);
        }
    }

    /// Takes an event as run folders have it: `at_ns`, `kind`, `detail`. Those that no rule asks for are left.
    pub fn event(&mut self, event: &Value) {
        if event["kind"] == watched::TARGET && !self.is_too_long && self.events.len() < EVENTS_MAX {
            self.events.push(event.clone());
        }
    }

    /// The diagnosis of what was seen; None: the run was too long to be kept.
    pub fn conclude(&self, summary: &Summary) -> Option<Diagnosis> {
        (!self.is_too_long).then(|| diagnose(&self.timeline, summary, &self.events))
    }
}
