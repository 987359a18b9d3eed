//! The workloads: each a name, what one operation of it is, and a function that does so many of them.
//!
//! A workload does the same work in every run: seeds are fixed, users live on a paused clock, and what it prepares does
//! not depend on the number of operations. It asserts that the work was done, because a count of work left undone is the
//! best-looking kind.

mod k6;
mod ledger;
mod packets;
mod pull;
mod recorder;
mod schedule;
mod server;
mod user;
mod websocket;

/// Something that can be counted and timed.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// In the table, on the command line.
    pub name: &'static str,
    /// What one operation is.
    pub about: &'static str,
    /// How many a first count does; enough to make the difference exact, few enough to be done in a second or two.
    pub operations: u64,
    /// Does so many operations, a multiple of [`Workload::operations`].
    pub run: fn(u64),
}

const fn workload(name: &'static str, operations: u64, run: fn(u64), about: &'static str) -> Workload {
    Workload { name, about, operations, run }
}

/// The workload of this name.
///
/// # Errors
/// None has it.
pub fn find(name: &str) -> Result<&'static Workload, String> {
    let found = WORKLOADS.iter().find(|workload| workload.name == name);
    found.ok_or_else(|| format!("no workload is named {name}\n  hint: counts list"))
}

/// All of them, in the order of the table. Those of `user` and `k6` include the far end: a server of canned answers, and the pipe.
pub static WORKLOADS: &[Workload] = &[
    workload(
        "websocket-decode-16",
        20_000,
        websocket::decode_small,
        "decodes a text frame of 16 bytes, 32 KiB a read",
    ),
    workload("websocket-decode-chat", 20_000, websocket::decode_chat, "decodes a chat event, as a client"),
    workload(
        "websocket-decode-masked",
        20_000,
        websocket::decode_masked,
        "decodes a chat event, as a server",
    ),
    workload("websocket-decode-4k", 2_000, websocket::decode_large, "decodes 4 KiB of text, as a server"),
    workload("websocket-decode-cut", 20_000, websocket::decode_cut, "decodes a chat event, 64 bytes a read"),
    workload("websocket-encode", 20_000, websocket::encode_masked, "encodes a chat event, as a client"),
    workload(
        "websocket-shared",
        20_000,
        websocket::shared_frame,
        "encodes a frame for all receivers of a broadcast",
    ),
    workload(
        "packet-decode-event",
        10_000,
        packets::decode_event,
        "reads an event: Engine.IO, Socket.IO, its name",
    ),
    workload(
        "packet-encode-event",
        10_000,
        packets::encode_event,
        "writes an event that wants an acknowledgement",
    ),
    workload("packet-polled", 10_000, packets::polled, "a packet of a polling body, written and read"),
    workload("stamp-find", 20_000, recorder::find_stamp, "searches a chat event that holds a stamp"),
    workload("stamp-absent", 20_000, recorder::find_none, "searches a chat event that holds none"),
    workload("stamp-write", 20_000, recorder::write_stamp, "writes a stamp"),
    workload(
        "recorder-operation",
        50_000,
        recorder::operation,
        "records an operation with a status and three times",
    ),
    workload(
        "recorder-second",
        100,
        recorder::second,
        "300 operations of three kinds recorded, taken and merged",
    ),
    workload("ledger-copy", 40_000, ledger::copy, "judges a copy: a room of 100, pairs arriving swapped"),
    workload("schedule-even", 20_000, schedule::even, "plans an arrival of a ramp"),
    workload("schedule-poisson", 20_000, schedule::poisson, "plans an arrival of a ramp, at random"),
    workload("script-load", 20, user::load_script, "turns a script into a plan"),
    workload(
        "user-template",
        10_000,
        user::template,
        "a user renders a text with three holes (a `log` step)",
    ),
    workload("user-arrival", 1_000, user::arrival, "a user arrives, thinks and leaves"),
    workload("user-http-get", 2_000, user::http_get, "a user's GET on its kept connection"),
    workload("user-http-post", 2_000, user::http_post, "a user's POST: JSON, header, capture, expectation"),
    workload("user-http-connect", 500, user::http_connect, "a user arrives, sends its only GET and leaves"),
    workload(
        "user-websocket-connect",
        500,
        user::websocket_connect,
        "a user arrives, opens a WebSocket and closes it",
    ),
    workload(
        "user-websocket-echo",
        2_000,
        user::websocket_echo,
        "a user sends a message and awaits the answer",
    ),
    workload(
        "user-websocket-flood",
        20_000,
        user::websocket_flood,
        "a user receives a message, many in a read",
    ),
    workload(
        "user-room-copy",
        20_000,
        user::room_copy,
        "a copy in a room of 20, from frame to verdict; 1/20 of a send",
    ),
    workload(
        "user-socketio-emit",
        2_000,
        user::socketio_emit,
        "a user emits an event and awaits its acknowledgement",
    ),
    workload(
        "user-sse-event",
        20_000,
        pull::sse_event,
        "a user receives an event of a stream, many in a read",
    ),
    workload("user-poll-answer", 2_000, pull::poll_answer, "a user polls and is answered with a message"),
    workload("k6-http-get", 2_000, k6::http_get, "an iteration of a k6 script: a GET on a kept connection"),
    workload("k6-ws-message", 20_000, k6::ws, "a k6 script receives a message by k6/ws, many in a read"),
    workload(
        "k6-websockets-message",
        20_000,
        k6::websockets,
        "a k6 script receives a message by k6/websockets, many in a read",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_does_its_operations() {
        for workload in WORKLOADS {
            (workload.run)(workload.operations);
        }
    }

    #[test]
    fn a_workload_is_found_by_its_name_and_no_two_share_one() {
        for workload in WORKLOADS {
            assert_eq!(find(workload.name).unwrap().about, workload.about, "{}", workload.name);
        }
        assert!(find("nothing").unwrap_err().contains("no workload is named nothing"));
    }
}
