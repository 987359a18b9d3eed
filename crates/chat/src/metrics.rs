//! The service's own counters, and their Prometheus text.
//!
//! Counters are relaxed atomics touched once per message or connection, never once per delivered copy: the
//! fan-out adds a whole room's copies at a time.

pub(crate) mod process;

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that goes up, or up and down.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }
    pub(crate) fn sub(&self, n: u64) {
        self.0.fetch_sub(n, Relaxed);
    }
    pub(crate) fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }
    pub(crate) fn clear(&self) {
        self.0.store(0, Relaxed);
    }
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[derive(Default)]
pub(crate) struct Planted {
    pub(crate) drop: Count,
    pub(crate) duplicate: Count,
    pub(crate) delay: Count,
    pub(crate) reorder: Count,
    pub(crate) leak: Count,
}

#[derive(Default)]
pub(crate) struct Metrics {
    pub(crate) sockets: Count,
    pub(crate) websocket: Count,
    pub(crate) polling: Count,
    /// Long polls that wait.
    pub(crate) longpoll: Count,
    /// Event streams.
    pub(crate) sse: Count,
    /// SockJS sessions that are polled.
    pub(crate) sockjs: Count,
    pub(crate) stomp: Count,
    pub(crate) polls: Count,
    pub(crate) empty_polls: Count,
    pub(crate) replayed: Count,
    pub(crate) socketio: Count,
    pub(crate) messages: Count,
    pub(crate) repeated: Count,
    pub(crate) deliveries: Count,
    pub(crate) delivery_bytes: Count,
    pub(crate) bytes_in: Count,
    pub(crate) bytes_out: Count,
    /// Text and binary frames read from WebSockets, and queued by the null mode: for its statistics only.
    pub(crate) frames_in: Count,
    pub(crate) frames_out: Count,
    /// System calls that wrote to WebSockets; for those statistics, too.
    pub(crate) writes: Count,
    /// Sessions of Socket.IO.
    pub(crate) recovered: Count,
    pub(crate) unrecovered: Count,
    pub(crate) slow_consumers: Count,
    pub(crate) dead_peers: Count,
    pub(crate) violations: Count,
    pub(crate) overloaded: Count,
    pub(crate) refused_connections: Count,
    pub(crate) logins: Count,
    pub(crate) failed_logins: Count,
    pub(crate) limited_logins: Count,
    pub(crate) requests: Count,
    pub(crate) commits: Count,
    /// Certificates loaded after the first, and handshakes of TLS without a result.
    pub(crate) certificates: Count,
    pub(crate) handshakes_failed: Count,
    /// 1 while the bus works.
    pub(crate) bus_up: Count,
    pub(crate) bus_subscriptions: Count,
    pub(crate) bus_published: Count,
    pub(crate) heard: Count,
    pub(crate) filled: Count,
    pub(crate) unreadable: Count,
    pub(crate) planted: Planted,
}

impl Metrics {
    pub(crate) fn render(&self) -> String {
        let mut out = String::with_capacity(4096);
        let gauges = [
            ("chat_sockets_open", "TCP connections open now.", &self.sockets),
            ("chat_socketio_connected", "Socket.IO namespaces connected now.", &self.socketio),
            ("chat_stomp_connected", "STOMP sessions connected now.", &self.stomp),
            ("chat_bus_up", "1 while the bus works; 0 without one as well.", &self.bus_up),
            ("chat_bus_subscriptions", "Rooms heard over the bus.", &self.bus_subscriptions),
        ];
        for (name, help, count) in gauges {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {}", count.get());
        }
        out.push_str(
            "# HELP chat_connections Real-time connections open now.\n# TYPE chat_connections gauge\n",
        );
        for (transport, count) in [
            ("websocket", &self.websocket),
            ("polling", &self.polling),
            ("longpoll", &self.longpoll),
            ("sse", &self.sse),
            ("sockjs", &self.sockjs),
        ] {
            let _ = writeln!(out, "chat_connections{{transport=\"{transport}\"}} {}", count.get());
        }
        for (name, help, count) in self.counters().into_iter().chain(self.bus_counters()) {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}", count.get());
        }
        out.push_str("# HELP chat_faults_planted_total Faults that took effect, by kind.\n");
        out.push_str("# TYPE chat_faults_planted_total counter\n");
        let planted = &self.planted;
        for (kind, count) in [
            ("drop", &planted.drop),
            ("duplicate", &planted.duplicate),
            ("delay", &planted.delay),
            ("reorder", &planted.reorder),
            ("leak", &planted.leak),
        ] {
            let _ = writeln!(out, "chat_faults_planted_total{{kind=\"{kind}\"}} {}", count.get());
        }
        out
    }

    fn bus_counters(&self) -> [(&'static str, &'static str, &Count); 4] {
        [
            ("chat_bus_published_total", "Messages of this instance given to the bus.", &self.bus_published),
            ("chat_bus_heard_total", "Messages of other instances that the bus brought.", &self.heard),
            ("chat_bus_filled_total", "Messages read from the store because the bus had not.", &self.filled),
            ("chat_bus_unreadable_total", "Things on the bus that could not be read.", &self.unreadable),
        ]
    }

    fn counters(&self) -> [(&'static str, &'static str, &Count); 23] {
        [
            ("chat_messages_total", "Messages stored and published.", &self.messages),
            ("chat_messages_repeated_total", "Sends answered from an earlier send's id.", &self.repeated),
            (
                "chat_deliveries_total",
                "Copies put on a connection's queue or into the answer to a poll.",
                &self.deliveries,
            ),
            ("chat_replayed_total", "Those of them that somebody had missed.", &self.replayed),
            ("chat_polls_total", "Polls of location groups that brought messages.", &self.polls),
            ("chat_polls_empty_total", "Polls of location groups that brought none.", &self.empty_polls),
            ("chat_delivery_bytes_total", "Bytes of those copies.", &self.delivery_bytes),
            ("chat_received_bytes_total", "Bytes read from WebSockets and polling bodies.", &self.bytes_in),
            ("chat_sent_bytes_total", "Bytes written to WebSockets and polling answers.", &self.bytes_out),
            ("chat_recovered_total", "Socket.IO sessions recovered, with all they missed.", &self.recovered),
            (
                "chat_unrecovered_total",
                "Socket.IO sessions that asked for it and began afresh.",
                &self.unrecovered,
            ),
            ("chat_slow_consumers_total", "Connections closed for a full queue.", &self.slow_consumers),
            ("chat_dead_peers_total", "Connections closed for an unanswered ping.", &self.dead_peers),
            ("chat_protocol_violations_total", "Connections closed for a protocol error.", &self.violations),
            ("chat_sends_overloaded_total", "Sends refused because too many waited.", &self.overloaded),
            (
                "chat_connections_refused_total",
                "Connections over the limit or while draining.",
                &self.refused_connections,
            ),
            ("chat_logins_total", "Logins granted.", &self.logins),
            ("chat_logins_failed_total", "Logins with a wrong email or password.", &self.failed_logins),
            ("chat_logins_limited_total", "Logins answered 429.", &self.limited_logins),
            ("chat_requests_total", "HTTP requests.", &self.requests),
            ("chat_commits_total", "Transactions of the message log.", &self.commits),
            (
                "chat_tls_handshakes_failed_total",
                "TLS handshakes that failed or took too long.",
                &self.handshakes_failed,
            ),
            (
                "chat_tls_certificates_reloaded_total",
                "Certificates taken into use since the start.",
                &self.certificates,
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_in_the_service_s_manual() {
        let manual = include_str!("../../../docs/service.md");
        for line in Metrics::default().render().lines().filter(|line| !line.starts_with('#')) {
            let name = line.split([' ', '{']).next().unwrap();
            assert!(manual.contains(name), "docs/service.md does not name {name}");
        }
    }
}
