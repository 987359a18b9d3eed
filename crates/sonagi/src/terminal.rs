//! Output streams: results to stdout, everything else to stderr.
//!
//! A reader that went away (`sonagi … | head`) is not an error: the rest is dropped and the exit code stays the
//! verdict's. Any other failure to write stdout is one, because results were lost.

use crate::environment::{self, Variable};
use crate::error::Error;
use sonagi_report::sink::Live;
use std::io::{self, IsTerminal, Stderr, Write};

/// The widest page that is filled, in columns: longer lines are harder to read.
const WIDEST: usize = 120;
const USUAL: usize = 80;

/// The two streams and their capabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// The columns of stdout's page.
    pub(crate) columns: usize,
    /// Whether stdout shows colours.
    pub(crate) colour: bool,
    /// Whether stdout shows letters beyond ASCII.
    pub(crate) is_unicode: bool,
    /// Whether lines of stdout can be drawn again.
    pub(crate) is_redrawable: bool,
    /// The columns of stderr, when its last line can be redrawn.
    redrawn: Option<usize>,
}

impl Terminal {
    pub(crate) fn from_environment() -> Terminal {
        Terminal::of(columns_of(&io::stdout()), columns_of(&io::stderr()), Variable::get)
    }

    /// The capabilities of two streams: their columns if they are terminals, and the environment's wishes.
    fn of(out: Option<usize>, err: Option<usize>, get: impl Fn(&Variable) -> Option<String>) -> Terminal {
        let dumb = get(&environment::TERM).is_some_and(|term| term == "dumb");
        let wide = get(&environment::COLUMNS).and_then(|columns| columns.parse().ok());
        Terminal {
            columns: out.or(wide).unwrap_or(USUAL).clamp(60, WIDEST),
            colour: out.is_some() && !dumb && get(&environment::NO_COLOR).is_none(),
            is_unicode: is_unicode(&get),
            is_redrawable: out.is_some() && !dumb,
            redrawn: err.filter(|_| !dumb),
        }
    }

    /// Prints a result to stdout.
    pub(crate) fn print(&self, text: &str) -> Result<(), Error> {
        let mut out = io::stdout().lock();
        written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Prints a part of a result that has no end to stdout; false: nobody reads it any more.
    pub(crate) fn tell(&self, text: &str) -> Result<bool, Error> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            told => written(told).map(|()| true),
        }
    }

    /// A result that is long, piece by piece, to stdout.
    pub(crate) fn fill(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        written(fill(&mut out).and_then(|()| out.flush()))
    }

    /// Prints a line to stderr, above a live line if there is one. A failure is ignored.
    pub(crate) fn say(&self, text: &str) {
        let clear = if self.redrawn.is_some() { "\r\x1b[K" } else { "" };
        let _ = writeln!(io::stderr().lock(), "{clear}{text}");
    }

    /// Whether somebody watches stderr.
    pub(crate) fn is_watched(&self) -> bool {
        self.redrawn.is_some()
    }

    /// The live line, on stderr; with a title when there are several runs.
    pub(crate) fn live(&self, title: Option<&str>) -> Live<Stderr> {
        let live = match self.redrawn {
            Some(columns) => Live::redrawn(io::stderr(), columns),
            None => Live::plain(io::stderr()),
        };
        match title {
            Some(title) => live.titled(title),
            None => live,
        }
    }
}

/// Whether the locale has UTF-8: the first of its variables that is set says so.
fn is_unicode(get: impl Fn(&Variable) -> Option<String>) -> bool {
    let locale = [&environment::LC_ALL, &environment::LC_CTYPE, &environment::LANG].into_iter().find_map(get);
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

fn written(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::could_not(format_args!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn columns_of(stream: &(impl IsTerminal + rustix::fd::AsFd)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok();
    Some(size.map_or(USUAL, |size| usize::from(size.ws_col)).max(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(out: Option<usize>, set: &[(&str, &str)]) -> (usize, bool, bool) {
        let get = |variable: &Variable| {
            let value = set.iter().find(|(name, _)| *name == variable.name)?.1;
            Some(value.to_string())
        };
        let Terminal { columns, colour, redrawn, .. } = Terminal::of(out, out, get);
        (columns, colour, redrawn.is_some())
    }

    #[test]
    fn colour_and_a_live_line_are_for_terminals_that_want_them() {
        assert_eq!(shown(Some(100), &[]), (100, true, true));
        assert_eq!(shown(Some(100), &[("NO_COLOR", "1")]), (100, false, true));
        assert_eq!(shown(Some(100), &[("TERM", "dumb")]), (100, false, false));
        assert_eq!(shown(None, &[("TERM", "xterm")]), (80, false, false));
    }

    #[test]
    fn columns_says_how_wide_a_page_is_that_goes_to_no_terminal() {
        assert_eq!(shown(None, &[("COLUMNS", "100")]).0, 100);
        assert_eq!(shown(None, &[("COLUMNS", "9")]).0, 60);
        assert_eq!(shown(None, &[("COLUMNS", "wide")]).0, 80);
        assert_eq!(shown(Some(300), &[("COLUMNS", "100")]).0, 120);
    }
}
