//! The live line as a sink: redrawn in place on a terminal, plain lines now and then elsewhere.

use super::{Sink, SinkEvent};
use crate::page::{cut, tame};
use crate::progress::Line;
use sonagi_measure::totals::Snapshot;
use std::io::{self, Write};

/// A line that is not redrawn is written after the first second and then this often, in seconds: a log of an hour's
/// run stays readable.
const PLAIN_EVERY: u64 = 5;
const PLAIN_WIDTH: usize = 110;
/// The figures matter more than the name of the run.
const TITLE_WIDTH: usize = 30;

/// Where a run stands, on `out`.
pub struct Live<W> {
    out: W,
    /// Before every line: which run of how many this is.
    title: String,
    /// Columns, when `out` is a terminal whose line can be redrawn.
    redrawn: Option<usize>,
    /// The phases of the load are over.
    is_loaded: bool,
    /// How long they take, in whole seconds.
    length: Option<u64>,
    drawn: bool,
    /// The second of the last plain line: the last intervals of a run share one.
    written: u64,
}

impl<W: Write> Live<W> {
    /// Redraws one line of at most `columns` columns.
    pub fn redrawn(out: W, columns: usize) -> Live<W> {
        Live::new(out, Some(columns))
    }

    /// Writes a plain line every few seconds.
    pub fn plain(out: W) -> Live<W> {
        Live::new(out, None)
    }

    fn new(out: W, redrawn: Option<usize>) -> Live<W> {
        Live { out, title: String::new(), redrawn, is_loaded: false, length: None, drawn: false, written: 0 }
    }

    /// Says before every line which run of how many this is.
    pub fn titled(mut self, title: &str) -> Live<W> {
        self.title = format!("{}  ", cut(&tame(title), TITLE_WIDTH));
        self
    }

    /// A whole line above the live one.
    fn say(&mut self, text: &str) -> io::Result<()> {
        self.clear()?;
        writeln!(self.out, "{}", tame(text))?;
        self.out.flush()
    }

    fn clear(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.drawn, false) {
            self.out.write_all(b"\r\x1b[K")?;
        }
        Ok(())
    }

    fn second(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let line = Line { snapshot, is_loaded: self.is_loaded, length: self.length };
        let second = line.second();
        let due = second == 1 || second.is_multiple_of(PLAIN_EVERY);
        if self.redrawn.is_none() && (!due || second == self.written) {
            return Ok(());
        }
        self.written = second;
        self.draw(&line)
    }

    fn draw(&mut self, line: &Line<'_>) -> io::Result<()> {
        match self.redrawn {
            Some(columns) => {
                self.clear()?;
                // One column stays free: a full line would wrap on some terminals.
                let room = columns.saturating_sub(1 + crate::page::columns(&self.title));
                write!(self.out, "{}{}", self.title, line.text(room))?;
                self.drawn = true;
            }
            None => writeln!(self.out, "{}{}", self.title, line.text(PLAIN_WIDTH))?,
        }
        self.out.flush()
    }
}

impl<W: Write> Sink for Live<W> {
    fn name(&self) -> &str {
        "the live line"
    }
    fn event(&mut self, event: &SinkEvent) -> io::Result<()> {
        match event {
            SinkEvent::Began(header) => {
                let length = header.load_s.map(|seconds| seconds.round() as u64);
                self.length = length.filter(|length| *length > 0);
            }
            SinkEvent::Second(snapshot) => return self.second(snapshot),
            SinkEvent::Phase { name, .. } => return self.say(&format!("phase {name}")),
            SinkEvent::Line { user: Some(user), text, is_printed: false, .. } => {
                return self.say(&format!("user {user}: {text}"));
            }
            SinkEvent::Line { text, is_printed: false, .. } => return self.say(text),
            // Makes room: whoever prints a line writes to the same terminal.
            SinkEvent::Line { .. } | SinkEvent::Ended(_) => {
                self.clear()?;
                return self.out.flush();
            }
            SinkEvent::Draining { .. } => self.is_loaded = true,
            SinkEvent::Noted { .. } => {}
        }
        Ok(())
    }
}
