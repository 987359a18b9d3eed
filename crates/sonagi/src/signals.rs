//! Ctrl-C and SIGTERM: the first asks to stop, the second stops at once, the third exits. Once all runs are over and
//! only their pages are served, the first ends that, and nothing less than the third exits.
//!
//! One small thread with its own runtime listens; its caller says what a signal does. The one decision a reader would
//! question: a third signal exits from that thread. Anything that hangs then is our fault, and a user who asks three
//! times must get the prompt back.

use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::Terminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How often we were asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopRequests(Arc<Signals>);

#[derive(Debug, Default)]
struct Signals {
    /// Those that came while runs went on.
    of_runs: AtomicU32,
    /// Those that came since only pages are served.
    of_serving: AtomicU32,
    is_serving: AtomicBool,
}

/// What a signal asks for.
enum Asked {
    Stop,
    Abort,
    /// To end the serving: whoever serves sees it in [`StopRequests::to_end_serving`].
    EndServing,
    Exit,
}

impl StopRequests {
    /// At least once: wind down.
    pub(crate) fn to_stop(&self) -> bool {
        self.0.of_runs.load(Ordering::Acquire) >= 1
    }

    /// At least twice: stop at once.
    pub(crate) fn to_stop_at_once(&self) -> bool {
        self.0.of_runs.load(Ordering::Acquire) >= 2
    }

    /// All runs are over, and only their pages are served: from now on a signal ends that and has no effect on runs,
    /// however many came before.
    pub(crate) fn begin_serving(&self) {
        self.0.is_serving.store(true, Ordering::Release);
    }

    /// Whether a signal has come since [`StopRequests::begin_serving`].
    pub(crate) fn to_end_serving(&self) -> bool {
        self.0.of_serving.load(Ordering::Acquire) >= 1
    }

    /// Takes a signal into account.
    fn enter(&self) -> Asked {
        if self.0.is_serving.load(Ordering::Acquire) {
            return match self.0.of_serving.fetch_add(1, Ordering::AcqRel) {
                0 | 1 => Asked::EndServing,
                _ => Asked::Exit,
            };
        }
        match self.0.of_runs.fetch_add(1, Ordering::AcqRel) {
            0 => Asked::Stop,
            1 => Asked::Abort,
            _ => Asked::Exit,
        }
    }
}

/// Listens from now on; `first` and `second` run on the listening thread and must not block.
pub(crate) fn listen(
    terminal: Terminal,
    first: impl Fn() + Send + 'static,
    second: impl Fn() + Send + 'static,
) -> Result<StopRequests, Error> {
    let cannot = |error: std::io::Error| Error::could_not(format_args!("cannot listen for signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(cannot)?;
    let (mut interrupts, mut terminations) = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt()).map_err(cannot)?, signal(SignalKind::terminate()).map_err(cannot)?)
    };
    let stop_requests = StopRequests::default();
    let entered = stop_requests.clone();
    std::thread::Builder::new()
        .name("signals".to_string())
        .spawn(move || {
            runtime.block_on(async {
                loop {
                    either(&mut interrupts, &mut terminations).await;
                    match entered.enter() {
                        Asked::Stop => first(),
                        Asked::Abort => second(),
                        Asked::EndServing => {}
                        Asked::Exit => {
                            terminal.say("gave up waiting");
                            std::process::exit(i32::from(Exit::Interrupted.code()));
                        }
                    }
                }
            });
        })
        .map_err(cannot)?;
    Ok(stop_requests)
}

async fn either(interrupts: &mut Signal, terminations: &mut Signal) {
    tokio::select! {
        _ = interrupts.recv() => {}
        _ = terminations.recv() => {}
    }
}
