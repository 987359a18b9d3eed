//! Where text goes: results to stdout, everything else to stderr.
//!
//! A reader that went away (`sonagi … | head`) is not an error: the rest is dropped and the exit code stays the
//! verdict's. Any other failure to write stdout is one, because results were lost.

use crate::environment;
use crate::error::Error;
use sonagi_report::sink::Live;
use std::io::{self, IsTerminal, Stderr, Write};

/// Widest page that is filled: longer lines are harder to read, not easier.
const WIDEST: usize = 120;
const USUAL: usize = 80;

/// The two streams and what they can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Columns of stdout's page.
    pub(crate) columns: usize,
    /// Whether stdout takes colour.
    pub(crate) colour: bool,
    /// Columns of stderr, when its last line can be redrawn.
    redrawn: Option<usize>,
}

impl Terminal {
    pub(crate) fn from_environment() -> Terminal {
        let dumb = environment::TERM.get().is_some_and(|term| term == "dumb");
        let wide = environment::COLUMNS.get().and_then(|columns| columns.parse().ok());
        let out = columns_of(&io::stdout());
        let err = columns_of(&io::stderr());
        Terminal {
            columns: out.or(wide).unwrap_or(USUAL).clamp(60, WIDEST),
            colour: out.is_some() && !dumb && environment::NO_COLOR.get().is_none(),
            redrawn: err.filter(|_| !dumb),
        }
    }

    /// A result, to stdout.
    pub(crate) fn print(&self, text: &str) -> Result<(), Error> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::could_not(format_args!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// A line for who watches, to stderr, above a live line that may stand there. Nothing is left to do when it fails.
    pub(crate) fn say(&self, text: &str) {
        let clear = if self.redrawn.is_some() { "\r\x1b[K" } else { "" };
        let _ = writeln!(io::stderr().lock(), "{clear}{text}");
    }

    /// The live line, on stderr.
    pub(crate) fn live(&self) -> Live<Stderr> {
        match self.redrawn {
            Some(columns) => Live::redrawn(io::stderr(), columns),
            None => Live::plain(io::stderr()),
        }
    }
}

fn columns_of(stream: &(impl IsTerminal + rustix::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok();
    Some(size.map_or(USUAL, |size| usize::from(size.ws_col)).max(20))
}
