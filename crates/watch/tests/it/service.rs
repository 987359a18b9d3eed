//! Real services, each started for one test in a folder of its own, on a free port, and ended with it.

use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The user and group that stand in for root, as whom PostgreSQL refuses to run.
const NOBODY: u32 = 65_534;
/// How long a service may take to start or end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service that runs, and ends when this is dropped.
pub(crate) struct Service {
    child: Child,
    pub(crate) port: u16,
    pub(crate) folder: TempDir,
    command: Vec<String>,
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A folder that the service's user owns.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::with_prefix("sonagi-service-").unwrap();
    if geteuid().is_root() {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    folder
}

/// The path of a program, which may stand in a folder that is on nobody's path.
pub(crate) fn program(name: &str, beside: &[&str]) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(beside.iter().map(PathBuf::from));
    let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("{name} was not found\nhint: scripts/setup.sh installs what the tests need")
    })
}

/// A command as a user who is not root. What it starts ends with the thread that started it.
pub(crate) fn unprivileged(command: &[String], folder: &Path) -> Command {
    let mut made = Command::new("setpriv");
    if geteuid().is_root() {
        made.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    made.args(["--pdeathsig=KILL", "--"]).args(command).current_dir(folder).stdin(Stdio::null());
    made.env("HOME", folder).env("LC_ALL", "C.UTF-8");
    made
}

impl Service {
    /// Starts a command and waits until it listens at its port.
    pub(crate) fn start(folder: TempDir, port: u16, command: Vec<String>) -> Service {
        let child = spawned(&command, folder.path());
        let mut service = Service { child, port, folder, command };
        service.wait();
        service
    }

    /// Ends it without a goodbye.
    pub(crate) fn kill(&mut self) {
        let pid = Pid::from_child(&self.child);
        // PostgreSQL's children are told by SIGQUIT; the others end by it as well.
        kill_process(pid, Signal::QUIT).unwrap();
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                self.child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Starts it again after its end.
    pub(crate) fn again(&mut self) {
        self.child = spawned(&self.command, self.folder.path());
        self.wait();
    }

    fn wait(&mut self) {
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(self.child.try_wait().unwrap().is_none(), "{:?} ended: {}", self.command, log());
            assert!(Instant::now() < end, "{:?} does not listen: {}", self.command, log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.kill();
        }
    }
}

fn spawned(command: &[String], folder: &Path) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    unprivileged(command, folder).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}
