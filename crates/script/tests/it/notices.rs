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
