//! The last step before a service: a process that puts limits on itself and becomes the service.
//!
//! What a process inherits can only be set in that process. It is done in a program of ours, because between fork and
//! exec next to nothing may be done without unsafe code.

use crate::affinity;
use rustix::process::{
    Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit,
};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

/// The exit code of a starter whose command cannot be run, as shells have it.
pub(crate) const NOT_RUN: u8 = 127;
/// What the line begins with that such a starter prints.
pub(crate) const CANNOT: &str = "cannot run ";

/// What a starter does before it becomes the command.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    /// The keeper's process: without it nothing is to be started.
    pub(crate) keeper: i32,
    /// Files that the process joins its groups by.
    pub(crate) doors: Vec<PathBuf>,
    pub(crate) nofile: Option<u64>,
    /// Open files that a process may have by itself; Sonagi may have raised its own limit, which is inherited.
    pub(crate) usual_nofile: Option<u64>,
    /// The cores that it is kept to; empty: it may run on all.
    pub(crate) cores: Vec<usize>,
}

/// Becomes the command that these arguments hold: what to do first, as JSON, then program and arguments. Returns only
/// when that cannot be, with an exit code and the reason.
pub fn start(arguments: &[OsString]) -> (u8, String) {
    let [start, program, arguments @ ..] = arguments else {
        return (NOT_RUN, format!("{CANNOT}a service: this is for Sonagi's own use"));
    };
    let Some(start) = start.to_str().and_then(|start| serde_json::from_str::<Start>(start).ok()) else {
        return (NOT_RUN, format!("{CANNOT}a service: this is for Sonagi's own use"));
    };
    let shown = program.to_string_lossy().into_owned();
    if let Err(why) = prepare(&start) {
        return (NOT_RUN, format!("{CANNOT}`{shown}`: {why}"));
    }
    let error = std::process::Command::new(program).args(arguments).exec();
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "command not found".to_owned(),
        _ => error.to_string(),
    };
    (NOT_RUN, format!("{CANNOT}`{shown}`: {why}"))
}

fn prepare(start: &Start) -> Result<(), String> {
    // Whoever kills the keeper kills the service's first process with it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    if getppid().map(|parent| parent.as_raw_nonzero().get()) != Some(start.keeper) {
        return Err("its keeper is gone".to_owned());
    }
    for door in &start.doors {
        // 0 is whoever writes it.
        std::fs::write(door, "0").map_err(|error| format!("{}: {error}", door.display()))?;
    }
    if let (None, Some(files)) = (start.nofile, start.usual_nofile) {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum });
    }
    if let Some(files) = start.nofile {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        if maximum.is_some_and(|maximum| maximum < files) {
            let most = maximum.unwrap_or_default();
            return Err(format!("limits.nofile is {files}, and this machine allows {most}"));
        }
        let limit = Rlimit { current: Some(files), maximum: Some(files) };
        setrlimit(Resource::Nofile, limit).map_err(|error| format!("limits.nofile: {error}"))?;
    }
    if !start.cores.is_empty() {
        affinity::keep_to(&start.cores).map_err(|error| format!("limits.cpu: {error}"))?;
    }
    Ok(())
}
