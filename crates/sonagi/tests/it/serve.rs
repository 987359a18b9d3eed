use crate::support::{Place, Running, Service};
use rustix::process::Signal;
use std::io::{BufRead, BufReader};

#[test]
fn an_address_that_is_taken_is_exit_code_4() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let answer = Place::new().sonagi(&["serve", "--listen", &address]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""));
    assert!(answer.err.contains(&address), "{}", answer.err);
}

#[test]
fn seeded_users_credentials_are_written_where_scripts_load_them() {
    let place = Place::new();
    let _service = Service::start(&place, &["--seed-users", "3", "--credentials", "users.csv"]);
    let text = std::fs::read_to_string(place.path().join("users.csv")).unwrap();
    assert_eq!(text.lines().count(), 4, "a header and three users: {text}");
    assert!(text.lines().nth(1).unwrap().starts_with("user1@example.test,password"), "{text}");
}

#[test]
fn a_misspelt_fault_is_a_problem_with_a_hint() {
    let answer = Place::new().sonagi(&["serve", "--fault", "dorp=3%"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""));
    assert!(answer.err.contains("drop"), "{}", answer.err);
}

#[test]
fn a_terminated_service_drains_and_ends_well() {
    let place = Place::new();
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--grace", "0s"]);
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer);
    let mut running = Running::start(command);
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    running.signal(Signal::TERM);
    running.wait_for("draining");
    assert_eq!(running.end().code, Some(0));
}

/// `sonagi serve` on a store; returns once it has listened and said that it has no accounts.
fn serving(place: &Place, store: &str) -> Running {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--grace", "0s", "--store", store]);
    command.stdout(writer);
    let mut running = Running::start(command);
    running.wait_for("hint: create some with --seed-users N, or one with --account EMAIL:PASSWORD");
    assert!(running.said().starts_with("no accounts: every login is answered 401\n"), "{}", running.said());
    drop(reader);
    running
}

#[test]
fn a_second_service_on_a_store_is_exit_code_4_and_one_that_was_killed_is_in_nobodys_way() {
    let place = Place::new();
    let first = serving(&place, "chat.db");
    let second = place.sonagi(&["serve", "--listen", "127.0.0.1:0", "--store", "./chat.db"]);
    assert_eq!((second.code, second.out.as_str()), (Some(4), ""));
    let said = format!("chat.db: one service at a time may use it, and process {} does\nhint: ", first.id());
    assert!(
        second.err.starts_with("error: cannot open the message store ") && second.err.contains(&said),
        "{second:?}"
    );
    first.signal(Signal::KILL);
    assert_eq!(first.end().code, None);
    let third = serving(&place, "chat.db");
    third.signal(Signal::TERM);
    assert_eq!(third.end().code, Some(0));
}
