//! What a service prints, bounded: its beginning and its end.
//!
//! The beginning is written as it comes, so that it is there whatever happens; the end is kept in memory until the
//! service is over.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Bytes of the beginning, and of the end.
const MOST: usize = 1 << 20;
/// Lines that an error quotes, and their bytes.
const QUOTED_LINES: usize = 12;
const QUOTED_BYTES: usize = 2048;

/// Where a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A bounded log.
pub(crate) struct Log {
    most: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
    file: Option<File>,
    /// Why the file is not whole.
    trouble: Option<io::Error>,
}

impl Log {
    pub(crate) fn new() -> Log {
        Log::of(MOST)
    }

    fn of(most: usize) -> Log {
        Log { most, head: Vec::new(), tail: VecDeque::new(), left_out: 0, file: None, trouble: None }
    }

    /// Adds what was printed.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        let room = self.most - self.head.len();
        if room > 0 && self.tail.is_empty() {
            let (first, rest) = bytes.split_at(bytes.len().min(room));
            self.head.extend_from_slice(first);
            self.write(first);
            bytes = rest;
        }
        self.tail.extend(bytes);
        if self.tail.len() > self.most {
            let over = self.tail.len() - self.most;
            self.tail.drain(..over);
            self.left_out += over as u64;
        }
    }

    /// Writes it to this file from now on.
    pub(crate) fn write_to(&mut self, path: &Path) {
        match File::create(path) {
            Ok(file) => {
                self.file = Some(file);
                let head = std::mem::take(&mut self.head);
                self.write(&head);
                self.head = head;
            }
            Err(error) => self.trouble = Some(error),
        }
    }

    /// Writes its end; why the file is not whole, if it is not.
    pub(crate) fn finish(&mut self) -> Option<io::Error> {
        if self.left_out > 0 {
            self.write(format!("\n[{} bytes left out here]\n", self.left_out).as_bytes());
        }
        let tail: Vec<u8> = std::mem::take(&mut self.tail).into();
        self.write(&tail);
        self.trouble.take()
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(bytes)
        {
            self.file = None;
            self.trouble = Some(error);
        }
    }

    /// Its last lines, for an error; empty if it is.
    pub(crate) fn last_lines(&self) -> String {
        let mut end: Vec<u8> = self.tail.iter().rev().take(QUOTED_BYTES).rev().copied().collect();
        if end.len() < QUOTED_BYTES && self.left_out == 0 {
            let from = self.head.len().saturating_sub(QUOTED_BYTES - end.len());
            end.splice(0..0, self.head[from..].iter().copied());
        }
        let text = String::from_utf8_lossy(&end);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
    }
}

/// Lines of a log as the end of a message.
pub(crate) fn quoted(said: &str) -> String {
    let lines = said.lines().map(|line| format!("\n  | {line}"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept_and_what_is_between_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("service.log");
        let mut log = Log::of(10);
        log.add(b"begin");
        log.write_to(&path);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "begin", "it is there at once");
        log.add(b"ning, middle, ");
        log.add(b"the end.\n");
        log.add(b"done");
        assert!(log.finish().is_none());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "beginning,\n[12 bytes left out here]\n end.\ndone");
    }

    #[test]
    fn the_last_lines_are_whole_and_few() {
        let mut log = Log::new();
        assert_eq!(log.last_lines(), "");
        for line in 0..100 {
            log.add(format!("line {line}\n\n").as_bytes());
        }
        let last = log.last_lines();
        assert_eq!(
            (last.lines().count(), last.lines().next(), last.lines().last()),
            (12, Some("line 88"), Some("line 99"))
        );
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_at_the_end() {
        let mut log = Log::new();
        log.write_to(Path::new("/nowhere/service.log"));
        log.add(b"x");
        assert!(log.finish().is_some());
        assert!(log.finish().is_none(), "once");
    }
}
