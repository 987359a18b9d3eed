//! Operations of a k6 script, beside its own metrics: response times of requests and handshakes from the instant they
//! were asked for, statuses, and failures by their classes.

use sonagi_measure::At;
use sonagi_measure::outcome::{Failure, OperationId, Outcome, Timing};
use sonagi_measure::recorder::Counter;
use sonagi_transport::http::{Phases, Response};

use crate::vu::Vu;

/// Their places in [`crate::shard::OPERATIONS`].
const HTTP: OperationId = OperationId(0);
const WEBSOCKET_CONNECT: OperationId = OperationId(1);

/// A request ended at this instant, with an answer or without: its status, or why it failed and the same in words. An
/// answer whose body cannot be unpacked is a failure, and was received all the same.
pub(super) fn request(
    vu: &Vu,
    phases: &Phases,
    response: Option<&Response>,
    outcome: Result<u16, (Failure, &str)>,
    ended: At,
) {
    let started = ended.plus(-(phases.sending_ns + phases.waiting_ns + phases.receiving_ns));
    let planned = started.plus(-phases.blocked_ns);
    let first_byte = outcome.is_ok().then(|| started.plus(phases.sending_ns + phases.waiting_ns));
    let timing = Timing { planned, started, first_byte, ended };
    let mut recorder = vu.shard.recorder.borrow_mut();
    recorder.operation(HTTP, timing, outcome.map_or_else(|(why, _)| Outcome::Failed(why), Outcome::Status));
    recorder.add(Counter::HttpRequests, 1);
    if let Some(response) = response {
        recorder.add(Counter::HttpResponses, 1);
        recorder.add(Counter::HttpBytesReceived, response.body_bytes);
    }
    if let Err((failure, detail)) = outcome {
        recorder.failure(Some(HTTP), failure, || detail.to_owned());
    }
}

/// A WebSocket was opened, or was not, at the second of these instants.
pub(super) fn handshake(vu: &Vu, (begun, ended): (At, At), failed: Option<(Failure, &str)>) {
    let outcome = failed.map_or(Outcome::Ok, |(failure, _)| Outcome::Failed(failure));
    let timing = Timing { planned: begun, started: begun, first_byte: None, ended };
    let mut recorder = vu.shard.recorder.borrow_mut();
    recorder.operation(WEBSOCKET_CONNECT, timing, outcome);
    if let Some((failure, detail)) = failed {
        recorder.failure(Some(WEBSOCKET_CONNECT), failure, || detail.to_owned());
    }
}
