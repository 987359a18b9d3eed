//! The command that reaches a machine's shell, as a child process that is asked and answers, or is ended.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The environment's variable that has another command than `ssh`.
pub const SSH: &str = "SONAGI_SSH";

/// How long the first answer may take: connecting and logging in are part of it.
pub(super) const FIRST: Duration = Duration::from_secs(8);
/// How long any other may take.
pub(super) const NEXT: Duration = Duration::from_secs(3);
/// How long a shell may take to end when there is nothing more to read for it.
const END: Duration = Duration::from_millis(300);
/// Bytes of an answer: a table of a hundred thousand connections has some fifteen million.
const ANSWER_MAX: usize = 64 << 20;
/// Pieces of an answer that wait to be taken.
const PIECES_MAX: usize = 64;
/// Of what it says on standard error, the last bytes.
const COMPLAINT_MAX: usize = 400;

/// A program and its arguments.
#[derive(Clone, Debug)]
pub(super) struct Command {
    program: String,
    arguments: Vec<String>,
}

impl Command {
    pub(super) fn new(program: &str, arguments: &[&str]) -> Command {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Command { program: program.to_owned(), arguments }
    }

    /// ssh to `[USER@]HOST[:PORT]`, which asks no question.
    pub(super) fn ssh(destination: &str) -> Result<Command, String> {
        let rule = || format!("a machine is ssh:[USER@]HOST[:PORT]; got `{destination}`");
        let (host, port) = match destination.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (destination, None),
        };
        let is_named = |part: &str| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@:[]%".contains(&byte);
            !part.is_empty() && !part.starts_with('-') && part.bytes().all(known)
        };
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
        let (user, name) = host.rsplit_once('@').map_or((None, host), |(user, name)| (Some(user), name));
        let is_bracketed = name.starts_with('[') && name.ends_with(']');
        if !is_named(name) || !user.is_none_or(is_named) || !is_port || (name.contains(':') && !is_bracketed)
        {
            return Err(rule());
        }
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let host = user.map_or_else(|| name.to_owned(), |user| format!("{user}@{name}"));
        let options = ["BatchMode=yes", "ConnectTimeout=5", "ServerAliveInterval=5", "ServerAliveCountMax=2"];
        let mut arguments = vec!["-T".to_owned()];
        arguments.extend(options.iter().flat_map(|option| ["-o".to_owned(), (*option).to_owned()]));
        arguments.extend(port.into_iter().flat_map(|port| ["-p".to_owned(), port.to_owned()]));
        arguments.extend(["--".to_owned(), host, "sh -s".to_owned()]);
        let program = std::env::var(SSH).ok().filter(|program| !program.is_empty());
        Ok(Command { program: program.unwrap_or_else(|| "ssh".to_owned()), arguments })
    }
}

/// A shell that runs.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    stdin: Option<ChildStdin>,
    pieces: Receiver<Vec<u8>>,
    complaint: Arc<Mutex<Vec<u8>>>,
    /// Whoever reads the complaint.
    listener: Option<JoinHandle<()>>,
    /// Ends each part of an answer; nothing else it says has this in it.
    mark: String,
}

impl Child {
    pub(super) fn start(command: &Command) -> io::Result<Child> {
        let mut process = process::Command::new(&command.program)
            .args(&command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for us: the load winds down, and is watched meanwhile.
            .process_group(0)
            .spawn()
            .map_err(|error| io::Error::other(format!("cannot start `{}`: {error}", command.program)))?;
        let (into, pieces) = sync_channel(PIECES_MAX);
        let complaint = Arc::new(Mutex::new(Vec::new()));
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let mark = format!("sonagi-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let mut child =
            Child { process, stdin, pieces, complaint: Arc::clone(&complaint), listener: None, mark };
        if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
            let reader = std::thread::Builder::new().name("shell".to_owned());
            reader.spawn(move || forward(stdout, &into))?;
            let reader = std::thread::Builder::new().name("shell errors".to_owned());
            child.listener = Some(reader.spawn(move || keep_last(stderr, &complaint))?);
        }
        Ok(child)
    }

    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// The parts of the answer to some commands, each ended by the mark.
    ///
    /// # Errors
    /// It did not answer, or ended: it is of no use any more.
    pub(super) fn ask(&mut self, commands: &str, patience: Duration) -> io::Result<Vec<Vec<u8>>> {
        let until = Instant::now() + patience;
        let question = format!("{commands}printf '\\n%s\\n' {}-end\n", self.mark);
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        if stdin.write_all(question.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return Err(self.ended());
        }
        let end = format!("\n{}-end\n", self.mark).into_bytes();
        let mut said: Vec<u8> = Vec::new();
        while !said.ends_with(&end) {
            match self.pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(piece) if said.len() + piece.len() <= ANSWER_MAX => said.extend(piece),
                Ok(_) => return Err(io::Error::other("what it answers is too long")),
                Err(RecvTimeoutError::Timeout) => {
                    let why = format!("it does not answer within {} s", patience.as_secs());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
        said.truncate(said.len() - end.len());
        Ok(parts(&said, format!("\n{}\n", self.mark).as_bytes()))
    }

    /// It ended, with its last words.
    fn ended(&self) -> io::Error {
        let until = Instant::now() + END;
        while self.listener.as_ref().is_some_and(|it| !it.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&complaint).into_owned();
        let last = words.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let last = last.unwrap_or("the connection ended");
        io::Error::other(last.chars().filter(|letter| !letter.is_control()).collect::<String>())
    }
}

/// Whoever reads for it is told that there is no more, and ends; if not, it is ended.
impl Drop for Child {
    fn drop(&mut self) {
        self.stdin = None;
        let until = Instant::now() + END;
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                // It may have ended by itself just now.
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn forward(mut from: impl Read, into: &SyncSender<Vec<u8>>) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if into.send(bytes[..read].to_vec()).is_err() {
            break;
        }
    }
}

fn keep_last(mut from: impl Read, complaint: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let mut last = complaint.lock().unwrap_or_else(PoisonError::into_inner);
        last.extend_from_slice(&bytes[..read]);
        let surplus = last.len().saturating_sub(COMPLAINT_MAX);
        last.drain(..surplus);
    }
}

/// Parts of an answer, between marks.
fn parts(said: &[u8], mark: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = said;
    while let Some(at) = rest.windows(mark.len()).position(|window| window == mark) {
        parts.push(rest[..at].to_vec());
        rest = &rest[at + mark.len()..];
    }
    parts.push(rest.to_vec());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_becomes_a_command_and_never_an_option() {
        let of = |text: &str| Command::ssh(text).map(|it| it.arguments[9..].join(" "));
        assert_eq!(of("deploy@chat-1.example:2222").unwrap(), "-p 2222 -- deploy@chat-1.example sh -s");
        assert_eq!(of("host").unwrap(), "-- host sh -s");
        assert_eq!(of("u@[::1]:22").unwrap(), "-p 22 -- u@::1 sh -s");
        for bad in ["", "-oProxyCommand=x", "u@-oX", "host:0", "host:x", "a b", "::1", "u@", "h;x"] {
            assert!(Command::ssh(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_answer_is_cut_at_its_marks() {
        let said = b"a\n\nM\n\nM\nb";
        assert_eq!(parts(said, b"\nM\n"), [b"a\n".to_vec(), b"".to_vec(), b"b".to_vec()]);
    }
}
