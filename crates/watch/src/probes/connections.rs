//! The target's sockets: what waits to be accepted, to be read, and to be acknowledged.

use super::target::{listening, sockets_at};
use crate::machine::{Connection, Machine, Socket, Sockets};
use crate::probe::{Readings, Unread};
use procfs_core::net::{TcpNetEntries, TcpState};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
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
    held: Held,
}

impl Connections {
    /// Looks at the sockets of a port, in the network whose files are at `net`.
    pub(super) fn look(
        &mut self,
        machine: &mut dyn Machine,
        (net, port): (&str, u16),
        readings: &mut Readings<'_>,
    ) {
        match accepting(machine, net, port) {
            Ok(sockets) if !sockets.is_empty() => {
                let waiting: u32 = sockets.iter().map(|(waiting, _)| waiting).sum();
                readings.level("target.accept_queue", &[], f64::from(waiting));
                if let Some(limits) = sockets.iter().map(|(_, limit)| *limit).collect::<Option<Vec<u32>>>() {
                    let limit: u32 = limits.iter().sum();
                    readings.level("target.accept_queue.limit", &[], f64::from(limit));
                }
            }
            Ok(_) => {}
            Err(error) => readings.not_measured("accept queue is", &Unread::because(error)),
        }
        if self.due.is_some_and(|due| Instant::now() < due) {
            return;
        }
        let began = cpu_now();
        let queues = match machine.sockets(net, Sockets::ConnectedAt(port)) {
            Some(Ok(sockets)) => {
                self.held.look(&sockets, readings);
                Ok(Queues::of(&sockets))
            }
            Some(Err(_)) | None => established(machine, net, port),
        };
        match queues {
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

/// The sockets that listen: connections that wait to be accepted, and how many may, where that is known.
fn accepting(machine: &mut dyn Machine, net: &str, port: u16) -> io::Result<Vec<(u32, Option<u32>)>> {
    match machine.sockets(net, Sockets::Listening(port)) {
        Some(Ok(sockets)) => {
            Ok(sockets.iter().map(|socket| (socket.waiting_in, Some(socket.waiting_out))).collect())
        }
        // Of a socket that listens, what waits to be read are connections that wait to be accepted.
        Some(Err(_)) | None => {
            let sockets = listening(machine, net, port)?;
            Ok(sockets.iter().map(|socket| (socket.rx_queue, None)).collect())
        }
    }
}

/// Who holds connections up, as their kernel measures it: the way, or the other end.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// When it was looked, and what was known of each connection then.
    before: Option<(Instant, HashMap<[u8; 8], Connection>)>,
}

impl Held {
    pub(super) fn look(&mut self, sockets: &[Socket], readings: &mut Readings<'_>) {
        let now = Instant::now();
        let connections = sockets.iter().filter_map(|socket| socket.connection.as_ref());
        let connections: HashMap<[u8; 8], Connection> =
            connections.map(|connection| (connection.cookie, connection.clone())).collect();
        if let Some(round_trip) = round_trip(connections.values()) {
            readings.level("target.round_trip", &[], round_trip);
        }
        if let Some((then, before)) = &self.before {
            let half = now.duration_since(*then) / 2;
            let (mut held, mut retransmitted) = (0, 0);
            for (cookie, connection) in &connections {
                let (was_held, was_retransmitted) = before
                    .get(cookie)
                    .map_or((Duration::ZERO, 0), |before| (before.held_by_receiver, before.retransmitted));
                held += u32::from(connection.held_by_receiver.saturating_sub(was_held) > half);
                retransmitted += connection.retransmitted.saturating_sub(was_retransmitted);
            }
            readings.level("target.receiver_limited", &[], f64::from(held));
            readings.increase("target.retransmitted", &[], f64::from(retransmitted));
        }
        self.before = Some((now, connections));
    }
}

/// The median round trip of connections (ms); None: there are none that have sent anything.
fn round_trip<'c>(connections: impl Iterator<Item = &'c Connection>) -> Option<f64> {
    let mut trips: Vec<Duration> = connections.map(|connection| connection.round_trip).collect();
    trips.retain(|trip| !trip.is_zero());
    trips.sort_unstable();
    trips.get(trips.len() / 2).map(|trip| trip.as_secs_f64() * 1e3)
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

impl Queues {
    fn of(sockets: &[Socket]) -> Queues {
        let sum = |of: fn(&Socket) -> u32| sockets.iter().map(|socket| u64::from(of(socket))).sum();
        Queues {
            connections: sockets.len() as u64,
            receive: sum(|socket| socket.waiting_in),
            send: sum(|socket| socket.waiting_out),
        }
    }
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
