//! What a processor's module exports: asked for before a run, so that a script that calls a function there is not is told of
//! where it stands.
//!
//! Node loads the module for it and is ended; what the module prints meanwhile is nobody's.

use serde_json::Map;
use std::time::Duration;
use tokio::runtime::{Builder, LocalOptions};

use super::{Sidecar, Unloaded};
use crate::control::Control;
use crate::plan::Processor;

/// How long the answer is waited for: a module that takes longer is left to the run, which waits as long as the script says.
const PATIENCE: Duration = Duration::from_secs(10);

/// The names of the functions a processor has.
///
/// # Errors
/// Says why it cannot be loaded, or not within [`PATIENCE`].
pub fn exports(processor: &Processor) -> Result<Vec<String>, Unloaded> {
    let timeout = processor.timeout.min(PATIENCE);
    let any = Processor { functions: Vec::new(), timeout, ..processor.clone() };
    let start = |cause| Unloaded::Start { module: processor.module.display().to_string(), cause };
    let runtime =
        Builder::new_current_thread().enable_io().build_local(LocalOptions::default()).map_err(start)?;
    let loaded = runtime.block_on(Sidecar::start(any, Map::new(), Control::new()))?;
    Ok(loaded.map(|sidecar| sidecar.exported.borrow().clone()).unwrap_or_default())
}
