//! The folder of a matrix: the document in it, and the folders of its runs.

use crate::error::Error;
use sonagi_report::matrix::{Matrix, Run};
use std::path::{Path, PathBuf};

/// The document in the folder that holds the runs' folders.
pub(crate) const DOCUMENT: &str = "matrix.json";

/// The folder of a run of the matrix in this folder, which may have been moved since.
pub(crate) fn folder_of(folder: &Path, run: &Run) -> Option<PathBuf> {
    let told = Path::new(run.summary.as_ref()?.run_folder.as_deref()?);
    Some(folder.join(told.file_name()?)).filter(|folder| folder.is_dir())
}

/// The matrix whose runs' folders are in this folder; None when there is none.
pub(crate) fn read(folder: &Path) -> Option<Result<Matrix, Error>> {
    let path = folder.join(DOCUMENT);
    let text = std::fs::read_to_string(&path).ok()?;
    Some(Matrix::read(&text).map_err(|error| {
        Error::could_not(format_args!("{} is not the document of a matrix: {error}", path.display()))
    }))
}

/// Replaces a file in one step: at any moment there is a whole file.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(&new, path)
}
