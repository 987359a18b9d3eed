//! The delivery ledger of k6 scripts, from `stamp()` to the exit code and the run folder.

use crate::faults::planted;
use crate::support::{Answer, Place, Service};
use serde_json::Value;
use std::path::Path;

/// Each of eight people says ten words that all of them hear; nobody joins or leaves near a word.
const TALK: &str = "
import ws from 'k6/ws';
import { join, stamp } from 'k6/x/sonagi';
const room = 'location:lobby';
export const options = { scenarios: { talk: { executor: 'per-vu-iterations', vus: 8, iterations: 1 } }, thresholds: JSON.parse(__ENV.THRESHOLDS || '{}') };
export default () => {
  ws.connect(`${__ENV.SERVE_WS}/ws`, (socket) => {
    const say = (what) => socket.send(JSON.stringify(what));
    socket.on('open', () => say({ type: 'join', room }));
    socket.on('message', (text) => {
      if (!text.startsWith('{\"type\":\"joined\"')) return;
      join(room);
      for (let i = 0; i < 10; i += 1) socket.setTimeout(() => say({ type: 'send', room, content: stamp(room) }), 700 + 100 * i);
      socket.setTimeout(() => socket.close(), 3000);
    });
  });
}
";

fn run(place: &Place, service: &Service, script: &str, more: &[&str]) -> Answer {
    let address = format!("SERVE_WS={}", service.url.replace("http", "ws"));
    place.sonagi(&[&["run", script, "-e", &address, "--summary-export=export.json"], more].concat())
}

/// A figure of `--summary-export`.
fn exported(place: &Place, metric: &str, value: &str) -> u64 {
    let text = std::fs::read_to_string(place.path().join("export.json")).unwrap();
    let export: Value = serde_json::from_str(&text).unwrap();
    export["metrics"][metric][value].as_f64().unwrap_or(0.0) as u64
}

#[test]
fn the_group_chat_of_a_field_report_loses_nothing() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/k6/group-chat.js");
    let script = examples.to_str().unwrap();
    let less =
        ["-e", "PEOPLE=10", "-e", "SECONDS=3", "-e", "TIMES=2", "--runs=runs", "--out=json=points.json"];
    let answer = run(&place, &service, script, &less);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let [messages, owed, arrived] =
        ["messages", "owed", "arrived"].map(|name| exported(&place, &format!("sonagi_{name}"), "count"));
    assert!(messages >= 40 && owed >= 200 && arrived == owed, "{messages} {owed} {arrived}");
    assert!(answer.out.contains(&format!("✓ all {owed} expected deliveries received")), "{}", answer.out);
    assert!(answer.out.contains(&format!("100.00% {owed} out of {owed}")), "{}", answer.out);
    let points = std::fs::read_to_string(place.path().join("points.json")).unwrap();
    let copies = points.lines().filter(|line| line.contains("\"sonagi_e2e\"") && line.contains("\"Point\""));
    assert_eq!(copies.count() as u64, owed);

    // The folder tells the same.
    let report = place.reported();
    assert_eq!(report["verdict"]["result"], "pass", "{report:#}");
    assert_eq!(report["delivery"]["owed"], owed);
    assert_eq!(report["delivery"]["latency_ms"]["count"], owed);
    assert_eq!((&report["users"]["completed"], &report["scenarios"]["chat"]), (&20.into(), &20.into()));
    assert_eq!(report["kinds"][0]["name"], "websocket_connect");
    assert_eq!(report["kinds"][0]["count"], 20);
    assert_eq!(report["traffic"]["connections_opened"], 20);
    assert_eq!(report["metrics"]["checks"]["count"], 20);
    assert_eq!(report["metrics"]["checks"]["ratio"], 1.0);
    let held: Vec<bool> =
        report["thresholds"].as_array().unwrap().iter().map(|one| one["held"] == true).collect();
    assert_eq!(held, [true; 5]);
}

#[test]
fn what_a_service_loses_and_doubles_is_counted_to_the_copy_and_fails_by_a_threshold_alone() {
    let place = Place::new();
    place.write("talk.js", TALK);
    let lossy = Service::start(&place, &["--fault=drop=5%,duplicate=3%,seed=7"]);
    let answer = run(&place, &lossy, "talk.js", &[]);
    let planted = planted(&lossy);
    let (lost, doubled) = (planted["drop"], planted["duplicate"]);
    assert!(lost > 5 && doubled > 3, "{lost} {doubled}");
    let count = |name: &str| exported(&place, name, "count");
    assert_eq!((count("sonagi_messages"), count("sonagi_owed")), (80, 640), "{answer:?}");
    assert_eq!((count("sonagi_lost"), count("sonagi_duplicate")), (lost, doubled), "{answer:?}");
    assert_eq!(answer.code, Some(0), "k6's codes: {answer:?}");
    let told = format!("{lost} of 640 expected deliveries were lost");
    assert!(answer.out.contains(&format!("✗ {told}")), "{}", answer.out);
    assert!(place.folders().is_empty(), "nobody asked for a folder");

    let answer = run(&place, &lossy, "talk.js", &["--runs=runs"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let verdict = &place.reported()["verdict"];
    assert_eq!(verdict["result"], "pass", "as the exit code: {verdict}");
    let told = verdict["hints"][0].as_str().unwrap();
    assert!(
        told.contains("expected deliveries were lost")
            && told.ends_with("; only a threshold makes that a failure of the test"),
        "{told}"
    );
    std::fs::remove_dir_all(place.path().join("runs")).unwrap();

    let limits = r#"THRESHOLDS={"sonagi_delivery":["rate==1"]}"#;
    let answer = run(&place, &lossy, "talk.js", &["-e", limits, "--runs=runs"]);
    assert_eq!(answer.code, Some(99), "{answer:?}");
    assert!(answer.out.contains("✗ 'rate==1' rate=9"), "{}", answer.out);
    let report = place.reported();
    assert_eq!(report["verdict"]["result"], "fail");
    let reason = report["verdict"]["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("the threshold `sonagi_delivery: rate==1` failed"), "{reason}");
    let again = place.sonagi(&["report", place.folders()[0].to_str().unwrap()]);
    assert!(again.out.contains("DELIVERY") && answer.out.contains(&again.out), "{again:?}\n{answer:?}");
}

/// Four people who keep their connections and end every iteration with a word: the last ones are under way when all is
/// over.
const KEPT: &str = "
import { WebSocket } from 'k6/websockets';
import { join, stamp } from 'k6/x/sonagi';
const room = 'location:lobby';
export const options = { sonagi: { keepConnections: true }, scenarios: { talk: { executor: 'per-vu-iterations', vus: 4, iterations: 3 } } };
let socket;
export default () => new Promise((done) => {
  const say = (what) => socket.send(JSON.stringify(what));
  const talk = () => setTimeout(() => { say({ type: 'send', room, content: stamp(room) }); done(); }, 400);
  if (socket) return talk();
  socket = new WebSocket(`${__ENV.SERVE_WS}/ws`);
  socket.onopen = () => say({ type: 'join', room });
  socket.onmessage = ({ data }) => {
    if (data.startsWith('{\"type\":\"joined\"')) { join(room); talk(); }
  };
});
";

#[test]
fn connections_that_are_kept_are_listened_to_until_what_is_under_way_has_come() {
    let place = Place::new();
    place.write("kept.js", KEPT);
    let service = Service::start(&place, &[]);
    let answer = run(&place, &service, "kept.js", &[]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let counts = ["messages", "owed", "arrived", "lost"];
    let [messages, owed, arrived, lost] =
        counts.map(|name| exported(&place, &format!("sonagi_{name}"), "count"));
    // The thread that ends first is not owed the others' last messages.
    assert!(messages == 12 && owed >= 36 && (arrived, lost) == (owed, 0), "{answer:?}");
}

#[test]
fn a_test_without_the_module_has_no_word_of_deliveries_and_leaves_no_folder() {
    let place = Place::new();
    place.write("nothing.js", "export default () => {}");
    let answer = place.sonagi(&["run", "nothing.js"]);
    assert_eq!(answer.code, Some(0));
    assert!(!answer.out.contains("DELIVERY") && !answer.out.contains("GENERATOR"), "{}", answer.out);
    assert!(place.folders().is_empty());
}
