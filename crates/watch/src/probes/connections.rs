//! The target's sockets: what waits to be accepted, to be read, and to be acknowledged.

use super::target::{listening, sockets_at};
use crate::machine::Machine;
use crate::probe::{Readings, Unread};
use procfs_core::net::{TcpNetEntries, TcpState};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::{Duration, Instant};

/// The table of all connections is read so rarely that reading it takes this share of the time at most: with ten
/// thousand of them, reading takes some twenty milliseconds.
const SHARE: u32 = 250;

/// However long it takes, it is read this often.
const RARELY: Duration = Duration::from_secs(10);

/// When the table of connections was read.
#[derive(Debug, Default)]
pub(super) struct Connections {
    due: Option<Instant>,
}

impl Connections {
    /// Looks at the sockets of a port, in the network whose files are at `net`.
    pub(super) fn look(
        &mut self,
        machine: &mut dyn Machine,
        (net, port): (&str, u16),
        readings: &mut Readings<'_>,
    ) {
        match listening(machine, net, port) {
            // Of a socket that listens, what waits to be read are connections that wait to be accepted.
            Ok(sockets) if !sockets.is_empty() => {
                let waiting: u32 = sockets.iter().map(|socket| socket.rx_queue).sum();
                readings.level("target.accept_queue", &[], f64::from(waiting));
            }
            Ok(_) => {}
            Err(error) => readings.not_measured("accept queue is", &Unread::because(error)),
        }
        if self.due.is_some_and(|due| Instant::now() < due) {
            return;
        }
        let began = cpu_now();
        match established(machine, net, port) {
            Ok(Queues { connections, receive, send }) => {
                readings.level("target.connections", &[], connections as f64);
                readings.level("target.receive_queue", &[], receive as f64);
                readings.level("target.send_queue", &[], send as f64);
            }
            Err(error) => readings.not_measured("connections are", &Unread::because(error)),
        }
        let took = cpu_now().saturating_sub(began);
        self.due = Some(Instant::now() + (took * SHARE).min(RARELY));
    }
}

/// CPU time of this thread: what reading costs, however busy the machine is.
fn cpu_now() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

#[derive(Debug, Default)]
struct Queues {
    connections: u64,
    receive: u64,
    send: u64,
}

fn established(machine: &mut dyn Machine, net: &str, port: u16) -> io::Result<Queues> {
    let mut queues = Queues::default();
    for table in ["tcp", "tcp6"] {
        let rows = match sockets_at(machine, &format!("{net}/{table}"), usize::MAX) {
            Ok(TcpNetEntries(rows)) => rows,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let ours = rows.into_iter().filter(|row| {
            matches!(row.state, TcpState::Established | TcpState::CloseWait)
                && row.local_address.port() == port
        });
        for row in ours {
            queues.connections += 1;
            queues.receive += u64::from(row.rx_queue);
            queues.send += u64::from(row.tx_queue);
        }
    }
    Ok(queues)
}
