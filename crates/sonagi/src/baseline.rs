//! Baselines of `sonagi compare`: runs kept as what is compared of them, in one file that a pipeline can keep.

use crate::error::Error;
use crate::matrix_folder;
use sonagi_measure::totals::Header;
use sonagi_verdict::compare::{Observation, RUNS_AT_LEAST};
use std::path::{Path, PathBuf};

/// Where baselines without a path are.
const FOLDER: &str = ".sonagi/baselines";
/// Of the file's form.
const VERSION: u64 = 1;
/// The condition that tells one script from another.
const SCRIPT: &str = "script";

/// The runs of a baseline.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Baseline {
    version: u64,
    pub(crate) runs: Vec<Observation>,
}

impl Baseline {
    /// A baseline of these runs.
    ///
    /// # Errors
    /// There are too few sound ones to compare anything with.
    pub(crate) fn of(runs: Vec<Observation>) -> Result<Baseline, Error> {
        let sound = runs.iter().filter(|run| run.unsound.is_none()).count();
        if sound < RUNS_AT_LEAST {
            let what = format!(
                "a baseline needs at least {RUNS_AT_LEAST} runs that tell something of the target; {sound} of these do"
            );
            return Err(Error::could_not(format_args!("{what}\nhint: make ten runs of the same script")));
        }
        Ok(Baseline { version: VERSION, runs })
    }

    /// Reads the baseline of this name.
    pub(crate) fn read(name: &str) -> Result<Baseline, Error> {
        let path = path(name);
        let text = std::fs::read(&path).map_err(|error| Error::file("read the baseline", &path, error))?;
        let read: Result<Baseline, _> = serde_json::from_slice(&text);
        match read {
            Ok(baseline) if baseline.version == VERSION => Ok(baseline),
            Ok(other) => Err(Error::could_not(format_args!(
                "{} has the form {}, and this version reads {VERSION}\nhint: save the baseline anew",
                path.display(),
                other.version
            ))),
            Err(error) => Err(Error::could_not(format_args!("{} is no baseline: {error}", path.display()))),
        }
    }

    /// Writes it under this name, in place of what was there.
    pub(crate) fn write(&self, name: &str) -> Result<PathBuf, Error> {
        let path = path(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Error::file("create", folder, error))?;
        }
        let text = serde_json::to_string_pretty(self).map_err(Error::could_not)?;
        matrix_folder::replace(&path, &text).map_err(|error| Error::file("write", &path, error))?;
        Ok(path)
    }

    /// Whether a run is of the script that the baseline's are of, by what is known when it begins.
    pub(crate) fn has_script_of(&self, run: &Header) -> bool {
        let script = self.runs.first().map(|first| first.conditions.get(SCRIPT).map(String::as_str));
        let sha256 = run.script.as_ref().map(|script| script.sha256.as_str());
        match script {
            None => false,
            Some(None) => sha256.is_none(),
            // A condition is the hash's beginning.
            Some(Some(script)) => {
                sha256.is_some_and(|sha256| !script.is_empty() && sha256.starts_with(script))
            }
        }
    }
}

fn path(name: &str) -> PathBuf {
    match name.contains(['/', '.']) {
        true => PathBuf::from(name),
        false => Path::new(FOLDER).join(format!("{name}.json")),
    }
}
