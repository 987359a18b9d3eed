//! `config.phases`: when users arrive.
//!
//! Open phases say how many users arrive; a phase with `users` makes the whole run closed: a population repeats its
//! scenario. The two cannot be mixed, because a user that repeats has no arrival.

use crate::schedule::{Load, Phase, Shape, Spacing, Stage};
use std::time::Duration;

use crate::script::reader::{Fields, Reader};
use crate::script::schema;
use crate::script::yaml::Node;

/// Highest rate accepted: a typing mistake above it would plan more arrivals than a machine has ports for in a second.
const MAX_RATE: f64 = 1_000_000.0;

/// Reads `phases` and `spacing` of `config`.
pub(crate) fn load(reader: &mut Reader, config: &Fields<'_>) -> Option<Load> {
    let spacing = spacing(reader, config);
    let Some(node) = config.get("phases") else {
        // A key that was probably meant to be it has been told of.
        if !config.means("phases") {
            let text = "the script has no phases: one user runs, once; more come with `phases: [{duration: 60, \
                        arrivalRate: 5}]` in config";
            reader.notice(config.place, text);
        }
        let duration = Duration::from_secs(1);
        let one = Phase { name: None, duration, shape: Shape::Count(1), max_users: None };
        return Some(Load::Open { phases: vec![one], spacing });
    };
    let items = reader.list(config, "phases", true);
    let spacing = items.iter().fold(spacing, |spacing, item| mode_of(reader, item).unwrap_or(spacing));
    if items.is_empty() {
        if matches!(node.kind, crate::script::yaml::Kind::List(_)) {
            reader.problem(node.place, "`phases` is empty: nothing says when users arrive", None);
        }
        return None;
    }
    if items.iter().any(|item| item.get("users").is_some()) {
        return closed(reader, items);
    }
    let problems = reader.problems.len();
    let mut phases = Vec::new();
    for item in items {
        phases.extend(phase(reader, item));
    }
    let arrivals = phases.iter().any(|phase| phase.shape != Shape::Pause);
    // A problem that follows from a wrong value elsewhere is left out of both, silently.
    if problems == reader.problems.len() && phases.len() == items.len() && !arrivals {
        reader.problem(node.place, "all phases are pauses: no user ever arrives", None);
    }
    Some(Load::Open { phases, spacing })
}

/// Artillery's word for spacing, in `config` or a phase.
fn mode(reader: &mut Reader, fields: &Fields<'_>) -> Option<Spacing> {
    let node = fields.get("mode")?;
    match crate::script::reader::plain_text(node).as_deref() {
        Some("poisson") => Some(Spacing::Poisson),
        Some("uniform") => Some(Spacing::Even),
        _ => {
            reader.wrong(fields, "mode", node);
            None
        }
    }
}

fn mode_of(reader: &mut Reader, item: &Node) -> Option<Spacing> {
    item.get("mode")?;
    mode(reader, &Fields::checked(item, &schema::PHASE))
}

fn spacing(reader: &mut Reader, config: &Fields<'_>) -> Spacing {
    if let Some(mode) = mode(reader, config) {
        return mode;
    }
    match (reader.text(config, "spacing").as_deref(), config.get("spacing")) {
        (Some("poisson"), _) => Spacing::Poisson,
        (Some("even") | None, _) | (_, None) => Spacing::Even,
        (_, Some(node)) => {
            reader.wrong(config, "spacing", node);
            Spacing::Even
        }
    }
}

/// Any phase's length, checked to be above zero.
fn length(reader: &mut Reader, fields: &Fields<'_>, key: &str) -> Option<Duration> {
    let node = fields.get(key)?;
    let duration = reader.duration(fields, key)?;
    if duration.is_zero() {
        reader.problem(node.place, format!("{key} must be longer than 0 s"), None);
        return None;
    }
    Some(duration)
}

fn phase(reader: &mut Reader, node: &Node) -> Option<Phase> {
    let fields = reader.fields(node, &schema::PHASE)?;
    let name = reader.text(&fields, "name");
    let max_users = reader.whole(&fields, "maxVusers");
    if let (Some(0), Some(node)) = (max_users, fields.get("maxVusers")) {
        reader.problem(
            node.place,
            "maxVusers: 0 lets no user start",
            Some("a phase without arrivals is `pause: 30`".into()),
        );
    }
    if fields.get("pause").is_some() {
        for other in ["duration", "arrivalRate", "rampTo", "arrivalCount"] {
            if fields.get(other).is_some() {
                let hint = "make two phases of it".to_owned();
                reader.problem(fields.place_of(other), format!("a pause has no {other}"), Some(hint));
            }
        }
        let duration = length(reader, &fields, "pause")?;
        return Some(Phase { name, duration, shape: Shape::Pause, max_users });
    }
    let shape = shape(reader, &fields);
    if let Some(Shape::Pause) = shape {
        let text = "a phase with a rate or count of 0 is a pause here; Artillery leaves it out";
        reader.notice(node.place, text);
    }
    let duration = match fields.get("duration") {
        Some(_) => length(reader, &fields, "duration"),
        None => {
            reader.missing(
                &fields,
                &["duration", "pause"],
                "a phase needs a duration",
                "add `duration: 60` (seconds)",
            );
            None
        }
    };
    Some(Phase { name, duration: duration?, shape: shape?, max_users })
}

fn shape(reader: &mut Reader, fields: &Fields<'_>) -> Option<Shape> {
    let rate = fields.get("arrivalRate");
    let ramp = fields.get("rampTo");
    if fields.get("arrivalCount").is_some() {
        for other in ["arrivalRate", "rampTo"] {
            if fields.get(other).is_some() {
                let what = format!("a phase has arrivalCount or {other}, not both");
                reader.problem(fields.place_of(other), what, None);
            }
        }
        let number = reader.whole(fields, "arrivalCount")?;
        return Some(if number == 0 { Shape::Pause } else { Shape::Count(number) });
    }
    match (rate, ramp) {
        (None, None) => {
            let what = "a phase needs arrivalRate, arrivalCount, users or pause";
            let keys = ["arrivalRate", "rampTo", "arrivalCount", "users", "pause"];
            reader.missing(fields, &keys, what, "add `arrivalRate: 5` (users per second)");
            None
        }
        (Some(node), None) => {
            let from = arrival_rate(reader, fields, "arrivalRate")?;
            if from == 0.0 {
                return Some(Shape::Pause);
            }
            if from.fract() != 0.0 {
                let text = "arrivalRate: a constant fraction is fine here (0.5 is a user every 2 s); Artillery stops \
                            on it";
                reader.notice(node.place, text);
            }
            Some(Shape::Rate { from, to: from })
        }
        (from, Some(_)) => {
            let from = if from.is_some() { arrival_rate(reader, fields, "arrivalRate") } else { Some(0.0) };
            let to = arrival_rate(reader, fields, "rampTo");
            let (from, to) = (from?, to?);
            Some(if from == 0.0 && to == 0.0 { Shape::Pause } else { Shape::Rate { from, to } })
        }
    }
}

fn arrival_rate(reader: &mut Reader, fields: &Fields<'_>, key: &str) -> Option<f64> {
    let rate = reader.number(fields, key)?;
    if rate > MAX_RATE {
        let place = fields.get(key).map_or(fields.place, |node| node.place);
        reader.problem(
            place,
            format!("{key} is a number of users per second up to {MAX_RATE}; got {rate}"),
            None,
        );
        return None;
    }
    Some(rate)
}

fn closed(reader: &mut Reader, items: &[Node]) -> Option<Load> {
    let problems = reader.problems.len();
    let mut stages = Vec::new();
    for item in items {
        stages.extend(stage(reader, item));
    }
    if problems == reader.problems.len()
        && stages.len() == items.len()
        && stages.iter().all(|stage| stage.users == 0 && stage.from.unwrap_or(0) == 0)
    {
        reader.problem(items[0].place, "the population is 0 in all phases: nothing runs", None);
    }
    Some(Load::Closed { stages })
}

fn stage(reader: &mut Reader, node: &Node) -> Option<Stage> {
    let fields = reader.fields(node, &schema::PHASE)?;
    let name = reader.text(&fields, "name");
    for open in ["arrivalRate", "arrivalCount", "maxVusers"] {
        if fields.get(open).is_some() {
            reader.problem(
                fields.place_of(open),
                format!(
                    "{open} and users do not mix: with users a population repeats its scenario, and nobody \
                         arrives"
                ),
                Some("write users in all phases, or in none".into()),
            );
        }
    }
    if fields.get("pause").is_some() {
        let duration = length(reader, &fields, "pause")?;
        return Some(Stage { name, duration, from: Some(0), users: 0 });
    }
    let users = reader.whole(&fields, "users");
    let ramp = reader.whole(&fields, "rampTo");
    if fields.get("duration").is_none() {
        let (keys, hint) = (["duration", "pause"], "add `duration: 60` (seconds)");
        reader.missing(&fields, &keys, "a phase needs a duration", hint);
    }
    let duration = length(reader, &fields, "duration")?;
    match (users, ramp) {
        (Some(users), None) => Some(Stage { name, duration, from: Some(users), users }),
        (from, Some(users)) => Some(Stage { name, duration, from, users }),
        (None, None) => {
            let open = ["arrivalRate", "arrivalCount"].iter().any(|key| fields.get(key).is_some());
            if !open && fields.get("users").is_none() && fields.get("rampTo").is_none() {
                let hint = "write `users: 100`, or `rampTo: 100` to move there from the phase before";
                reader.missing(&fields, &["users", "rampTo"], "a closed phase needs users or rampTo", hint);
            }
            None
        }
    }
}
