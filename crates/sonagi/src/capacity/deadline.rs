//! The end of the budget. A trial is begun only if it can be over by then, but its users may stay for longer
//! than it was planned to take: they are stopped.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Stops the trial that is under way when the time for all is used up. Once dropped, it stops nothing any more.
pub(super) struct Deadline {
    /// None: it is over.
    goes_on: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Deadline {
    /// Waits for so long on a thread of its own, then stops.
    pub(super) fn start(after: Duration, stop: impl FnOnce() + Send + 'static) -> io::Result<Deadline> {
        let (goes_on, over) = channel::<()>();
        let wait = move || {
            if over.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
                stop();
            }
        };
        let thread = Builder::new().name("budget".to_owned()).spawn(wait)?;
        Ok(Deadline { goes_on: Some(goes_on), thread: Some(thread) })
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        drop(self.goes_on.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
