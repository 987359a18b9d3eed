//! Hearing a service: everything it prints goes into its log, and line by line to us if somebody wants that.

use crate::job::Event;
use crate::log::{Log, Stream};
use std::io::{PipeReader, Read, Write, pipe};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a line that are told at most.
const LONGEST_LINE: usize = 8192;
/// The interval at which the end of a stream is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// Tells whoever started the keeper; what cannot be told any more is not.
#[derive(Clone)]
pub(super) struct Voice(Arc<Mutex<Box<dyn Write + Send>>>);

impl Voice {
    pub(super) fn new(output: impl Write + Send + 'static) -> Voice {
        Voice(Arc::new(Mutex::new(Box::new(output))))
    }

    pub(super) fn tell(&self, event: &Event) {
        let Ok(line) = serde_json::to_string(event) else { return };
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output.write_all(format!("{line}\n").as_bytes()).and_then(|()| output.flush());
    }

    /// Tells the lines of a service.
    pub(super) fn on_line(&self) -> OnLine {
        let voice = self.clone();
        Arc::new(move |stream, line| voice.tell(&Event::Line(stream, line)))
    }

    pub(super) fn fail(&self, why: String, hint: Option<String>, said: &str) {
        self.tell(&Event::Failed { why, hint, said: said.to_owned() });
    }
}

/// Is given the lines that a command prints.
pub(super) type OnLine = Arc<dyn Fn(Stream, String) + Send + Sync>;

/// Threads that read what a command prints.
pub(super) struct Hearing {
    /// Streams that are still open.
    open: Arc<AtomicUsize>,
    is_telling: Arc<AtomicBool>,
}

impl Hearing {
    /// Hears what this command will print. Lines are given to `on_line`; without it, both streams are one pipe, so that
    /// the log has them in their order.
    pub(super) fn of(
        command: &mut Command,
        log: &Arc<Mutex<Log>>,
        on_line: Option<OnLine>,
    ) -> std::io::Result<Hearing> {
        let hearing =
            Hearing { open: Arc::default(), is_telling: Arc::new(AtomicBool::new(on_line.is_some())) };
        let (out, output) = pipe()?;
        match on_line {
            None => {
                command.stdout(output.try_clone()?).stderr(output);
                hearing.hear(out, log, None);
            }
            Some(on_line) => {
                let (err, error_output) = pipe()?;
                command.stdout(output).stderr(error_output);
                hearing.hear(out, log, Some((Stream::Out, Arc::clone(&on_line))));
                hearing.hear(err, log, Some((Stream::Err, on_line)));
            }
        }
        Ok(hearing)
    }

    fn hear(&self, mut from: PipeReader, log: &Arc<Mutex<Log>>, on_line: Option<(Stream, OnLine)>) {
        let (open, is_telling, log) = (Arc::clone(&self.open), Arc::clone(&self.is_telling), Arc::clone(log));
        open.fetch_add(1, Ordering::AcqRel);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            let mut line = Vec::new();
            while let Ok(read) = from.read(&mut buffer) {
                if read == 0 {
                    break;
                }
                log.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..read]);
                if let Some((stream, on_line)) =
                    on_line.as_ref().filter(|_| is_telling.load(Ordering::Acquire))
                {
                    lines(&mut line, &buffer[..read], |text| on_line(*stream, text));
                }
            }
            if let Some((stream, on_line)) = on_line.filter(|_| !line.is_empty()) {
                on_line(stream, String::from_utf8_lossy(&line).into_owned());
            }
            open.fetch_sub(1, Ordering::AcqRel);
        });
    }

    /// Tells no lines from now on.
    pub(super) fn tell_no_more(&self) {
        self.is_telling.store(false, Ordering::Release);
    }

    /// Waits until all was read that will ever be printed, for so long.
    pub(super) fn catch_up(&self, limit: Duration) {
        let began = Instant::now();
        while self.open.load(Ordering::Acquire) > 0 && began.elapsed() < limit {
            std::thread::sleep(LOOK);
        }
    }

    /// Whether somebody may still print something.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }
}

/// Takes bytes apart into lines; what is left of the last one stays.
fn lines(line: &mut Vec<u8>, bytes: &[u8], mut each: impl FnMut(String)) {
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        let room = LONGEST_LINE - line.len();
        let (text, is_whole) = match piece.strip_suffix(b"\n") {
            Some(text) => (text, true),
            None => (piece, false),
        };
        line.extend_from_slice(&text[..text.len().min(room)]);
        if is_whole {
            each(String::from_utf8_lossy(&std::mem::take(line)).trim_end_matches('\r').to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_were_cut_and_bounded() {
        let (mut line, mut heard) = (Vec::new(), Vec::new());
        for bytes in ["a", "b\nc", "d\r\n\ne"] {
            lines(&mut line, bytes.as_bytes(), |text| heard.push(text));
        }
        assert_eq!((heard.join("|").as_str(), line.as_slice()), ("ab|cd|", &b"e"[..]));
        lines(&mut line, &vec![b'x'; 20_000], |_| {});
        let mut long = 0;
        lines(&mut line, b"\n", |text| long = text.len());
        assert_eq!(long, LONGEST_LINE);
    }
}
