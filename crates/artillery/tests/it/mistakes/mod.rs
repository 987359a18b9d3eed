//! Wrong scripts: each mistake with its exact place, message and hint.

mod config;
mod flow;
mod many;
mod realtime;
mod responses;
mod templates;
mod transports;
mod turns;

use crate::support::problems;

type Case = (fn(&str) -> String, &'static str, &'static [&'static str]);

/// Loads each text inside the script its first member makes around it; `line:column: what | hint`.
fn check(cases: &[Case]) {
    let mut wrong = String::new();
    for (around, text, expected) in cases {
        let found = problems(&around(text));
        if found != *expected {
            wrong.push_str(&format!("{text}\n  got      {found:#?}\n  expected {expected:#?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

const HEAD: &str = "config:\n  target: http://t\n";
const PHASES: &str = "  phases: [{duration: 1, arrivalRate: 1}]\n";
const SCENARIO: &str = "scenarios: [{flow: [{think: 1}]}]\n";

fn whole(text: &str) -> String {
    text.to_owned()
}

/// Lines of `config`, from line 4.
fn config(text: &str) -> String {
    format!("{HEAD}{PHASES}{text}{SCENARIO}")
}

/// Items of `phases`, on line 3 from column 12.
fn phases(text: &str) -> String {
    format!("{HEAD}  phases: [{text}]\n{SCENARIO}")
}

/// Lines of a scenario, from line 6.
fn scenario(text: &str) -> String {
    format!("{HEAD}{PHASES}scenarios:\n  - \n{text}")
}

fn flow(engine: &str, text: &str) -> String {
    format!("{HEAD}{PHASES}scenarios:\n  - engine: {engine}\n    flow:\n{text}")
}

/// Steps of a flow, from line 7.
fn http(text: &str) -> String {
    flow("http", text)
}

fn ws(text: &str) -> String {
    flow("ws", text)
}

fn socketio(text: &str) -> String {
    flow("socketio", text)
}
