//! The reference service as a child process: started on a free port, ended with whoever started it.
//!
//! A process of its own, because a service that shares its generator's threads would be measured by its own load. It is
//! not in our process group (Ctrl-C is ours to handle), so it watches its standard input: when we end, however we end,
//! that closes and the service stops.

use crate::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What precedes the address in the first line of `sonagi serve`.
pub(crate) const LISTENING: &str = "listening on http://";
/// How long a started service may take to answer `/healthz`.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

/// A running service; ended when dropped.
pub(crate) struct Service {
    child: Child,
    address: SocketAddr,
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
            .process_group(0)
            .spawn()
            .map_err(|error| cannot(&error))?;
        let mut line = String::new();
        let out = child.stdout.take().expect("standard output is piped");
        let read = BufReader::new(out).read_line(&mut line);
        let address = line.trim_end().strip_prefix(LISTENING).and_then(|address| address.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let status = child.wait();
            return Err(match (read, status) {
                (Err(error), _) => cannot(&error),
                (Ok(_), Ok(status)) => {
                    cannot(&format_args!("it ended with {status} and said `{}`", line.trim()))
                }
                (Ok(_), Err(error)) => cannot(&error),
            });
        };
        let service = Service { child, address };
        service.check_health().map_err(|error| cannot(&error))?;
        Ok(service)
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets it drain and waits for its end.
    pub(crate) fn stop(mut self) -> Result<(), Error> {
        drop(self.child.stdin.take());
        let status = self.child.wait().map_err(Error::could_not)?;
        if status.success() {
            return Ok(());
        }
        Err(Error::could_not(format_args!("the reference service ended with {status}")))
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

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
