//! Operations of a k6 script, beside its own metrics: response times of requests and handshakes from the instant they
//! were asked for, statuses, and failures by their classes.

use sonagi_measure::At;
use sonagi_measure::outcome::{Failure, OperationId, Outcome, Timing};
use sonagi_measure::recorder::Counter;
use sonagi_transport::http::Phases;

use crate::vu::Vu;

/// Their places in [`crate::shard::OPERATIONS`].
const HTTP: OperationId = OperationId(0);
const WEBSOCKET_CONNECT: OperationId = OperationId(1);

/// A request was answered; or why it was not, and the same in words.
pub(super) fn request(vu: &Vu, phases: &Phases, answered: Result<u16, (Failure, &str)>, now: At) {
    let started = now.plus(-(phases.sending_ns + phases.waiting_ns + phases.receiving_ns));
    let planned = started.plus(-phases.blocked_ns);
    let first_byte = answered.is_ok().then(|| started.plus(phases.sending_ns + phases.waiting_ns));
    let outcome = answered.map_or_else(|(failure, _)| Outcome::Failed(failure), Outcome::Status);
    let timing = Timing { planned, started, first_byte, ended: now };
    let mut recorder = vu.shard.recorder.borrow_mut();
    recorder.operation(HTTP, timing, outcome);
    recorder.add(Counter::HttpRequests, 1);
    recorder.add(Counter::HttpResponses, u64::from(answered.is_ok()));
    if let Err((failure, detail)) = answered {
        recorder.failure(Some(HTTP), failure, || detail.to_owned());
    }
}

/// A WebSocket was opened, or was not.
pub(super) fn handshake(vu: &Vu, begun: At, failed: Option<(Failure, &str)>) {
    let outcome = failed.map_or(Outcome::Ok, |(failure, _)| Outcome::Failed(failure));
    let timing = Timing { planned: begun, started: begun, first_byte: None, ended: vu.now() };
    let mut recorder = vu.shard.recorder.borrow_mut();
    recorder.operation(WEBSOCKET_CONNECT, timing, outcome);
    if let Some((failure, detail)) = failed {
        recorder.failure(Some(WEBSOCKET_CONNECT), failure, || detail.to_owned());
    }
}
