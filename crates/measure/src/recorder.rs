//! One shard's own record, written on the hot path and taken once a second.

use crate::ledger::Batch;
use crate::outcome::{Failure, OperationId, Outcome, Timing};

/// Plain counts. Closed, indexed by discriminant: adding is one array write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Arrivals the schedule asked for.
    ArrivalsPlanned,
    /// Arrivals whose user was started.
    ArrivalsStarted,
    /// Arrivals that could not be started at all (run ended, no capacity of ours).
    ArrivalsMissed,
    /// Arrivals refused by `maxVusers`.
    UsersSkipped,
    UsersCompleted,
    UsersFailed,
    HttpRequests,
    HttpResponses,
    HttpBytesReceived,
    ConnectionsOpened,
    ConnectionsClosed,
    MessagesSent,
    MessagesReceived,
    BytesSent,
    BytesReceived,
    /// WebSocket steps' own counts, for the Artillery vocabulary.
    WebsocketSent,
    WebsocketReceived,
    SocketioEmits,
    SocketioReceived,
    ConnectionsReused,
}

/// A histogram with the project's one resolution: microseconds, 1 µs to 1 h, 3 significant digits, u32 counts, grows as needed.
pub struct Histogram { /* hdrhistogram::Histogram<u32> */ }
impl Histogram {
    pub fn new() -> Histogram { todo!() }
    /// Records nanoseconds (stored as whole microseconds, at least 1; above the top: clamped and counted).
    pub fn record_ns(&mut self, ns: i64) { let _ = ns; todo!() }
}

pub struct Recorder { /* per-operation stats, counters, failures, lag, hiccups, batch */ }
impl Recorder {
    pub fn new(operations: usize, scenarios: usize) -> Recorder { let _ = (operations, scenarios); todo!() }
    /// An operation ended. Also counts the outcome; a failure without an example goes through `failure`.
    pub fn operation(&mut self, operation: OperationId, timing: Timing, outcome: Outcome) { let _ = (operation, timing, outcome); todo!() }
    /// The failure's first example per (operation, failure) and second is kept (≤ 200 bytes), later ones only counted.
    pub fn failure(&mut self, operation: Option<OperationId>, failure: Failure, example: impl FnOnce() -> String) { let _ = (operation, failure, example); todo!() }
    pub fn add(&mut self, counter: Counter, n: u64) { let _ = (counter, n); todo!() }
    pub fn user_created(&mut self, scenario: u16) { let _ = scenario; todo!() }
    /// A user ended its flow; its session length (think time and connects included) counts when it completed.
    pub fn user_ended(&mut self, scenario: u16, completed: bool, session_ns: i64) { let _ = (scenario, completed, session_ns); todo!() }
    /// How late our own wake-up was for something planned (generator health, not the target's doing).
    pub fn send_lag(&mut self, ns: i64) { let _ = ns; todo!() }
    /// How late the shard's 1 ms heartbeat came.
    pub fn hiccup(&mut self, ns: i64) { let _ = ns; todo!() }
    /// What the ledger will want to know.
    pub fn ledger(&mut self) -> &mut Batch { todo!() }
    /// Hands over everything since the last call and starts afresh (buffers are swapped, not cloned).
    pub fn take(&mut self) -> Record { todo!() }
}

/// What a shard saw in one interval.
pub struct Record { /* public fields as totals needs them; `gauges` set by the engine */ pub gauges: Gauges, pub ledger: Batch }

/// Levels at the end of an interval, of one shard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges {
    pub users: u64,
    pub connections: u64,
    /// CPU time this shard's thread used in the interval (ns).
    pub cpu_ns: u64,
}
