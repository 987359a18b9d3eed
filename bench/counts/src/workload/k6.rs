//! Virtual users of k6 scripts: executor, interpreter, modules, client, codec and samples, over in-memory pipes.
//!
//! The script is read as any other, by a user on a thread of its own: that is in both runs of a count, and cancels.

use sonagi_k6::run::{Asked, Watching, load};
use sonagi_measure::recorder::{Counter, Record};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::DuplexStream;

use super::{server, user};

/// Runs `scripts/<name>.js` on a paused clock, with the number of operations in `__ENV.N`.
fn run(name: &str, operations: u64, server: impl Fn(DuplexStream) + 'static) -> Record {
    let source = match name {
        "k6-http-get" => include_str!("../../scripts/k6-http-get.js"),
        "k6-ws" => include_str!("../../scripts/k6-ws.js"),
        _ => include_str!("../../scripts/k6-websockets.js"),
    };
    let asked = Asked {
        script: PathBuf::from("/script.js"),
        source: source.into(),
        environment: vec![
            ("N".to_owned(), operations.to_string()),
            ("BURST".to_owned(), user::FLOOD.to_string()),
        ],
        tiers: Default::default(),
        shards: 1,
        no_thresholds: false,
        full_summary: false,
        no_summary: true,
        terminal: [false; 3],
        without_global: false,
        secrets: Arc::default(),
        outputs: Vec::new(),
        standard_output: || Box::new(std::io::sink()),
        watch: Watching::by(|_| Ok(None)),
        launch: |_| Vec::new(),
    };
    let Ok(test) = load(asked, &Arc::default(), &mut |_| {}) else { panic!("{name}.js cannot be run") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime for one thread");
    runtime.block_on(test.simulate(server))
}

pub(super) fn http_get(operations: u64) {
    let record = run("k6-http-get", operations, server::http(b"\r\n\r\n", user::OK));
    assert_eq!(record.counters[Counter::HttpResponses], operations);
}

pub(super) fn ws(operations: u64) {
    receive("k6-ws", operations);
}

pub(super) fn websockets(operations: u64) {
    receive("k6-websockets", operations);
}

fn receive(name: &str, operations: u64) {
    let record = run(name, operations, server::websocket(&[], user::flood()));
    assert_eq!(record.counters[Counter::MessagesReceived], operations);
}
