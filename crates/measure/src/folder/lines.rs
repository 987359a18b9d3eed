//! A file that only ever holds whole lines, and survives a full disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// What may wait for the disk, per file.
const WAITING_MAX: usize = 16 << 20;

/// A file to append lines to.
pub(super) struct Lines {
    file: File,
    /// Bytes known to be whole lines.
    whole: u64,
    waiting: Vec<u8>,
}

impl Lines {
    pub(super) fn create(path: &Path) -> io::Result<Lines> {
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
        Ok(Lines { file, whole: 0, waiting: Vec::new() })
    }

    /// Takes whole lines to be written with the next flush.
    pub(super) fn push(&mut self, lines: &[u8]) {
        self.waiting.extend_from_slice(lines);
    }

    /// Hands everything to the kernel, or leaves the file as it was and keeps what waits (unless that is too much).
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Err(error) = self.file.write_all(&self.waiting) {
            self.file.set_len(self.whole)?;
            self.file.seek(SeekFrom::Start(self.whole))?;
            if self.waiting.len() > WAITING_MAX {
                self.waiting = Vec::new();
            }
            return Err(error);
        }
        self.whole += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}
