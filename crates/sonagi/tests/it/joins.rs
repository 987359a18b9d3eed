//! Joins that a service refuses: whoever is not let in is no member, and owed nothing.

use crate::support::{Answer, Place, Service};

const SCRIPT: &str = r#"
config:
  target: set by the test
  phases: [{ duration: 1, arrivalCount: 3 }]
  socketio: { transports: [websocket] }
scenarios:
  - engine: socketio-v3
    room: nowhere
    flow:
      - post:
          url: /auth/login
          json: { email: user1@example.test, password: password }
          capture: { json: $.access_token, as: token }
      - connect: { auth: { token: "{{ token }}" } }
      - emit: [joinRoom, { roomId: nowhere }]
        acknowledge: ACKNOWLEDGE
      - think: 0.5
      - emit: [sendMessage, { roomId: nowhere, content: "{{ $stamp }}" }]
"#;

fn run(acknowledge: &str) -> Answer {
    let place = Place::new();
    let service = Service::start(&place, &["--seed-users", "1"]);
    place.write("join.yml", &SCRIPT.replace("ACKNOWLEDGE", acknowledge));
    place.sonagi(&["run", "join.yml", "-t", &service.url, "--json"])
}

#[test]
fn a_join_that_the_service_refuses_fails_the_user_and_makes_no_member() {
    let answer = run("true");
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let summary = answer.json();
    assert_eq!((&summary["users"]["failed"], &summary["delivery"]["owed"]), (&3.into(), &0.into()));
    let error = &summary["errors"][0];
    assert_eq!((&error["code"], &error["count"]), (&"join_refused".into(), &3.into()), "{summary}");
    let example = error["example"].as_str().unwrap();
    assert!(example.starts_with(r#"the join was answered with `{"ok":false,"error":{"#), "{example}");
    let hints = summary["verdict"]["hints"].as_array().unwrap();
    let is_of_the_join = |hint: &&serde_json::Value| hint.as_str().unwrap().starts_with("join_refused: ");
    assert_eq!(hints.iter().filter(is_of_the_join).count(), 1, "{hints:?}");
}

#[test]
fn a_match_says_itself_which_answer_lets_a_user_in() {
    let summary = run("{ match: { json: $.0.ok, value: false } }").json();
    assert_eq!(summary["users"]["failed"], 0, "{summary}");
    let delivery = &summary["delivery"];
    assert!(delivery["owed"].as_u64() > Some(0), "{delivery}");
    assert_eq!(delivery["lost"], delivery["owed"], "whoever is taken for a member is owed what never comes");
    let hints = summary["verdict"]["hints"].as_array().unwrap();
    let says_why =
        |hint: &&serde_json::Value| hint.as_str().unwrap().starts_with("nobody received a message");
    assert_eq!(hints.iter().filter(says_why).count(), 1, "{hints:?}");
}

const REFUSED: &str = r#"
config:
  target: set by the test
  phases: [{ duration: 1, arrivalCount: 3 }]
  socketio: { transports: [websocket] }
  delivery: { drain: 1 }
scenarios:
  - engine: socketio-v3
    room: "location:7"
    flow:
      - emit: [joinRoom, { roomId: "location:7" }]
        acknowledge: true
      - think: 0.5
      - emit: [sendMessage, { roomId: "location:7", content: "{{ $stamp }}" }]
        acknowledge: true
      - emit: [sendMessage, { roomId: nowhere, content: "{{ $stamp }}" }]
        acknowledge: ACKNOWLEDGE
      - think: 0.5
"#;

#[test]
fn a_message_that_the_service_refuses_is_owed_to_nobody() {
    for (acknowledge, failed) in [("true", 0), ("{ match: { json: $.0.ok, value: true } }", 3)] {
        let place = Place::new();
        let service = Service::start(&place, &[]);
        place.write("refused.yml", &REFUSED.replace("ACKNOWLEDGE", acknowledge));
        let summary = place.sonagi(&["run", "refused.yml", "-t", &service.url, "--json"]).json();
        let delivery = &summary["delivery"];
        assert_eq!(summary["users"]["failed"], failed, "{summary}");
        assert!(delivery["messages"] == 6 && delivery["delivered"].as_u64() > Some(0), "{delivery}");
        assert_eq!((&delivery["lost"], &delivery["never_accepted"]), (&0.into(), &0.into()), "{delivery}");
        assert!(delivery["unknown"].as_u64() > Some(0), "{delivery}");
    }
}
