//! The reference service as a child process: started on a free port, ended with the process that started it.
//!
//! A separate process, because a service that shared its generator's threads would be measured by its own load. It is
//! not in our process group (Ctrl-C is ours to handle), so it watches its standard input: when we end, however we end,
//! that closes and the service stops.

use crate::error::Error;
use crate::values;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The text before the address in the first line of `sonagi serve`.
pub(crate) const LISTENING: &str = "listening on http://";
/// The time limit for a started service to answer `/healthz`.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit for a service to listen: creating a million users takes a few seconds.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// The time limit for its end after its grace period; then it is killed.
const END_PATIENCE: Duration = Duration::from_secs(30);
/// The interval at which its end is checked.
const END_LOOK: Duration = Duration::from_millis(5);

/// A running service; it ends when dropped.
pub(crate) struct Service {
    child: Child,
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
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| cannot(&error))?;
        let out = child.stdout.take().expect("standard output is piped");
        let complaints = child.stderr.take().map(Complaints::hear).transpose();
        let line = first_line(out);
        let address = line.as_deref().unwrap_or_default().trim_end().strip_prefix(LISTENING);
        let Some(address) = address.and_then(|address| address.parse().ok()) else {
            let status = ended(&mut child);
            let said = complaints.ok().flatten().map(|complaints| complaints.all()).unwrap_or_default();
            return Err(match (line, status) {
                (Err(error), _) | (Ok(_), Err(error)) => cannot(&format_args!("{error}{said}")),
                (Ok(line), Ok(status)) => {
                    let line = line.trim();
                    let line = if line.is_empty() { String::new() } else { format!(" and said `{line}`") };
                    cannot(&format_args!("it ended with {status}{line}{said}"))
                }
            });
        };
        if let Ok(Some(complaints)) = complaints {
            complaints.pass_on();
        }
        let service = Service { child, address, patience: END_PATIENCE + grace(arguments) };
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
        drop(self.child.stdin.take());
        let asked = Instant::now();
        while asked.elapsed() < self.patience {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => std::thread::sleep(END_LOOK),
                Err(_) => break,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        None
    }

    /// How it ended, if it has ended unasked.
    pub(crate) fn has_ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    /// Its process's usage so far; None when that cannot be read, as when it has ended.
    pub(crate) fn used(&mut self) -> Option<Used> {
        // Checked first: after a process has been waited for, its number may be another's.
        if self.has_ended().is_some() {
            return None;
        }
        let file = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).ok();
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
fn ended(child: &mut Child) -> std::io::Result<ExitStatus> {
    let asked = Instant::now();
    while asked.elapsed() < HEALTH_TIMEOUT {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(END_LOOK);
    }
    let _ = child.kill();
    child.wait()
}

/// A child's standard error: while it starts, kept for the error message; from then on, passed to ours.
struct Complaints {
    /// None: lines are passed on.
    kept: Arc<Mutex<Option<String>>>,
    hears: JoinHandle<()>,
}

impl Complaints {
    /// Bytes kept at most; more would not help.
    const MOST: usize = 4096;

    fn hear(from: ChildStderr) -> std::io::Result<Complaints> {
        let kept = Arc::new(Mutex::new(Some(String::new())));
        let keeps = Arc::clone(&kept);
        let hear = move || {
            let mut from = BufReader::new(from);
            let mut line = String::new();
            while matches!(from.read_line(&mut line), Ok(read) if read > 0) {
                match &mut *keeps.lock().unwrap_or_else(PoisonError::into_inner) {
                    Some(kept) if kept.len() + line.len() <= Complaints::MOST => kept.push_str(&line),
                    Some(_) => {}
                    None => say(&line),
                }
                line.clear();
            }
        };
        let hears = std::thread::Builder::new().name("complaints".to_owned()).spawn(hear)?;
        Ok(Complaints { kept, hears })
    }

    /// The whole output of a child that has ended, as the end of a sentence.
    fn all(self) -> String {
        let _ = self.hears.join();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let said = kept.trim().trim_start_matches("error: ");
        if said.is_empty() { String::new() } else { format!(": {said}") }
    }

    /// Passes output on from now on, since the child has started.
    fn pass_on(self) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        say(&kept.unwrap_or_default());
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

/// The first line a child prints, with a time limit: a child that hangs must not hang us.
fn first_line(out: ChildStdout) -> std::io::Result<String> {
    let (line, read) = channel();
    std::thread::Builder::new().name("first line".to_owned()).spawn(move || {
        let mut text = String::new();
        let read = BufReader::new(out).read_line(&mut text).map(|_| text);
        let _ = line.send(read);
    })?;
    read.recv_timeout(START_PATIENCE).unwrap_or_else(|_| {
        Err(std::io::Error::other(format!("it said nothing for {} s", START_PATIENCE.as_secs())))
    })
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
