//! A folder of runs as a table: what each `run.json` says, without reading seconds.

use super::file::id;
use crate::matrix;
use serde_json::{Map, Value, json};
use sonagi_measure::folder::{RUN, RunState};
use sonagi_report::lines::without_secrets;
use std::path::{Component, Path, PathBuf};

/// Limit on the runs that are listed.
const LISTED: usize = 2_000;

/// The folder of a run by its id, which is its path below the library: `20261123-101500-chat`, or of a matrix
/// `20261123-101500-chat/transport-sse`. None: there is no such run, or the id leads elsewhere.
pub(super) fn folder(library: &Path, id: &str) -> Option<PathBuf> {
    let path = Path::new(id);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    let folder = library.join(path);
    (is_below && path.components().count() <= 2 && folder.join(RUN).is_file()).then_some(folder)
}

/// The rows of all runs, newest first: names begin with their time.
pub(super) fn rows(library: &Path) -> Vec<Value> {
    let mut runs = Vec::new();
    for folder in folders(library) {
        let name = id(&folder);
        if folder.join(RUN).is_file() {
            runs.push((name, folder));
        } else if folder.join(matrix::DOCUMENT).is_file() {
            let inner = folders(&folder).into_iter().filter(|run| run.join(RUN).is_file());
            runs.extend(inner.map(|run| (format!("{name}/{}", id(&run)), run)));
        }
    }
    runs.sort_by(|one, other| other.0.cmp(&one.0));
    runs.truncate(LISTED);
    runs.iter().map(|(id, folder)| row(id, folder)).collect()
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect()
}

fn row(id: &str, folder: &Path) -> Value {
    let text = std::fs::read(folder.join(RUN)).unwrap_or_default();
    let run: Value = serde_json::from_slice(&text).unwrap_or_default();
    let header = &run["header"];
    if !header.is_object() {
        return json!({ "id": id, "name": id, "started": "", "language": "", "state": "unreadable" });
    }
    let language = header["language"]["name"].as_str().unwrap_or("artillery");
    let mut row = Map::new();
    let mut enter = |name: &str, value: &Value| {
        if !value.is_null() {
            row.insert(name.to_owned(), value.clone());
        }
    };
    enter("id", &json!(id));
    enter("name", &header["name"]);
    enter("started", &header["started"]);
    enter("language", &json!(language));
    enter("state", &json!(RunState::of(folder).name()));
    let summary = &run["summary"];
    if summary.is_object() {
        let kind = summary["kinds"].get(0).unwrap_or(&Value::Null);
        enter("verdict", &summary["verdict"]["result"]);
        enter("reasons", &summary["verdict"]["reasons"]);
        enter("duration_s", &summary["duration_s"]);
        enter("users", &summary["users"]["started"]);
        enter("rate_per_s", &rate(summary));
        enter("delivery_ratio", &summary["delivery"]["ratio"]);
        let delivery = &summary["delivery"]["latency_ms"]["p99"];
        enter("p99_ms", if delivery.is_null() { &kind["response_ms"]["p99"] } else { delivery });
        enter("generator", &json!({ "lag_p99_ms": summary["generator"]["send_lag_ms"]["p99"] }));
    }
    without_secrets(Value::Object(row))
}

/// Operations a second, of all kinds.
fn rate(summary: &Value) -> Value {
    let kinds = summary["kinds"].as_array().map_or(&[][..], Vec::as_slice);
    let rates = kinds.iter().filter_map(|kind| kind["rate_per_s"].as_f64());
    if kinds.is_empty() { Value::Null } else { json!((rates.sum::<f64>() * 1e3).round() / 1e3) }
}
