//! A lock that gives a store to one service: two would assign the same numbers.
//!
//! The lock is the system's, on a file beside the database. It ends with the process, however that ends, and that the
//! file is there says nothing. It is not on the database itself, because a process that closes any descriptor of that
//! gives up the locks SQLite holds on it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use crate::config::{Error, StoreLocation};

/// Held as long as the database is written.
pub(crate) struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// `None` for a memory store, which nobody else can open, and for one that services may share. The path of the
    /// store must be `resolved`.
    pub(crate) fn take(store: &StoreLocation) -> Result<Option<StoreLock>, Error> {
        let StoreLocation::File(path) = store else { return Ok(None) };
        let mut beside = path.clone().into_os_string();
        beside.push(".lock");
        let beside = PathBuf::from(beside);
        let cannot = |error: io::Error| Error::Store {
            doing: "lock",
            reason: format!("{}: {error}", beside.display()),
        };
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&beside);
        let mut file = opened.map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::StoreInUse { path: path.clone(), holder: holder(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        // For whoever comes second; the lock holds without it.
        let _ = file.set_len(0).and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
        Ok(Some(StoreLock { _file: file }))
    }
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(20).read_to_string(&mut text);
    match text.parse::<u32>() {
        Ok(process) if read.is_ok() => format!("process {process}"),
        _ => "another process".to_owned(),
    }
}

/// The store by the one name that all its names lead to. A file that is not there is made first: a link may lead to
/// where it will be.
pub(crate) fn resolved(store: &StoreLocation) -> Result<StoreLocation, Error> {
    let StoreLocation::File(path) = store else { return Ok(store.clone()) };
    let made = File::options().create(true).append(true).open(path);
    let found = made.and_then(|_| fs::canonicalize(path));
    let reason = |error: io::Error| format!("{}: {error}", path.display());
    found.map(StoreLocation::File).map_err(|error| Error::Store { doing: "open", reason: reason(error) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_store_that_is_not_there_yet_is_locked_through_a_link_that_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["far.db", "near.db"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let take = |path: &Path| StoreLock::take(&resolved(&StoreLocation::File(path.to_owned())).unwrap());
        let _lock = take(&link).unwrap();
        assert!(matches!(take(&file), Err(Error::StoreInUse { .. })));
    }

    #[test]
    fn a_store_is_locked_by_any_of_its_names_and_a_lock_that_nobody_holds_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chat.db");
        let take = |path: &Path| StoreLock::take(&resolved(&StoreLocation::File(path.to_owned())).unwrap());
        // Left by a process that was killed.
        fs::write(folder.path().join("chat.db.lock"), "12").unwrap();
        let lock = take(&file).unwrap();
        assert!(lock.is_some());
        fs::write(&file, "").unwrap();
        let link = folder.path().join("link.db");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for name in [
            &file,
            &link,
            &folder.path().join("../").join(folder.path().file_name().unwrap()).join("chat.db"),
        ] {
            let refused = take(name).err().unwrap().to_string();
            let holder = format!("process {} does", std::process::id());
            assert!(refused.contains("chat.db: one service") && refused.contains(&holder), "{refused}");
        }
        drop(lock);
        assert!(take(&file).unwrap().is_some());
        assert!(take(&folder.path().join("other.db")).unwrap().is_some());
        let missing =
            resolved(&StoreLocation::File(folder.path().join("none/chat.db"))).unwrap_err().to_string();
        assert!(missing.ends_with("none/chat.db: No such file or directory (os error 2)"), "{missing}");
    }
}
