//! The target's sockets: what waits to be accepted, to be read, and to be acknowledged.

use super::sockets::{listening, sockets_at};
use crate::machine::{Connection, Machine, Socket, Sockets};
use crate::probe::{Readings, Unread};
use crate::watch::thread_cpu;
use procfs_core::net::{TcpNetEntries, TcpState};
use std::io;
use std::time::{Duration, Instant};

/// The table of all connections is read so rarely that reading it takes a thousandth of the time: a thousand of them
/// take two or three milliseconds, during which a load generator on the same core stands still.
const SHARE: u32 = 1000;

/// The longest interval, however long reading takes.
const LONGEST_INTERVAL: Duration = Duration::from_secs(5);

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
        let began = thread_cpu();
        let (mut queues, mut look) = (Queues::default(), Look::default());
        let told = machine.sockets(net, Sockets::ConnectedAt(port), &mut |socket| {
            queues.add(socket.waiting_in, socket.waiting_out);
            look.connections(socket.connection);
        });
        let queues = match told {
            Some(Ok(())) => {
                self.held.take(look, readings);
                Ok(queues)
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
        let took = thread_cpu().saturating_sub(began);
        self.due = Some(Instant::now() + (took * SHARE).min(LONGEST_INTERVAL));
    }
}

/// The sockets that listen: connections that wait to be accepted, and how many may, where that is known.
fn accepting(machine: &mut dyn Machine, net: &str, port: u16) -> io::Result<Vec<(u32, Option<u32>)>> {
    let mut told = Vec::new();
    let tell = &mut |socket: Socket| told.push((socket.waiting_in, Some(socket.waiting_out)));
    match machine.sockets(net, Sockets::Listening(port), tell) {
        Some(Ok(())) => Ok(told),
        // Of a socket that listens, what waits to be read are connections that wait to be accepted.
        Some(Err(_)) | None => {
            let sockets = listening(machine, net, port)?;
            Ok(sockets.iter().map(|socket| (socket.rx_queue, None)).collect())
        }
    }
}

/// What a look tells of connections, a few bytes of each: there may be ten thousand of them.
#[derive(Debug, Default)]
pub(super) struct Look {
    known: Vec<Known>,
    /// Round trips of those that have sent anything (µs).
    round_trips: Vec<u32>,
}

/// What is known of a connection from look to look.
#[derive(Clone, Copy, Debug)]
struct Known {
    cookie: [u8; 8],
    held_by_receiver_ms: u32,
    retransmitted: u32,
}

impl Look {
    /// Takes connections in.
    pub(super) fn connections(&mut self, connections: impl IntoIterator<Item = Connection>) {
        for Connection { cookie, round_trip, retransmitted, held_by_receiver, .. } in connections {
            let held_by_receiver_ms = held_by_receiver.as_millis() as u32;
            self.known.push(Known { cookie, held_by_receiver_ms, retransmitted });
            self.round_trips.extend(Some(round_trip.as_micros() as u32).filter(|trip| *trip > 0));
        }
    }

    /// The median round trip (ms); None: nobody has sent anything.
    fn round_trip(&mut self) -> Option<f64> {
        let middle = self.round_trips.len() / 2;
        if self.round_trips.is_empty() {
            return None;
        }
        let (_, median, _) = self.round_trips.select_nth_unstable(middle);
        Some(f64::from(*median) / 1e3)
    }
}

/// Who holds connections up, as their kernel measures it: the way, or the other end.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// When it was looked, and what was known of each connection then, by cookie.
    before: Option<(Instant, Vec<Known>)>,
}

impl Held {
    /// Takes a look that is complete.
    pub(super) fn take(&mut self, mut look: Look, readings: &mut Readings<'_>) {
        let now = Instant::now();
        if let Some(round_trip) = look.round_trip() {
            readings.level("target.round_trip", &[], round_trip);
        }
        let mut known = look.known;
        known.sort_unstable_by_key(|connection| connection.cookie);
        if let Some((then, before)) = &self.before {
            let half = now.duration_since(*then) / 2;
            let (mut held, mut retransmitted) = (0, 0);
            for connection in &known {
                let (was_held_ms, was_retransmitted) = before
                    .binary_search_by_key(&connection.cookie, |before| before.cookie)
                    .map_or((0, 0), |at| (before[at].held_by_receiver_ms, before[at].retransmitted));
                let held_ms = connection.held_by_receiver_ms.saturating_sub(was_held_ms);
                held += u32::from(u128::from(held_ms) > half.as_millis());
                retransmitted += connection.retransmitted.saturating_sub(was_retransmitted);
            }
            readings.level("target.receiver_limited", &[], f64::from(held));
            readings.increase("target.retransmitted", &[], f64::from(retransmitted));
        }
        self.before = Some((now, known));
    }
}

#[derive(Debug, Default)]
struct Queues {
    connections: u64,
    receive: u64,
    send: u64,
}

impl Queues {
    /// Adds a connection with what waits in it.
    fn add(&mut self, receive: u32, send: u32) {
        self.connections += 1;
        self.receive += u64::from(receive);
        self.send += u64::from(send);
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
            queues.add(row.rx_queue, row.tx_queue);
        }
    }
    Ok(queues)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_remembered_in_sixteen_bytes() {
        assert_eq!(size_of::<Known>(), 16);
    }
}
