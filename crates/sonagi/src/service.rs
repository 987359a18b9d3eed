//! The reference service as a child process: started on a free port, ended with the process that started it.
//!
//! A separate process, because a service that shared its generator's threads would be measured by its own load. A
//! keeper stands between us (`sonagi_lab`), so that it ends with us, however we end; it is asked to end by the end of
//! its standard input, upon which it drains.

use crate::error::Error;
use crate::values;
use sonagi_lab::{Job, Kept, Limits, StopBy, Stream};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The text before the address in the first line of `sonagi serve`.
pub(crate) const LISTENING: &str = "listening on http://";
/// The time limit for a started service to answer `/healthz`.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit for a service to listen: creating a million users takes a few seconds.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// The time limit for its end after its grace period; then it is killed.
const END_PATIENCE: Duration = Duration::from_secs(30);
/// The interval at which the first line of a service is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// A running service; it ends when dropped.
pub(crate) struct Service {
    kept: Kept,
    address: SocketAddr,
    patience: Duration,
}

impl Service {
    /// Starts this same binary with `arguments` and waits until the service answers.
    pub(crate) fn start(arguments: &[String]) -> Result<Service, Error> {
        let cannot = |what: &dyn std::fmt::Display| {
            Error::could_not(format_args!("the reference service did not start: {what}"))
        };
        let program = std::env::current_exe().map_err(|error| cannot(&error))?;
        let patience = END_PATIENCE + grace(arguments);
        let job = Job {
            command: std::iter::once(program.display().to_string())
                .chain(arguments.iter().cloned())
                .collect(),
            restart: None,
            folder: None,
            env: Vec::new(),
            stop: StopBy::Eof,
            grace: patience,
            limits: Limits::default(),
            before: None,
            after: None,
            tells_lines: true,
            usual_nofile: None,
        };
        let (told, lines) = channel();
        let complaints = Complaints::default();
        let hears = complaints.clone();
        let on_line = move |stream, line: &str| match stream {
            // Whoever waits for the first line does not wait for others.
            Stream::Out => drop(told.send(line.to_owned())),
            Stream::Err => hears.hear(line),
        };
        let mut kept = Kept::start(&job, on_line).map_err(|error| cannot(&error))?;
        let began = std::time::Instant::now();
        let line = loop {
            match lines.recv_timeout(LOOK) {
                Ok(line) => break line,
                // Its last words are there by now, and its first line would be.
                Err(_) if kept.is_gone() => break lines.try_recv().unwrap_or_default(),
                Err(_) if began.elapsed() < START_PATIENCE => {}
                Err(_) => {
                    let seconds = START_PATIENCE.as_secs();
                    return Err(cannot(&format_args!("it said nothing for {seconds} s{}", complaints.all())));
                }
            }
        };
        let Some(address) = line.trim_end().strip_prefix(LISTENING).and_then(|address| address.parse().ok())
        else {
            let status = ended(&mut kept);
            let line = line.trim();
            let line = if line.is_empty() { String::new() } else { format!(" and said `{line}`") };
            return Err(cannot(&format_args!("it ended with {status}{line}{}", complaints.all())));
        };
        complaints.pass_on();
        let service = Service { kept, address, patience };
        service.check_health().map_err(|error| cannot(&error))?;
        Ok(service)
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets it drain and waits for its end; a service that does not end is killed, and that is an error.
    pub(crate) fn stop(mut self) -> Result<(), Error> {
        match self.end() {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(Error::could_not(format_args!("the reference service ended with {status}"))),
            None => Err(Error::could_not(format_args!(
                "the reference service did not end within {} s and was killed",
                self.patience.as_secs()
            ))),
        }
    }

    /// Asks it to drain and end, and waits for that up to the time limit. None: it had to be killed.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        let ended = self.kept.end(&|| false).filter(|ended| !ended.is_killed)?;
        Some(ExitStatus::from_raw(ended.status))
    }

    /// How it ended, if it has ended unasked.
    pub(crate) fn has_ended(&mut self) -> Option<String> {
        self.kept.how_it_ended()
    }

    /// Its process's usage so far; None when that cannot be read, as when it has ended.
    pub(crate) fn used(&mut self) -> Option<Used> {
        // Checked first: after a process has been waited for, its number may be another's.
        if self.has_ended().is_some() {
            return None;
        }
        let id = self.kept.process()?;
        let file = |name: &str| std::fs::read_to_string(format!("/proc/{id}/{name}")).ok();
        used(&file("stat")?, &file("status")?, rustix::param::clock_ticks_per_second())
    }

    fn check_health(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect_timeout(&self.address, HEALTH_TIMEOUT)?;
        stream.set_read_timeout(Some(HEALTH_TIMEOUT))?;
        write!(stream, "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        match &answer {
            b"HTTP/1.1 200" => Ok(()),
            other => {
                Err(std::io::Error::other(format!("/healthz answered {}", String::from_utf8_lossy(other))))
            }
        }
    }
}

/// The status of a child that did not start: its own if it is about to end by itself.
fn ended(kept: &mut Kept) -> ExitStatus {
    let asked = std::time::Instant::now();
    while !kept.is_gone() && asked.elapsed() < HEALTH_TIMEOUT {
        std::thread::sleep(LOOK);
    }
    let ended = kept.end(&|| true);
    ExitStatus::from_raw(ended.map_or(9, |ended| ended.status))
}

/// A child's standard error: while it starts, kept for the error message; from then on, passed to ours.
#[derive(Clone)]
struct Complaints {
    /// None: lines are passed on.
    kept: Arc<Mutex<Option<String>>>,
}

impl Default for Complaints {
    fn default() -> Complaints {
        Complaints { kept: Arc::new(Mutex::new(Some(String::new()))) }
    }
}

impl Complaints {
    /// Bytes kept at most; more would not help.
    const MOST: usize = 4096;

    fn hear(&self, line: &str) {
        match &mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(kept) if kept.len() + line.len() < Complaints::MOST => {
                kept.push_str(line);
                kept.push('\n');
            }
            Some(_) => {}
            None => say(&format!("{line}\n")),
        }
    }

    /// The whole output of a child that has ended, as the end of a sentence.
    fn all(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let said = kept.trim().trim_start_matches("error: ");
        if said.is_empty() { String::new() } else { format!(": {said}") }
    }

    /// Passes output on from now on, since the child has started.
    fn pass_on(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        say(&kept.take().unwrap_or_default());
    }
}

/// Prints to stderr; a failure is ignored.
fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The value of `--grace=TIME`.
fn grace(arguments: &[String]) -> Duration {
    let given = arguments.iter().find_map(|argument| argument.strip_prefix("--grace="));
    given.and_then(|time| values::duration(time).ok()).unwrap_or_default()
}

/// A process's usage since it started, by the kernel's accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// The CPU time of all its threads, including those that have ended.
    pub(crate) cpu: Duration,
    /// The peak of resident memory, in bytes.
    pub(crate) resident_peak: u64,
}

/// Reads `/proc/PID/stat` and `/proc/PID/status`.
fn used(stat: &str, status: &str, ticks_per_second: u64) -> Option<Used> {
    // The name in parentheses may hold anything; the state behind it is the third field, user and system time are the
    // fourteenth and fifteenth.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let cpu = Duration::from_secs_f64(ticks as f64 / ticks_per_second.max(1) as f64);
    Some(Used { cpu, resident_peak: kib * 1024 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processs_use_is_read_from_the_kernels_accounts_whatever_its_name() {
        let stat = "42 (a ) S (b) R 1 42 42 0 -1 4194560 903 0 0 0 150 75 9 9 20 0 5 0 100 0 0";
        let status = "Name:\ta\nVmPeak:\t   99 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let seen = Used { cpu: Duration::from_millis(2250), resident_peak: 2 << 20 };
        assert_eq!(used(stat, status, 100), Some(seen));
        assert_eq!(used(stat, "Name:\ta\n", 100), None);
        assert_eq!(used("42 (a) R 1", status, 100), None);
    }
}
