//! A file that only ever holds whole lines, and survives a full disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
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

#[cfg(test)]
mod tests {
    use super::*;

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
