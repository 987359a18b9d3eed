//! What a run folder tells of requests and handshakes beside k6's metrics: response times from the instant they were asked for,
//! statuses, and failures by their codes. Nothing is written down unless a folder is wanted.

use sonagi_engine::http::Phases;
use sonagi_measure::At;
use sonagi_measure::outcome::{Failure, OperationId, Outcome, Timing};

use crate::runtime::Vu;

/// Their places in [`crate::shard::OPERATIONS`].
const HTTP: OperationId = OperationId(0);
const WEBSOCKET_CONNECT: OperationId = OperationId(1);

/// A request was answered, or failed with one of k6's codes.
pub(super) fn request(vu: &Vu, phases: &Phases, status: u16, code: u16, now: At) {
    if !vu.shard.common.records {
        return;
    }
    let started = now.plus(-(phases.sending_ns + phases.waiting_ns + phases.receiving_ns));
    let planned = started.plus(-phases.blocked_ns);
    let first_byte = (status > 0).then(|| started.plus(phases.sending_ns + phases.waiting_ns));
    let outcome = if status > 0 { Outcome::Status(status) } else { Outcome::Failed(failure(code)) };
    let timing = Timing { planned, started, first_byte, ended: now };
    vu.shard.recorder.borrow_mut().operation(HTTP, timing, outcome);
}

/// A WebSocket was opened, or was not.
pub(super) fn handshake(vu: &Vu, begun: At, failed: Option<(Failure, &str)>) {
    if !vu.shard.common.records {
        return;
    }
    let outcome = failed.map_or(Outcome::Ok, |(failure, _)| Outcome::Failed(failure));
    let timing = Timing { planned: begun, started: begun, first_byte: None, ended: vu.now() };
    let mut recorder = vu.shard.recorder.borrow_mut();
    recorder.operation(WEBSOCKET_CONNECT, timing, outcome);
    if let Some((failure, detail)) = failed {
        recorder.failure(Some(WEBSOCKET_CONNECT), failure, || detail.to_owned());
    }
}

fn failure(code: u16) -> Failure {
    match code {
        1050 => Failure::Timeout,
        1101 => Failure::NameNotResolved,
        1210 | 1110 | 1111 => Failure::ConnectFailed,
        1211 => Failure::ConnectTimeout,
        1212 => Failure::ConnectRefused,
        1220 => Failure::Reset,
        1300..=1399 => Failure::TlsFailed,
        _ => Failure::Protocol,
    }
}
