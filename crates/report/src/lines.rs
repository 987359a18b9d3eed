//! A run as lines: what pages are made of, live and in files (docs/page.md has the contract).
//!
//! The lines come from the run folder alone, whoever writes it and whether the run is over: so a live page, a report of
//! yesterday's run and one of a run that was killed are made by the same code. Secrets that their names or looks tell
//! are masked here once more, wherever in a line they stand.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use sonagi_measure::At;
use sonagi_measure::folder::{Follower, Judge, ReadError, RunState, redact};
use sonagi_measure::frame::{About, Frame, Framer, SCALE};
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::secrets::masked;
use sonagi_measure::summary::{Naming, Summary};
use sonagi_measure::totals::Header;
use sonagi_verdict::Investigation;
use std::path::Path;
use std::sync::Arc;

/// The version of the lines.
pub const SCHEMA: u64 = 1;

/// The most events of a run that are told; those beyond are counted.
pub const EVENTS_MAX: u64 = 2_000;

/// Kinds of events that pages do not get: the script's own words, which may be secret and are many, and results whose
/// sum the summary has.
const UNTOLD: [&str; 3] = ["log", "expectations", "custom"];

/// What the languages of scripts say of their runs.
#[derive(Clone, Copy)]
pub struct Languages {
    /// The name of a run's language.
    pub name: fn(&Header) -> String,
    /// What thresholds call the figures of a run.
    pub naming: Naming,
    /// Explanations of the languages' metrics.
    pub about: fn(&str) -> Option<About>,
    /// The store that sums up a run's metrics, with nothing in it.
    pub store: fn(&Header) -> MetricStore,
    /// Judges a run without an end by the rules of its language.
    pub judge: Judge,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// First of all: what does not change.
    Head(Value),
    /// A second, or several.
    #[serde(serialize_with = "frame")]
    Frame(Arc<Frame>),
    /// Something happened.
    Event(Value),
    /// The run so far; each replaces the one before.
    Summary(Value),
    /// When the run is over: what broke first.
    Diagnosis(Value),
    /// Last of all.
    #[serde(serialize_with = "end")]
    End(RunState),
}

fn frame<S: Serializer>(frame: &Frame, out: S) -> Result<S::Ok, S::Error> {
    frame.serialize(out)
}

fn end<S: Serializer>(state: &RunState, out: S) -> Result<S::Ok, S::Error> {
    json!({ "state": state.name() }).serialize(out)
}

impl Line {
    /// The line's JSON, without a line's end.
    pub fn to_json(&self) -> Vec<u8> {
        // Nothing in it that JSON could refuse.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Makes the lines of one run, as its folder grows.
pub struct LineReader {
    follower: Follower,
    framer: Framer,
    investigation: Investigation,
    /// Events told, and events left out.
    events: (u64, u64),
}

impl LineReader {
    /// Opens the folder of a run.
    ///
    /// # Errors
    /// There is no `run.json` with a header (yet).
    pub fn open(path: &Path, languages: &Languages) -> Result<LineReader, ReadError> {
        let follower = Follower::open(path, languages.naming, languages.store, languages.judge)?;
        let (header, registry) = (follower.header().clone(), follower.registry().clone());
        let framer = Framer::new(header, registry, languages.about);
        let investigation = Investigation::of_at_most(Investigation::AN_HOUR);
        Ok(LineReader { follower, framer, investigation, events: (0, 0) })
    }

    /// The first line, for the run with this id.
    pub fn head(&self, id: &str, languages: &Languages) -> Line {
        let header = self.follower.header();
        let mut reproduce = json!({
            "command": header.command,
            // As text: a number of JavaScript has fewer digits.
            "seed": header.seed.to_string(),
            "target": header.target,
            "machine": header.environment,
            "plan": header.plan,
        });
        if let Some(script) = &header.script {
            reproduce["script"] = json!(format!("{} (SHA-256 {})", script.path, script.sha256));
        }
        redact(&mut reproduce);
        let mut head = json!({
            "schema": SCHEMA,
            "id": id,
            "name": header.name,
            "started": header.started,
            "language": (languages.name)(header),
            "sonagi": header.version,
            "scale": SCALE,
            "reproduce": reproduce,
        });
        if let Some(load_s) = header.load_s {
            head["planned_s"] = json!(load_s);
        }
        Line::Head(without_secrets(head))
    }

    /// Tells the lines that have come since the last call, and whether more will.
    ///
    /// # Errors
    /// The folder is no longer there.
    pub fn advance(&mut self, tell: &mut dyn FnMut(Line)) -> Result<RunState, ReadError> {
        // First: all that there was when the run was over is read then.
        let state = self.follower.state();
        while let Some(snapshot) = self.follower.second() {
            self.events_until(snapshot.at, tell);
            let frame = Arc::new(self.framer.frame(&snapshot));
            tell(Line::Frame(Arc::clone(&frame)));
            // A live page has written its line down and needs it no more: nothing is copied.
            self.investigation.frame(Arc::unwrap_or_clone(frame));
        }
        if state != RunState::Running {
            self.events_until(At(i64::MAX), tell);
            if self.events.1 > 0 {
                tell(Line::Event(json!({ "at": 0, "kind": "events_left_out", "count": self.events.1 })));
            }
            let summary = self.follower.end()?;
            tell(Line::Summary(document(&summary)));
            if let Some(diagnosis) = self.investigation.conclude(&summary) {
                let diagnosis = serde_json::to_value(&diagnosis).unwrap_or_default();
                tell(Line::Diagnosis(without_secrets(in_korean_too(diagnosis))));
            }
            tell(Line::End(state));
        }
        Ok(state)
    }

    /// The summary of all that was told so far.
    pub fn summary(&mut self) -> Line {
        Line::Summary(document(&self.follower.summary()))
    }

    fn events_until(&mut self, until: At, tell: &mut dyn FnMut(Line)) {
        while let Some(event) = self.follower.event(until) {
            self.investigation.event(&event);
            let Value::Object(mut event) = event else { continue };
            let kind = event.get("kind").and_then(Value::as_str).unwrap_or_default();
            if UNTOLD.contains(&kind) {
                continue;
            }
            if self.events.0 >= EVENTS_MAX {
                self.events.1 += 1;
                continue;
            }
            self.events.0 += 1;
            let at_ns = event.shift_remove("at_ns").and_then(|at| at.as_i64()).unwrap_or(0);
            let mut told = Map::from_iter([("at".to_owned(), json!((at_ns / 1_000_000) as f64 / 1e3))]);
            told.extend(event);
            let mut told = Value::Object(told);
            redact(&mut told);
            tell(Line::Event(without_secrets(told)));
        }
    }
}

fn document(summary: &Summary) -> Value {
    without_secrets(serde_json::to_value(summary).unwrap_or_default())
}

/// Gives every object that says something in English what that is in Korean.
fn in_korean_too(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(in_korean_too).collect(),
        Value::Object(fields) => {
            let said = ["title", "text", "why"].iter().find_map(|name| fields.get(*name)?.as_str());
            let korean = said.and_then(sonagi_verdict::korean);
            let mut fields: Map<String, Value> =
                fields.into_iter().map(|(name, value)| (name, in_korean_too(value))).collect();
            fields.extend(korean.map(|korean| ("ko".to_owned(), korean.into())));
            Value::Object(fields)
        }
        other => other,
    }
}

/// Masks secrets in every text, names of members among them.
pub fn without_secrets(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(masked(&text)),
        Value::Array(items) => items.into_iter().map(without_secrets).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (masked(&name), without_secrets(value))).collect()
        }
        other => other,
    }
}
