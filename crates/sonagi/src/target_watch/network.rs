//! The probe of the network that a run puts before its service: how late that is itself.
//!
//! It takes the counts of a thread of this process, and asks nothing of the service. The one decision a reader would
//! question: a run with a network has it even if nothing else is watched, as it is the generator's own health.

use sonagi_lab::Lateness;
use sonagi_measure::watched::{NETWORK_LAG, NETWORK_LATEST};
use sonagi_watch::{Probe, Readings, Unread};
use std::sync::{Arc, OnceLock};

/// How late the network before a run's service is, known once that is there: the watch of a k6 test is made before its
/// service is started.
pub(crate) type NetworkLateness = Arc<OnceLock<Lateness>>;

pub(super) struct NetworkProbe {
    lateness: Lateness,
    /// Whether it has looked before.
    has_begun: bool,
}

impl NetworkProbe {
    pub(super) fn new(lateness: Lateness) -> NetworkProbe {
        NetworkProbe { lateness, has_begun: false }
    }
}

impl Probe for NetworkProbe {
    fn subject(&self) -> String {
        "the network before the service".to_owned()
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        // The first look is before the load: what was late while the service got ready is none of the run's.
        if !std::mem::replace(&mut self.has_begun, true) {
            self.lateness.begin();
            return Ok(());
        }
        let late = self.lateness.take();
        if late.count > 0 {
            readings.level(NETWORK_LAG, &[], late.p99);
            readings.level(NETWORK_LATEST, &[], late.max);
        }
        Ok(())
    }
}
