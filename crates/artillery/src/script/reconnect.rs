//! `config.reconnect`, and what a `reconnect` step needs where the script does not say it.

use crate::plan::{Reconnect, Step};
use sonagi_measure::outcome::{OperationId, OperationKind};
use std::time::Duration;

use crate::script::context::Flow;
use crate::script::opening::walk;
use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::{Kind, Node, Place};

/// The treatment of a lost connection.
pub(crate) struct Lost {
    /// How it is opened again; None: not at all.
    pub(crate) reconnect: Option<Reconnect>,
    /// The member of received messages that is `$cursor`.
    pub(crate) cursor: Option<String>,
}

/// Reads `config.reconnect`. Without it, steps that reconnect do so by its defaults, and nothing is automatic.
pub(crate) fn reconnect(reader: &mut Reader, config: &Fields<'_>, script: &Fields<'_>) -> Lost {
    let Some(fields) = reader.section(config, "reconnect", &schema::RECONNECT) else {
        let step = script.get("scenarios").and_then(first_step);
        let operation = step.and_then(|place| operation(reader, place));
        let reconnect = operation.map(|operation| Reconnect { is_automatic: false, ..defaults(operation) });
        return Lost { reconnect, cursor: None };
    };
    let cursor = cursor(reader, &fields);
    let reconnect = operation(reader, fields.place).map(|operation| settings(reader, &fields, operation));
    Lost { reconnect, cursor }
}

fn operation(reader: &mut Reader, place: Place) -> Option<OperationId> {
    reader.operation(place, "reconnect", OperationKind::Reconnect).map(|counted| counted.id)
}

fn defaults(operation: OperationId) -> Reconnect {
    Reconnect {
        operation,
        is_automatic: true,
        first: Duration::from_millis(500),
        most: Duration::from_secs(10),
        attempts: 10,
        resume: true,
    }
}

fn settings(reader: &mut Reader, fields: &Fields<'_>, operation: OperationId) -> Reconnect {
    let mut lost = defaults(operation);
    if let Some(automatic) = reader.boolean(fields, "automatic") {
        lost.is_automatic = automatic;
    }
    if let Some(first) = reader.duration(fields, "first") {
        lost.first = first;
    }
    match reader.duration(fields, "most") {
        Some(most) if most < lost.first => {
            let what = format!("most must not be shorter than first ({} s)", lost.first.as_secs_f64());
            reader.problem(fields.place_of("most"), what, None);
        }
        Some(most) => lost.most = most,
        None => lost.most = lost.most.max(lost.first),
    }
    match reader.whole(fields, "attempts") {
        Some(0) => {
            let hint = "remove `reconnect`, or write `automatic: false`".to_owned();
            reader.problem(fields.place_of("attempts"), "attempts: 0 never reconnects", Some(hint));
        }
        Some(attempts) => lost.attempts = u32::try_from(attempts).unwrap_or(u32::MAX),
        None => {}
    }
    if let Some(resume) = reader.boolean(fields, "resume") {
        lost.resume = resume;
    }
    lost
}

fn cursor(reader: &mut Reader, fields: &Fields<'_>) -> Option<String> {
    let cursor = reader.text(fields, "cursor")?;
    if !cursor.is_empty() && !cursor.contains(['$', '.', '[', '"', '\\']) {
        return Some(cursor);
    }
    let what = format!("cursor is the name of one member of a message; got {cursor:?}");
    let hint = "write `cursor: seq`: the largest number under that name is the cursor".to_owned();
    reader.problem(fields.get("cursor").map_or(fields.place, |node| node.place), what, Some(hint));
    None
}

/// Says of a flow that reconnects on purpose that its subscriptions begin anew, when they do.
pub(crate) fn without_place(reader: &mut Reader, flow: &Flow<'_>, compiled: &[Step]) {
    // Streams and polls have a place of their own, and what a block lacks for it is said there.
    let Some(place) = flow.reconnects.filter(|_| flow.settings.resumes && !flow.engine.is_pull()) else {
        return;
    };
    if begins_anew(compiled) {
        let unless = if flow.engine.is_socketio() { ", unless the server recovers the session" } else { "" };
        let text = format!(
            "reconnect: the subscription does not resume{unless}: nothing in it says {{{{ $cursor }}}}, so what is \
             sent meanwhile is not owed"
        );
        reader.notice(place, text);
    }
}

/// Whether some subscription of these steps tells nothing of what was received.
fn begins_anew(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Subscribe(subscribe) => !subscribe.resumes,
        Step::Loop(of) => begins_anew(&of.body),
        Step::When { steps, .. } => begins_anew(steps),
        _ => false,
    })
}

/// The first `reconnect` step of all flows.
fn first_step(scenarios: &Node) -> Option<Place> {
    let Kind::List(scenarios) = &scenarios.kind else { return None };
    scenarios.iter().find_map(|scenario| match scenario.get("flow") {
        Some(Node { kind: Kind::List(items), .. }) => {
            walk(items).into_iter().find(|step| is_reconnect(step)).map(|step| step.place)
        }
        _ => None,
    })
}

/// A step of its own: beside an emit the word opens that one's session anew.
fn is_reconnect(step: &Node) -> bool {
    step.get("reconnect").is_some() && step.get("emit").is_none()
}
