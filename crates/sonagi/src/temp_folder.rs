//! A folder for the time of a command.

use crate::error::Error;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Folders of killed processes that are stepped over.
const MOST_LEFT: u32 = 1000;

/// A temporary folder, removed with what is in it when dropped.
#[derive(Debug)]
pub(crate) struct TempFolder(PathBuf);

impl TempFolder {
    /// A new folder whose name says what it is for; nobody else may read it. A process that was killed leaves its own
    /// behind, and in a container the next one has the same number.
    pub(crate) fn create(purpose: &str) -> Result<TempFolder, Error> {
        let path = |n| std::env::temp_dir().join(format!("sonagi-{purpose}-{}-{n}", std::process::id()));
        let mut n = 0;
        loop {
            match DirBuilder::new().mode(0o700).create(path(n)) {
                Ok(()) => return Ok(TempFolder(path(n))),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && n < MOST_LEFT => n += 1,
                Err(error) => return Err(Error::file("create", &path(n), error)),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // A failure is ignored: the system cleans its folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
