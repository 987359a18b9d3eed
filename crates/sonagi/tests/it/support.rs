//! The binary in a folder of its own, and a service beside it.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use tempfile::TempDir;

/// A folder that runs start in and leave their results in.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A command in this folder, its output piped.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sonagi"));
        command.args(arguments).current_dir(self.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for variable in
            ["NO_COLOR", "COLUMNS", "TERM", "HTTP_PROXY", "HTTPS_PROXY", "ARTILLERY_DISABLE_ENSURE"]
        {
            command.env_remove(variable);
        }
        command
    }

    pub(crate) fn sonagi(&self, arguments: &[&str]) -> Answer {
        Answer::from(self.command(arguments).output().unwrap())
    }

    /// The run folders, oldest name first.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path().join("runs")) else { return Vec::new() };
        let mut folders: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders
    }

    /// The only folder in `runs`, a matrix's, and the names of the runs' folders in it.
    pub(crate) fn matrix(&self) -> (PathBuf, Vec<String>) {
        let all = self.folders();
        assert_eq!(all.len(), 1, "{all:?}");
        let entries = fs::read_dir(&all[0]).unwrap().map(|entry| entry.unwrap());
        let inner = entries.filter(|entry| entry.path().is_dir());
        let mut inner: Vec<String> = inner.map(|entry| entry.file_name().into_string().unwrap()).collect();
        inner.sort();
        (all[0].clone(), inner)
    }

    /// The output of `sonagi report --json` for the only run folder.
    pub(crate) fn reported(&self) -> Value {
        let folders = self.folders();
        assert_eq!(folders.len(), 1, "{folders:?}");
        let answer = self.sonagi(&["report", folders[0].to_str().unwrap(), "--json"]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        answer.json()
    }
}

/// A command's exit code and output.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Answer {
    fn from(output: Output) -> Answer {
        Answer {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Answer {
    /// The one JSON document on standard output, with nothing around it.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A running command whose progress is read line by line.
pub(crate) struct Running {
    child: Child,
    err: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        Running { child, err, said: String::new() }
    }

    /// Reads its standard error up to the line that contains `text`; ends with the process at the latest.
    pub(crate) fn wait_for(&mut self, text: &str) {
        loop {
            let mut line = String::new();
            let read = self.err.read_line(&mut line).unwrap();
            self.said.push_str(&line);
            if line.contains(text) {
                return;
            }
            assert!(read > 0, "it ended and never said {text:?}, but:\n{}", self.said);
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard error as far as it has been read.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn end(mut self) -> Answer {
        self.err.read_to_string(&mut self.said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Answer { err: self.said, ..Answer::from(output) }
    }
}

/// `sonagi serve` on a free port; it ends with its standard input, so at the latest with the test.
pub(crate) struct Service {
    child: Child,
    pub(crate) url: String,
}

impl Service {
    pub(crate) fn start(place: &Place, arguments: &[&str]) -> Service {
        let mut command = place.command(&["serve", "--listen=127.0.0.1:0", "--stop-on-eof", "--grace=0s"]);
        command.args(arguments).stdin(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("it said {line:?}"));
        Service { url: url.to_string(), child }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
