//! A run from its start to its summary: what is done once before the load, the load, what is done once after it.

use sonagi_measure::summary::Summary;
use std::sync::Arc;

use crate::collector::Collector;
use crate::control::Control;
use crate::dialect::{Collect, Dialect, Phase};
use crate::event::RunEvent;
use crate::health;
use crate::options::{Error, Options};

/// Carries a run out and returns when it is over. `collect` is called on this thread.
///
/// # Errors
/// Only when the run could not be carried out; a target that misbehaves is in the summary.
pub fn run<D: Dialect>(
    dialect: &Arc<D>,
    options: &Options,
    control: &Control,
    collect: &mut impl Collect<D>,
) -> Result<Summary, Error<D::Error>> {
    health::raise_file_limit();
    collect.event(RunEvent::Began(&options.header));
    let mut collector = Collector::new(dialect, options, control, collect);
    let prepared = if D::IS_PREPARED_FIRST { Some(collector.start()?) } else { None };
    if collector.phase(Phase::Before)? {
        let threads = prepared.map_or_else(|| collector.start(), Ok)?;
        collector.load(threads)?;
        collector.phase(Phase::After)?;
    }
    Ok(collector.finish())
}

/// Does something once, outside of any run. None: the run was aborted meanwhile.
///
/// # Errors
/// When there was no thread or network to be had, or the dialect could not prepare.
pub fn once<D: Dialect>(
    dialect: &Arc<D>,
    options: &Options,
    control: &Control,
    collect: &mut impl Collect<D>,
    task: D::Task,
) -> Result<Option<D::Done>, Error<D::Error>> {
    Collector::new(dialect, options, control, collect).once(task, false)
}
