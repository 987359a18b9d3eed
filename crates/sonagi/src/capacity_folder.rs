//! The folder of a search for a capacity: the document in it, beside the folders of its trials.

use crate::error::Error;
use sonagi_report::Capacity;
use std::path::Path;
use std::time::Duration;

/// The document in the folder that holds the trials' folders.
pub(crate) const DOCUMENT: &str = "capacity.json";

/// A search writes its document after each trial: one that has not for so long, longer than any trial with what follows
/// it, was cut off.
const LONGEST_SILENCE: Duration = Duration::from_secs(600);

/// Whether the document was written lately.
pub(crate) fn is_fresh(folder: &Path) -> bool {
    let written = std::fs::metadata(folder.join(DOCUMENT)).and_then(|document| document.modified());
    // One of the future is as fresh as can be.
    written.is_ok_and(|at| at.elapsed().unwrap_or_default() < LONGEST_SILENCE)
}

/// The search whose trials' folders are in this folder; None when there is none.
pub(crate) fn read(folder: &Path) -> Option<Result<Capacity, Error>> {
    let path = folder.join(DOCUMENT);
    let text = std::fs::read_to_string(&path).ok()?;
    Some(Capacity::read(&text).map_err(|error| {
        Error::could_not(format_args!("{} is not the document of a search: {error}", path.display()))
    }))
}
