//! What stops the runs of a command: signals, and the button of a run's page.

use crate::error::Error;
use crate::signals::{self, StopRequests};
use crate::terminal::Terminal;
use sonagi_engine::Control;

/// Ctrl-C and SIGTERM, from now on: the first stops the run under way, and no other is begun; the second stops it at
/// once.
pub(crate) fn by_signal(control: &Control, terminal: &Terminal) -> Result<StopRequests, Error> {
    let (first, second, says) = (control.clone(), control.clone(), *terminal);
    let stop = move || {
        says.say("stopping; finishing active users (Ctrl-C again stops at once)");
        first.stop();
    };
    let abort = move || {
        says.say("stopping at once");
        second.abort();
    };
    signals::listen(*terminal, stop, abort)
}

/// What the stop button of a run's page does: it ends this run as the first Ctrl-C does, and none after it.
pub(crate) fn by_page(control: &Control, terminal: &Terminal) -> impl FnOnce() + Send + use<> {
    let (control, terminal) = (control.clone(), *terminal);
    move || {
        control.stop();
        terminal.say("stopping this run, as its page asks; finishing active users");
    }
}
