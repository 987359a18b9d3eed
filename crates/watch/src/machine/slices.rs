//! A look in slices: reading the machine is work of the kernel on a core that the target or the load may need, and a
//! look in one go would hold up for milliseconds whoever it keeps waiting.

use std::time::{Duration, Instant};

/// How long it is read in one go.
const SLICE: Duration = Duration::from_micros(300);
/// How long the core is left to others after it.
const PAUSE: Duration = Duration::from_millis(1);

/// Where in a slice a look is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slices {
    began: Option<Instant>,
}

impl Slices {
    /// A look begins.
    pub(super) fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// Between two things to be read: pauses where the slice is over.
    pub(super) fn pause_if_over(&mut self) {
        match self.began {
            Some(began) if began.elapsed() < SLICE => {}
            Some(_) => {
                std::thread::sleep(PAUSE);
                self.begin();
            }
            None => self.begin(),
        }
    }
}
