//! The folder of a search for a capacity: the document in it, beside the folders of its trials.

use crate::error::Error;
use sonagi_report::Capacity;
use std::path::Path;

/// The document in the folder that holds the trials' folders.
pub(crate) const DOCUMENT: &str = "capacity.json";

/// The search whose trials' folders are in this folder; None when there is none.
pub(crate) fn read(folder: &Path) -> Option<Result<Capacity, Error>> {
    let path = folder.join(DOCUMENT);
    let text = std::fs::read_to_string(&path).ok()?;
    Some(Capacity::read(&text).map_err(|error| {
        Error::could_not(format_args!("{} is not the document of a search: {error}", path.display()))
    }))
}
