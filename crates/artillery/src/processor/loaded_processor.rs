//! The processor before a run: its module is loaded to ask what it exports, so that a script that calls a function
//! there is not is told of where it stands; and the process that loaded it is kept for the run's first shard. What a
//! module does when it is loaded (a line printed, a file written) is done once for it then, not twice.

use sonagi_measure::secrets::masked;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, LocalOptions};
use tokio::time::Instant;

use super::process::{Detached, Process};
use super::{Said, Unloaded, in_time};
use crate::plan::Processor;
use sonagi_engine::Control;
use sonagi_engine::Speaker;

/// How long the answer is waited for: a module that takes longer goes on loading, and the run waits as long as the
/// script says.
const PATIENCE: Duration = Duration::from_secs(10);

/// A processor that was loaded before its run, if any. Clones share it.
#[derive(Clone, Default)]
pub struct LoadedProcessor(Arc<Mutex<Option<IdleProcessor>>>);

struct IdleProcessor {
    processor: Processor,
    process: Result<Detached, Unloaded>,
    /// Messages for the run; printed ones have been shown already.
    said: Vec<Said>,
}

impl LoadedProcessor {
    /// Whether a process waits to be taken over.
    pub fn is_waiting(&self) -> bool {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(|held| held.process.is_ok())
    }

    /// The process that has loaded this processor, or is loading it, and what it said that nobody has heard; or why it
    /// cannot be loaded, which is told as often as it is asked for. None when there is no such process (any more).
    pub(super) fn take(&self, processor: &Processor) -> Option<(Result<Detached, Unloaded>, Vec<Said>)> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_ref().filter(|held| held.processor.is_loaded_like(processor))? {
            IdleProcessor { process: Err(unloaded), .. } => Some((Err(unloaded.clone()), Vec::new())),
            IdleProcessor { process: Ok(_), .. } => held.take().map(|held| (held.process, held.said)),
        }
    }
}

impl fmt::Debug for LoadedProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoadedProcessor")
    }
}

/// The names of the functions a processor has, and its process, to be handed to the run. `tell` is given what the
/// module prints meanwhile, as it comes.
///
/// The names are an error where it cannot be loaded, or not within [`PATIENCE`].
pub fn exports(
    processor: &Processor,
    tell: &mut dyn FnMut(Speaker, &str),
) -> (Result<Vec<String>, Unloaded>, LoadedProcessor) {
    let mut said = Vec::new();
    let process = loaded(processor, &mut |word| match &word {
        Said::Line(text) => tell(Speaker::Engine, &masked(text)),
        Said::Printed { is_error, text } => tell(Speaker::of_stream(*is_error), text),
        Said::Metric(_) | Said::ExitCode(_) => said.push(word),
    });
    let names = match &process {
        Ok(Detached { exported: Some(names), .. }) => Ok(names.clone()),
        Ok(_) => Err(Unloaded::slow(processor, processor.timeout.min(PATIENCE))),
        Err(unloaded) => Err(unloaded.clone()),
    };
    let held = IdleProcessor { processor: processor.clone(), process, said };
    (names, LoadedProcessor(Arc::new(Mutex::new(Some(held)))))
}

/// A process that has loaded the module, or is still at it.
fn loaded(processor: &Processor, say: &mut dyn FnMut(Said)) -> Result<Detached, Unloaded> {
    let start = |cause| Unloaded::start(processor, cause);
    let runtime =
        Builder::new_current_thread().enable_io().build_local(LocalOptions::default()).map_err(start)?;
    runtime.block_on(async {
        let mut process = Process::begin(processor).await?;
        let limit = processor.timeout.min(PATIENCE);
        let control = Control::new();
        let load = in_time(process.load(processor, say), limit, &control, Instant::now());
        load.await.map_err(start)?.transpose()?;
        process.detach().ok_or_else(|| start(std::io::Error::other("its socket is lost")))
    })
}
