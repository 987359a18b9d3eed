//! Stopping a run from outside: once to end it gracefully, twice to end it now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::sync::Notify;

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
const ABORTED: u8 = 2;

/// A handle on a run; clones steer the same run. Safe to use from a signal thread.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Asked>);

/// The requests made of a run.
#[derive(Debug, Default)]
struct Asked {
    to: AtomicU8,
    /// By a function of the script; 0: nothing.
    exit_code: AtomicU8,
    stopped: Notify,
}

impl Control {
    /// A handle for one run.
    pub fn new() -> Control {
        Control::default()
    }

    /// Nobody arrives any more, users leave their flows at the next wait, copies under way still get a moment to
    /// arrive.
    pub fn stop(&self) {
        self.ask(STOPPING);
    }

    /// Ends at once; what was recorded so far is still handed over.
    pub fn abort(&self) {
        self.ask(ABORTED);
    }

    /// Another run begins, of which nothing was asked yet: the one before may have ended itself.
    pub fn renew(&self) {
        self.0.to.store(RUNNING, Ordering::Release);
    }

    fn ask(&self, what: u8) {
        self.0.to.fetch_max(what, Ordering::AcqRel);
        self.0.stopped.notify_waiters();
    }

    /// Whether the run was asked to end, either way.
    pub fn is_stopping(&self) -> bool {
        self.0.to.load(Ordering::Acquire) != RUNNING
    }

    /// Whether the run was asked to end at once.
    pub fn is_aborted(&self) -> bool {
        self.0.to.load(Ordering::Acquire) == ABORTED
    }

    /// Until the run is asked to end, either way. Cancel safe.
    pub async fn stopped(&self) {
        loop {
            let mut notified = std::pin::pin!(self.0.stopped.notified());
            // Enabled before looking, so that a stop asked for in between is heard.
            notified.as_mut().enable();
            if self.is_stopping() {
                return;
            }
            notified.await;
        }
    }

    /// A function of the script says what the command is to end with. The last word counts, and 0 takes it back.
    pub fn suggest_exit_code(&self, code: u8) {
        self.0.exit_code.store(code, Ordering::Relaxed);
    }

    /// The exit code that functions asked for since the last call.
    pub fn take_exit_code(&self) -> Option<u8> {
        Some(self.0.exit_code.swap(0, Ordering::Relaxed)).filter(|code| *code != 0)
    }
}
