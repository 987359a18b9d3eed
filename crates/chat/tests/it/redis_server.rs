//! A real Redis of the tests, on a free port, ended with its test.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

pub struct Redis {
    child: Child,
    pub port: u16,
}

impl Redis {
    pub fn start() -> Redis {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Redis { child: spawned(port), port }
    }

    pub fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Ends it without a goodbye.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn again(&mut self) {
        self.child = spawned(self.port);
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawned(port: u16) -> Child {
    let at = port.to_string();
    let mut command = Command::new("redis-server");
    command.args(["--port", &at, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap_or_else(|error| {
        panic!("redis-server: {error}\nhint: scripts/setup.sh installs what the tests need")
    });
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "Redis does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}
