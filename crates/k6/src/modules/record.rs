//! Requests and handshakes as a run folder has them beside k6's metrics: response times from the instant they were
//! asked for, statuses, and failures by their classes. Without a folder, only statuses are recorded, and failures that
//! the generator itself caused: ports or descriptors that it ran out of.

use sonagi_engine::http::Phases;
use sonagi_measure::At;
use sonagi_measure::outcome::{Failure, OperationId, Outcome, Timing};

use crate::vu::Vu;

/// Their places in [`crate::shard::OPERATIONS`].
const HTTP: OperationId = OperationId(0);
const WEBSOCKET_CONNECT: OperationId = OperationId(1);

/// A request was answered; or why it was not, and the same in words.
pub(super) fn request(vu: &Vu, phases: &Phases, answered: Result<u16, (Failure, &str)>, now: At) {
    if !vu.shard.common.records {
        return match answered {
            Ok(status) => vu.shard.recorder.borrow_mut().status(status),
            Err(failed) => exhausted(vu, HTTP, Some(failed)),
        };
    }
    let started = now.plus(-(phases.sending_ns + phases.waiting_ns + phases.receiving_ns));
    let planned = started.plus(-phases.blocked_ns);
    let first_byte = answered.is_ok().then(|| started.plus(phases.sending_ns + phases.waiting_ns));
    let outcome = answered.map_or_else(|(failure, _)| Outcome::Failed(failure), Outcome::Status);
    let timing = Timing { planned, started, first_byte, ended: now };
    let mut recorder = vu.shard.recorder.borrow_mut();
    recorder.operation(HTTP, timing, outcome);
    if let Err((failure, detail)) = answered {
        recorder.failure(Some(HTTP), failure, || detail.to_owned());
    }
}

/// Makes a run invalid whose generator could not open another connection.
fn exhausted(vu: &Vu, operation: OperationId, failed: Option<(Failure, &str)>) {
    if let Some((failure @ Failure::GeneratorExhausted, detail)) = failed {
        vu.shard.recorder.borrow_mut().failure(Some(operation), failure, || detail.to_owned());
    }
}

/// A WebSocket was opened, or was not.
pub(super) fn handshake(vu: &Vu, begun: At, failed: Option<(Failure, &str)>) {
    if !vu.shard.common.records {
        return exhausted(vu, WEBSOCKET_CONNECT, failed);
    }
    let outcome = failed.map_or(Outcome::Ok, |(failure, _)| Outcome::Failed(failure));
    let timing = Timing { planned: begun, started: begun, first_byte: None, ended: vu.now() };
    let mut recorder = vu.shard.recorder.borrow_mut();
    recorder.operation(WEBSOCKET_CONNECT, timing, outcome);
    if let Some((failure, detail)) = failed {
        recorder.failure(Some(WEBSOCKET_CONNECT), failure, || detail.to_owned());
    }
}
