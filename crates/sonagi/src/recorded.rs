//! What was recorded of runs, read back: run folders, and report files.

use crate::error::Error;
use serde_json::Value;
use sonagi_measure::folder::{ReadError, Reader};
use sonagi_measure::summary::Summary;
use std::path::Path;

/// Opens a run folder.
pub(crate) fn open(folder: &Path) -> Result<Reader, Error> {
    Reader::open(folder).map_err(|error| unread(folder, &error))
}

/// A run folder that cannot be read.
pub(crate) fn unread(folder: &Path, error: &ReadError) -> Error {
    Error::could_not(format_args!("cannot read the run folder {}: {error}", folder.display()))
}

/// The summary that a report file has beside Artillery's members.
pub(crate) fn of_report(file: &Path) -> Result<Summary, Error> {
    let name = file.display();
    let unread = |error: std::io::Error| Error::could_not(format_args!("cannot read {name}: {error}"));
    let document: Value = serde_json::from_slice(&std::fs::read(file).map_err(unread)?)
        .map_err(|error| Error::could_not(format_args!("{name} is no report: {error}")))?;
    let Some(summary) = document.get("sonagi") else {
        let hint = "hint: name a file that `sonagi run --output` wrote, or a run folder";
        return Err(Error::could_not(format_args!(
            "{name} is no report of Sonagi's: it has no member `sonagi`\n{hint}"
        )));
    };
    let mut summary = summary.clone();
    for error in summary.get_mut("errors").and_then(Value::as_array_mut).into_iter().flatten() {
        // Reports had an error's name under this key before.
        if let Some(name) = error.get("artillery").cloned() {
            error["called"] = name;
        }
    }
    let summary = serde_json::from_value(summary);
    summary.map_err(|error| Error::could_not(format_args!("{name} is of another version: {error}")))
}
