//! The live line as a sink: redrawn in place on a terminal, plain lines now and then elsewhere.

use super::Sink;
use crate::page::{cut, tame};
use crate::progress::Line;
use sonagi_measure::At;
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, Snapshot};
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

    fn draw(&mut self, line: &Line) -> io::Result<()> {
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
    fn began(&mut self, header: &Header) -> io::Result<()> {
        self.length = header.load_s.map(|seconds| seconds.round() as u64).filter(|length| *length > 0);
        Ok(())
    }
    fn snapshot(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let line = if self.is_loaded { Line::after_load(snapshot) } else { Line::of(snapshot) };
        let line = Line { length: self.length, ..line };
        let due = line.second == 1 || line.second.is_multiple_of(PLAIN_EVERY);
        if self.redrawn.is_none() && (!due || line.second == self.written) {
            return Ok(());
        }
        self.written = line.second;
        self.draw(&line)
    }
    fn phase(&mut self, _at: At, name: &str) -> io::Result<()> {
        self.say(&format!("phase {name}"))
    }
    fn log(&mut self, _at: At, user: Option<u32>, text: &str) -> io::Result<()> {
        match user {
            Some(user) => self.say(&format!("user {user}: {text}")),
            None => self.say(text),
        }
    }
    /// Makes room: whoever prints it writes to the same terminal.
    fn printed(&mut self, _at: At, _user: Option<u32>, _text: &str) -> io::Result<()> {
        self.clear()?;
        self.out.flush()
    }
    fn draining(&mut self, _at: At) -> io::Result<()> {
        self.is_loaded = true;
        Ok(())
    }
    fn ended(&mut self, _summary: &Summary) -> io::Result<()> {
        self.clear()?;
        self.out.flush()
    }
}
