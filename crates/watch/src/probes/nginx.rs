//! nginx: its `stub_status` page, and its error log where that can be read. A connection that was accepted and not
//! handled was dropped for want of `worker_connections` or open files.

use super::page::Page;
use super::reach::Reach;
use crate::probe::{Probe, Readings, Unread};
use sonagi_measure::secrets::masked;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Bytes of the log that are read at a look, at most; a log that grows faster is skipped to its end.
const LOG_MAX: u64 = 4 << 20;
/// Errors that are told, at most.
const TOLD_MAX: usize = 10;
/// Characters of an error that are told.
const TEXT_MAX: usize = 200;

/// A probe of `nginx:http://…/status`, with `#log=/path` where the error log is on this machine.
pub(super) fn of(text: &str) -> Result<Box<dyn Probe>, String> {
    let text = text.trim_start_matches("nginx:");
    let (address, log) = match text.split_once('#') {
        Some((address, fragment)) => {
            let path = fragment.strip_prefix("log=").filter(|path| path.starts_with('/'));
            let path =
                path.ok_or("behind the address of nginx stands #log=/path/of/its/error.log or nothing")?;
            (address, Some(Log { path: PathBuf::from(path), place: None, told: HashSet::new() }))
        }
        None => (text, None),
    };
    Ok(Box::new(Nginx { page: Page::at(address)?, reach: Reach::default(), log }))
}

struct Nginx {
    page: Page,
    reach: Reach,
    log: Option<Log>,
}

impl Probe for Nginx {
    fn subject(&self) -> String {
        format!("nginx at {}", self.page.told())
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        vec![("at", self.page.host())]
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        // First: it says why the page cannot be had.
        if let Some(log) = &mut self.log {
            log.look(readings);
        }
        if self.reach.is_waiting() {
            return Ok(());
        }
        let fetched = self.page.fetch("text/plain");
        let status = Status::of(&self.reach.took(fetched, readings)?).ok_or_else(|| {
            Unread::because("the page is none of stub_status")
                .hint("location = /status { stub_status; allow 127.0.0.1; deny all; }")
        })?;
        readings.level("nginx.connections", &[], status.active);
        readings.total("nginx.accepted", &[], status.accepted);
        readings.total("nginx.dropped", &[], status.accepted - status.handled);
        readings.total("nginx.requests", &[], status.requests);
        readings.level("nginx.reading", &[], status.reading);
        readings.level("nginx.writing", &[], status.writing);
        readings.level("nginx.waiting", &[], status.waiting);
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
struct Status {
    active: f64,
    accepted: f64,
    handled: f64,
    requests: f64,
    reading: f64,
    writing: f64,
    waiting: f64,
}

impl Status {
    /// The numbers of the page, whose form has been the same since 2004.
    fn of(page: &str) -> Option<Status> {
        if !page.starts_with("Active connections:") {
            return None;
        }
        let mut numbers = page.split_whitespace().filter_map(|word| word.parse().ok());
        let mut next = || numbers.next();
        Some(Status {
            active: next()?,
            accepted: next()?,
            handled: next()?,
            requests: next()?,
            reading: next()?,
            writing: next()?,
            waiting: next()?,
        })
    }
}

/// The error log, and how far it was read.
struct Log {
    path: PathBuf,
    /// The file's number, and the place in it.
    place: Option<(u64, u64)>,
    told: HashSet<String>,
}

impl Log {
    fn look(&mut self, readings: &mut Readings<'_>) {
        let text = match self.more() {
            Ok(text) => text,
            Err(error) => {
                let unread = Unread::because(format_args!("{}: {error}", self.path.display()));
                return readings.not_measured("its error log is", &unread);
            }
        };
        let count = |wanted: &[&str]| {
            text.lines().filter(|line| wanted.iter().any(|part| line.contains(part))).count() as f64
        };
        readings.increase("nginx.log.worker_connections", &[], count(&["worker_connections are not enough"]));
        readings.increase("nginx.log.limited", &[], count(&["limiting requests", "limiting connections"]));
        readings.increase(
            "nginx.log.upstream",
            &[],
            count(&[
                "while connecting to upstream",
                "while reading response header from upstream",
                "no live upstreams",
            ]),
        );
        for line in text.lines() {
            let Some(said) = said(line) else { continue };
            if self.told.len() < TOLD_MAX && self.told.insert(said.clone()) {
                readings.happened(format_args!("its error log says: {said}"));
            }
        }
    }

    /// The lines since the look before; none at the first one.
    fn more(&mut self) -> io::Result<String> {
        let mut file = File::open(&self.path)?;
        let known = file.metadata()?;
        let from = match self.place {
            None => known.len(),
            // Another file, or a shorter one: it was rotated.
            Some((number, from)) if number == known.ino() && from <= known.len() => from,
            Some(_) => 0,
        };
        let from = if known.len() - from > LOG_MAX { known.len() - LOG_MAX } else { from };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(LOG_MAX).read_to_end(&mut bytes)?;
        // The last line may not be whole yet.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(whole);
        self.place = Some((known.ino(), from + whole as u64));
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The error that a line tells, without its time, its connection, and whose request it was; None: a note or a warning.
fn said(line: &str) -> Option<String> {
    const GRAVE: [&str; 4] = ["[error] ", "[crit] ", "[alert] ", "[emerg] "];
    let (_, text) = GRAVE.iter().find_map(|level| line.split_once(level))?;
    let text = text.split_once(": ").map_or(text, |(_, text)| text);
    let text = match text.split_once(' ') {
        Some((connection, text)) if connection.starts_with('*') => text,
        _ => text,
    };
    let text = text.split(", client:").next().unwrap_or(text);
    // By how much a limit was passed differs from line to line.
    let text = match text.split_once("excess: ").map(|(before, after)| (before, after.split_once(" by "))) {
        Some((before, Some((_, zone)))) => format!("{before}by {zone}"),
        _ => text.to_owned(),
    };
    let text: String = text.chars().take(TEXT_MAX).collect();
    Some(masked(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_error_log_is_told_without_whose_request_it_was() {
        let at = "2026/11/23 10:00:00 ";
        let whose = "client: 10.0.0.1, server: s, request: \"GET /?token=planted HTTP/1.1\", host: \"h\"";
        for (line, told) in [
            (
                "[alert] 7#7: 32 worker_connections are not enough".to_owned(),
                Some("32 worker_connections are not enough"),
            ),
            (
                format!("[error] 7#7: *9 limiting requests, excess: 20.480 by zone \"api\", {whose}"),
                Some("limiting requests, by zone \"api\""),
            ),
            (
                format!(
                    "[error] 7#7: *9 connect() failed (111: Connection refused) while connecting to upstream, {whose}"
                ),
                Some("connect() failed (111: Connection refused) while connecting to upstream"),
            ),
            (format!("[warn] 7#7: *9 a client request body is buffered, {whose}"), None),
            ("planted".to_owned(), None),
        ] {
            assert_eq!(said(&format!("{at}{line}")).as_deref(), told);
        }
    }

    #[test]
    fn a_page_that_is_none_of_stub_status_has_no_numbers() {
        let page = "Active connections: 3 \nserver accepts handled requests\n 16 15 40 \n\
                    Reading: 0 Writing: 1 Waiting: 2 \n";
        let numbers = |it: Status| [it.active, it.accepted, it.handled, it.requests, it.writing, it.waiting];
        assert_eq!(Status::of(page).map(numbers), Some([3.0, 16.0, 15.0, 40.0, 1.0, 2.0]));
        assert_eq!(Status::of("1 2 3 4 5 6 7"), None);
        assert_eq!(Status::of("Active connections: 3 \n"), None);
    }
}
