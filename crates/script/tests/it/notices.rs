//! What an author is told of a script that runs.

use crate::support::{load_text, notices};

const HEAD: &str = "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios:\n";

fn said(scenarios: &str) -> Vec<String> {
    notices(&load_text(&format!("{HEAD}{scenarios}")).unwrap())
}

#[test]
fn a_scenario_that_only_listens_in_a_room_is_tracked_when_another_stamps_into_it() {
    let listens = "  - {engine: ws, room: lobby, flow: [{connect: /ws}]}\n";
    let says = "  - {engine: ws, room: lobby, flow: [{send: \"{{ $stamp }}\"}]}\n";
    assert_eq!(said(&format!("{listens}{says}")), [""; 0]);
    assert_eq!(said(listens), ["5:18: rooms are not tracked: no message of any scenario holds {{ $stamp }}"]);
}

#[test]
fn a_stamp_in_a_scenario_that_no_user_runs_tracks_nothing() {
    let scenarios = "  - {engine: ws, room: lobby, flow: [{connect: /ws}]}\n\
        \x20 - {name: off, weight: 0, engine: ws, room: lobby, flow: [{send: \"{{ $stamp }}\"}]}\n";
    assert_eq!(
        said(scenarios),
        [
            "5:18: rooms are not tracked: no message of any scenario holds {{ $stamp }}",
            "6:17: the scenario \"off\" has weight 0 and is left out",
        ]
    );
}

/// A script that names a host there loads the target in Artillery: going elsewhere would load who was not meant.
#[test]
fn a_url_among_the_options_of_socketio_opens_nothing_there() {
    let text = format!("{HEAD}  - {{engine: socketio, socketio: {{url: \"http://c\"}}, flow: [{{emit: [a]}}, {{connect: {{url: \"http://d\"}}}}]}}\n")
        .replace("target: http://t", "target: http://t\n  socketio: {url: \"http://b\"}");
    let loaded = load_text(&text).unwrap();
    let plan = format!("{:?}", loaded.plan);
    assert!(!plan.contains("http://b") && !plan.contains("http://c"), "{plan}");
    assert!(plan.contains("http://d"), "a connect step says where: {plan}");
    let told = notices(&loaded);
    assert_eq!(told.iter().filter(|notice| notice.contains("url: no effect, as in Artillery")).count(), 2, "{told:?}");
}
