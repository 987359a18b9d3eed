//! The k6 scripts of `examples/k6` against the service that they name.

use crate::support::{Answer, Place, Service};
use std::path::Path;
use std::process::Child;

/// Every one's thresholds hold it: what a check or a message is missing for, fails its run.
#[test]
fn every_example_of_a_transport_passes_its_own_thresholds() {
    let place = Place::new();
    let service = Service::start(&place, &["--seed-users=4"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/k6").canonicalize().unwrap();
    let sockets = service.url.replace("http", "ws");
    let begun: Vec<(&str, Child)> = ["http.ts", "sse.js", "socketio.js", "stomp.js", "websocket.js"]
        .into_iter()
        .map(|name| {
            let script = folder.join(name);
            let (serve, serve_ws) = (format!("SERVE={}", service.url), format!("SERVE_WS={sockets}"));
            let script = script.to_str().unwrap();
            (name, place.command(&["run", "-e", &serve, "-e", &serve_ws, script]).spawn().unwrap())
        })
        .collect();
    for (name, child) in begun {
        let answer = Answer::from(child.wait_with_output().unwrap());
        assert_eq!(answer.code, Some(0), "{name}: {answer:?}");
        assert!(!answer.err.contains("level=error"), "{name}: {}", answer.err);
        assert!(answer.out.contains("checks_failed......: 0.00%"), "{name}: {}", answer.out);
    }
}
