//! A file that only ever holds whole lines, and survives a full disk; and its whole lines, read one by one.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
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

/// What a file holds up to its last line's end as it is now; nothing, where it cannot be read.
pub(super) fn whole(path: &Path) -> Box<dyn BufRead> {
    let opened = File::open(path).and_then(|file| Ok((whole_length(&file)?, file)));
    match opened {
        Ok((length, file)) => Box::new(BufReader::new(file.take(length))),
        Err(_) => Box::new(io::empty()),
    }
}

fn whole_length(file: &File) -> io::Result<u64> {
    const BLOCK: usize = 64 << 10;
    let mut block = vec![0; BLOCK];
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let block = &mut block[..(end - start) as usize];
        file.read_exact_at(block, start)?;
        if let Some(at) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The next line, with its end; None behind the last one.
pub(super) fn next_line(lines: &mut dyn BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let read = lines.read_until(b'\n', &mut line).ok()?;
    (read > 0).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_the_last_whole_one_however_long_what_is_torn() {
        let disk = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &[u8]| {
            std::fs::write(disk.path(), text).unwrap();
            let mut lines = whole(disk.path());
            std::iter::from_fn(|| next_line(&mut *lines)).collect::<Vec<_>>()
        };
        assert_eq!(read(b"one\n\nthree\nfo"), [&b"one\n"[..], b"\n", b"three\n"]);
        assert_eq!(read(&[b"one\n".as_slice(), &[b'x'; 200_000]].concat()), [b"one\n"]);
        assert!(read(b"no end").is_empty() && read(b"").is_empty());
        assert!(next_line(&mut *whole(Path::new("/nowhere"))).is_none());
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
