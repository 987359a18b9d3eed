//! A file that only ever holds whole lines, and survives a full disk; and its whole lines, read one by one
//! while it grows.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Limit on bytes waiting for the disk, per file.
const WAITING_MAX: usize = 16 << 20;

/// A file to append lines to.
pub(super) struct Lines {
    file: File,
    /// Bytes known to be whole lines.
    whole: u64,
    waiting: Vec<u8>,
    /// Whether there may be half a line behind `whole`.
    is_torn: bool,
    /// Whether more waited than may: those lines are gone.
    has_gaps: bool,
}

impl Lines {
    pub(super) fn create(path: &Path) -> io::Result<Lines> {
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
        // Says that somebody writes it ([`is_written`]). Some file systems have no locks: a run on one reads as cut off
        // until it has ended.
        let _ = file.try_lock();
        Ok(Lines { file, whole: 0, waiting: Vec::new(), is_torn: false, has_gaps: false })
    }

    /// Takes whole lines to be written with the next flush.
    pub(super) fn push(&mut self, lines: &[u8]) {
        self.waiting.extend_from_slice(lines);
    }

    /// Hands everything to the kernel, or cuts off what was torn and keeps what waits (unless that is too much).
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.cut()?;
        }
        if let Err(error) = self.file.write_all(&self.waiting) {
            // Should cutting fail as well, it is tried again before the next write.
            self.is_torn = self.cut().is_err();
            if self.waiting.len() > WAITING_MAX {
                self.waiting = Vec::new();
                self.has_gaps = true;
            }
            return Err(error);
        }
        self.whole += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }

    /// The last flush; an error, too, when lines are missing or the file is no longer the one at `path`.
    pub(super) fn finish(&mut self, path: &Path) -> io::Result<()> {
        self.flush()?;
        if self.has_gaps {
            return Err(io::Error::other("the disk took nothing for so long that seconds are missing"));
        }
        let (here, there) = (self.file.metadata()?, std::fs::metadata(path)?);
        if (here.dev(), here.ino()) != (there.dev(), there.ino()) {
            return Err(io::Error::other("its files were removed or replaced during the run"));
        }
        Ok(())
    }

    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.whole)?;
        self.file.seek(SeekFrom::Start(self.whole))?;
        self.is_torn = false;
        Ok(())
    }
}

/// Whether somebody writes this file: its writer holds a lock on it, which the system takes away should it die.
pub(super) fn is_written(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    // Given up again with the file.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The whole lines of a file that may still grow: behind the last one there may be more later.
pub(super) struct WholeLines {
    /// None: it cannot be read.
    file: Option<BufReader<File>>,
    /// Where the next line begins.
    at: u64,
}

impl WholeLines {
    pub(super) fn open(path: &Path) -> WholeLines {
        WholeLines { file: File::open(path).ok().map(BufReader::new), at: 0 }
    }
}

/// The next line, with its end; None: there is no whole one now. What is torn is read anew next time: its writer may
/// cut it off and write it again.
impl Iterator for WholeLines {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let file = self.file.as_mut()?;
        let mut line = Vec::new();
        let read = file.read_until(b'\n', &mut line);
        if read.is_ok() && line.last() == Some(&b'\n') {
            self.at += line.len() as u64;
            return Some(line);
        }
        if read.is_err() || !line.is_empty() {
            // Fails only where reading does.
            let _ = file.seek(SeekFrom::Start(self.at));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_the_last_whole_one_and_go_on_when_the_file_grows() {
        let disk = tempfile::NamedTempFile::new().unwrap();
        let mut lines = WholeLines::open(disk.path());
        let mut read = |text: &[u8]| {
            disk.as_file().write_all(text).unwrap();
            std::iter::from_fn(|| lines.next()).collect::<Vec<_>>()
        };
        assert_eq!(read(b"one\n\nthree\nfo"), [&b"one\n"[..], b"\n", b"three\n"]);
        assert!(read(b"").is_empty() && read(&[b'x'; 200_000]).is_empty());
        assert_eq!(read(b"ur\nfive\n").iter().map(Vec::len).collect::<Vec<_>>(), [200_005, 5]);
        assert!(WholeLines::open(Path::new("/nowhere")).next().is_none());
    }

    #[test]
    fn a_torn_line_that_is_written_again_is_read_as_it_is_then() {
        let disk = tempfile::NamedTempFile::new().unwrap();
        let mut lines = WholeLines::open(disk.path());
        disk.as_file().write_all(b"one\ntw").unwrap();
        assert_eq!((lines.next(), lines.next()), (Some(b"one\n".to_vec()), None));
        disk.as_file().set_len(4).unwrap();
        disk.as_file().seek(SeekFrom::Start(4)).unwrap();
        disk.as_file().write_all(b"deux\n").unwrap();
        assert_eq!(lines.next(), Some(b"deux\n".to_vec()));
    }

    #[test]
    fn what_a_full_disk_refused_is_written_when_there_is_room() {
        let mut lines = Lines::create(Path::new("/dev/full")).unwrap();
        lines.push(b"one\n");
        assert_eq!(lines.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
        let disk = tempfile::NamedTempFile::new().unwrap();
        lines.file = disk.reopen().unwrap();
        lines.file.write_all(b"o").unwrap(); // what a torn write would have left
        lines.push(b"two\n");
        lines.flush().unwrap();
        lines.push(b"three\n");
        lines.flush().unwrap();
        assert_eq!(std::fs::read_to_string(disk.path()).unwrap(), "one\ntwo\nthree\n");
    }
}
