//! A real PostgreSQL server of the tests: in a folder of its own, on a free port, ended with the last test that uses
//! it.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

/// The user and group that stand in for root, as whom PostgreSQL refuses to run.
const NOBODY: u32 = 65_534;
/// How long the server may take to start or end.
const PATIENCE: Duration = Duration::from_secs(60);
const PLACES: [&str; 4] = [
    "/usr/lib/postgresql/15/bin",
    "/usr/lib/postgresql/16/bin",
    "/usr/lib/postgresql/17/bin",
    "/usr/lib/postgresql/18/bin",
];

pub struct Cluster {
    folder: TempDir,
    pub port: u16,
    databases: AtomicUsize,
    server: Mutex<Option<Server>>,
}

impl Cluster {
    pub fn start() -> Cluster {
        let folder = TempDir::with_prefix("sonagi-postgres-").unwrap();
        if geteuid().is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = folder.path().join("db").display().to_string();
        let made = ["-D", &data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"];
        let output = unprivileged("initdb", &made, folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let cluster = Cluster { folder, port, databases: AtomicUsize::new(0), server: Mutex::new(None) };
        cluster.again();
        cluster
    }

    /// The one that all tests share which run meanwhile and leave it running.
    pub fn shared() -> Arc<Cluster> {
        static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let cluster = Arc::new(Cluster::start());
            *shared = Arc::downgrade(&cluster);
            cluster
        })
    }

    /// The address of a new database.
    pub fn database(&self) -> String {
        let name = format!("db{}", self.databases.fetch_add(1, Relaxed));
        self.run(&self.address("postgres"), &format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    pub fn address(&self, database: &str) -> String {
        format!("postgres://postgres:planted@127.0.0.1:{}/{database}", self.port)
    }

    pub fn at(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Runs SQL and returns its rows as text.
    pub fn run(&self, address: &str, sql: &str) -> String {
        let output = self.asked(address, sql);
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn asked(&self, address: &str, sql: &str) -> std::process::Output {
        let mut psql = Command::new(program("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", sql]);
        psql.current_dir("/").stdin(Stdio::null()).output().unwrap()
    }

    /// Ends it without a goodbye, as a crash does.
    pub fn crash(&self) {
        let server = self.server.lock().unwrap().take().unwrap();
        drop(server.end);
        server.keeper.join().unwrap();
    }

    /// Starts it, for the first time or after its end, and waits until it answers.
    pub fn again(&self) {
        let data = self.folder.path().join("db").display().to_string();
        let port = self.port.to_string();
        let sockets = format!("unix_socket_directories={}", self.folder.path().display());
        let mut arguments = vec!["-D", &data, "-p", &port];
        for setting in ["listen_addresses=127.0.0.1", "fsync=off", &sockets] {
            arguments.extend(["-c", setting]);
        }
        let log = self.folder.path().join("log");
        let file = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut command = unprivileged("postgres", &arguments, self.folder.path());
        command.stdout(file.try_clone().unwrap()).stderr(file);
        *self.server.lock().unwrap() = Some(Server::spawn(command));
        let end = Instant::now() + PATIENCE;
        let told = || std::fs::read_to_string(&log).unwrap_or_default();
        while TcpStream::connect(self.at()).is_err()
            || !self.asked(&self.address("postgres"), "SELECT").status.success()
        {
            assert!(Instant::now() < end, "PostgreSQL does not answer: {}", told());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A server and the thread that started it: what ends with that thread must not end with a test's.
struct Server {
    end: Sender<()>,
    keeper: JoinHandle<()>,
}

impl Server {
    fn spawn(mut command: Command) -> Server {
        let (end, ended) = channel::<()>();
        let keeper = std::thread::spawn(move || {
            let mut child = command.spawn().unwrap();
            // Until the other end is dropped.
            let _ = ended.recv();
            kill(&mut child);
        });
        Server { end, keeper }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Server { end, keeper }) = server {
            drop(end);
            let _ = keeper.join();
        }
    }
}

/// By SIGQUIT, of which its children are told.
fn kill(child: &mut Child) {
    if child.try_wait().unwrap().is_some() {
        return;
    }
    let _ = kill_process(Pid::from_child(child), Signal::QUIT);
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = PLACES.iter().map(PathBuf::from).chain(std::env::split_paths(&path));
    let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!("{name} was not found\nhint: scripts/setup.sh installs what the tests need")
    })
}

/// A command as a user who is not root, which ends with the thread that started it.
fn unprivileged(name: &str, arguments: &[&str], folder: &Path) -> Command {
    let mut made = Command::new("setpriv");
    if geteuid().is_root() {
        made.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    made.args(["--pdeathsig=KILL", "--"]).arg(program(name)).args(arguments);
    made.current_dir(folder).stdin(Stdio::null()).env("HOME", folder).env("LC_ALL", "C.UTF-8");
    made
}
