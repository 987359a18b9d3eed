//! Ctrl-C and SIGTERM: the first asks to stop, the second stops at once, the third exits.
//!
//! One small thread with its own runtime listens; its caller says what a signal does. The one decision a reader would
//! question: a third signal exits from that thread. Anything that hangs then is our fault, and a user who asks three
//! times must get the prompt back.

use crate::error::Error;
use crate::exit::Exit;
use crate::terminal::Terminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How often we were asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopRequests(Arc<AtomicU32>);

impl StopRequests {
    /// At least once: wind down.
    pub(crate) fn to_stop(&self) -> bool {
        self.0.load(Ordering::Acquire) >= 1
    }

    /// How often so far.
    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// At least twice: stop at once.
    pub(crate) fn to_stop_at_once(&self) -> bool {
        self.0.load(Ordering::Acquire) >= 2
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
    let count = stop_requests.clone();
    std::thread::Builder::new()
        .name("signals".to_string())
        .spawn(move || {
            runtime.block_on(async {
                loop {
                    either(&mut interrupts, &mut terminations).await;
                    match count.0.fetch_add(1, Ordering::AcqRel) {
                        0 => first(),
                        1 => second(),
                        _ => {
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
