//! A folder of runs as a table: what each `run.json` says, without reading seconds.
//!
//! Viewers ask again every few seconds, and a `run.json` may have megabytes. So the folder is looked through once for
//! all of them and at most once a second, and of a run that is over its file is read again only when it has changed.

use super::file::{self, Links, id};
use crate::{capacity_folder, compared_runs, matrix_folder};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use sonagi_measure::folder::{RUN, RunState};
use sonagi_report::lines::without_secrets;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Mutex;

/// Limit on the runs that are listed.
const LISTED: usize = 2_000;
/// Limit on the folders of several runs that are.
const EXPERIMENTS: usize = 20;
/// How often the folder is looked through, at most.
const LOOKED_EVERY: Duration = Duration::from_secs(1);

/// The table of a folder's runs, for all who ask for it.
pub(super) struct Library {
    folder: PathBuf,
    table: Arc<Mutex<Table>>,
    /// Held while the runs of a matrix are read: all of them are, for one viewer at a time.
    judging: Arc<Mutex<()>>,
}

impl Library {
    pub(super) fn new(folder: PathBuf) -> Library {
        Library { folder, table: Arc::default(), judging: Arc::default() }
    }

    /// What the runs of a matrix say together, by the name of its folder; None: there is no such matrix.
    pub(super) async fn matrix(&self, name: &str) -> Option<Value> {
        let turn = Arc::clone(&self.judging).lock_owned().await;
        let (library, name) = (self.folder.clone(), name.to_owned());
        let judged = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            judged(&library, &name)
        });
        judged.await.ok().flatten()
    }

    /// What a search for a capacity has found so far, by the name of its folder; None: there is no such search.
    pub(super) async fn search(&self, name: &str) -> Option<Value> {
        let (library, name) = (self.folder.clone(), name.to_owned());
        tokio::task::spawn_blocking(move || searched(&library, &name)).await.ok().flatten()
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// The table as a JSON document; `only` these runs, if they are named.
    pub(super) async fn document(&self, only: Option<Vec<String>>) -> Bytes {
        // Held while the folder is looked through: whoever asks meanwhile gets the same answer.
        let mut table = Arc::clone(&self.table).lock_owned().await;
        if let Some(document) = table.recent(Instant::now()) {
            return document;
        }
        let folder = self.folder.clone();
        let looked = tokio::task::spawn_blocking(move || table.look(&folder, only.as_deref()));
        looked.await.unwrap_or_default()
    }
}

/// What is known of the runs.
#[derive(Default)]
struct Table {
    document: Bytes,
    /// When the folder was looked through for it.
    looked: Option<Instant>,
    /// The rows of runs that are over, by id.
    over: HashMap<String, Over>,
}

/// The row of a run that is over, and which `run.json` it is of.
struct Over {
    file: (SystemTime, u64),
    row: Value,
}

impl Table {
    fn recent(&self, now: Instant) -> Option<Bytes> {
        let is_recent = |looked: Instant| now.saturating_duration_since(looked) < LOOKED_EVERY;
        self.looked.is_some_and(is_recent).then(|| self.document.clone())
    }

    /// Looks through the folder.
    fn look(&mut self, library: &Path, only: Option<&[String]>) -> Bytes {
        let rows = self.rows(library, only);
        let experiments = if only.is_some() { Vec::new() } else { experiments(library) };
        self.document = json!({ "runs": rows, "experiments": experiments }).to_string().into();
        self.looked = Some(Instant::now());
        self.document.clone()
    }

    /// The rows of all runs, newest first: names begin with their time.
    fn rows(&mut self, library: &Path, only: Option<&[String]>) -> Vec<Value> {
        let mut runs = match only {
            Some(ids) => {
                let found = |id: &String| Some((id.clone(), folder(library, id)?));
                ids.iter().filter_map(found).collect()
            }
            None => all(library),
        };
        runs.sort_by(|one, other| other.0.cmp(&one.0));
        runs.truncate(LISTED);
        // Those that are gone are forgotten.
        let mut known = std::mem::take(&mut self.over);
        let row = |(id, folder): (String, PathBuf)| {
            // Before reading: a file that is replaced meanwhile is read again next time.
            let metadata = std::fs::metadata(folder.join(RUN)).ok();
            let file = metadata.and_then(|file| Some((file.modified().ok()?, file.len())));
            if let Some((id, over)) = known.remove_entry(&id).filter(|(_, over)| Some(over.file) == file) {
                let row = over.row.clone();
                self.over.insert(id, over);
                return row;
            }
            let (row, is_over) = row(&id, &folder);
            if let Some(file) = file.filter(|_| is_over) {
                self.over.insert(id, Over { file, row: row.clone() });
            }
            row
        };
        runs.into_iter().map(row).collect()
    }
}

/// The folder of a run by its id, which is its path below the library: `20261123-101500-chat`, or of a matrix
/// `20261123-101500-chat/transport-sse`. None: there is no such run, or the id leads elsewhere.
pub(super) fn folder(library: &Path, id: &str) -> Option<PathBuf> {
    let path = Path::new(id);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    let folder = library.join(path);
    (is_below && path.components().count() <= 2 && folder.join(RUN).is_file()).then_some(folder)
}

/// The folder of several runs by its name; None: the name leads elsewhere.
fn below(library: &Path, name: &str) -> Option<PathBuf> {
    let mut parts = Path::new(name).components();
    let is_below = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    is_below.then(|| library.join(name))
}

fn searched(library: &Path, name: &str) -> Option<Value> {
    let folder = below(library, name)?;
    let search = capacity_folder::read(&folder)?.ok()?;
    Some(file::of_capacity(&search, capacity_folder::is_fresh(&folder), Some(&Links::served(name))))
}

fn judged(library: &Path, name: &str) -> Option<Value> {
    let folder = below(library, name)?;
    let mut runs = matrix_folder::read(&folder)?.ok()?;
    compared_runs::judge(&mut runs, &folder);
    Some(file::of_matrix(&runs, Some(&Links::served(name))))
}

/// The runs in a library, with their ids.
fn all(library: &Path) -> Vec<(String, PathBuf)> {
    let mut runs = Vec::new();
    for folder in folders(library) {
        let name = id(&folder);
        if folder.join(RUN).is_file() {
            runs.push((name, folder));
        } else if kind(&folder).is_some() {
            let inner = folders(&folder).into_iter().filter(|run| run.join(RUN).is_file());
            runs.extend(inner.map(|run| (format!("{name}/{}", id(&run)), run)));
        }
    }
    runs
}

/// What the runs in a folder were made for: the part of the address of its page. None: it holds no runs.
fn kind(folder: &Path) -> Option<&'static str> {
    let kinds = [(matrix_folder::DOCUMENT, "matrices"), (capacity_folder::DOCUMENT, "capacities")];
    kinds.into_iter().find(|(document, _)| folder.join(document).is_file()).map(|(_, kind)| kind)
}

/// The folders of several runs, newest first, with the addresses of their pages.
fn experiments(library: &Path) -> Vec<Value> {
    let mut found: Vec<(String, &str)> =
        folders(library).iter().filter_map(|folder| Some((id(folder), kind(folder)?))).collect();
    found.sort_by(|one, other| other.cmp(one));
    found.truncate(EXPERIMENTS);
    found.into_iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect()
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect()
}

/// The row of a run, and whether the run is over.
fn row(id: &str, folder: &Path) -> (Value, bool) {
    let state = RunState::of(folder);
    let is_over = state != RunState::Running;
    let text = std::fs::read(folder.join(RUN)).unwrap_or_default();
    let run: Value = serde_json::from_slice(&text).unwrap_or_default();
    let header = &run["header"];
    if !header.is_object() {
        let row = json!({ "id": id, "name": id, "started": "", "language": "", "state": "unreadable" });
        return (row, is_over);
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
    enter("state", &json!(state.name()));
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
    (without_secrets(Value::Object(row)), is_over)
}

/// Operations a second, of all kinds.
fn rate(summary: &Value) -> Value {
    let kinds = summary["kinds"].as_array().map_or(&[][..], Vec::as_slice);
    let rates = kinds.iter().filter_map(|kind| kind["rate_per_s"].as_f64());
    if kinds.is_empty() { Value::Null } else { json!((rates.sum::<f64>() * 1e3).round() / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run folder whose `run.json` says this name.
    fn write(library: &Path, id: &str, name: &str) -> PathBuf {
        let run = library.join(id).join(RUN);
        std::fs::create_dir_all(run.parent().unwrap()).unwrap();
        let document =
            json!({ "version": 2, "header": { "name": name }, "summary": { "interrupted": false } });
        std::fs::write(&run, document.to_string()).unwrap();
        run
    }

    fn names(rows: &[Value]) -> Vec<&str> {
        rows.iter().map(|row| row["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn a_run_that_is_over_is_read_again_only_when_its_file_has_changed() {
        let library = tempfile::tempdir().unwrap();
        let run = write(library.path(), "1", "first");
        let mut table = Table::default();
        assert_eq!(names(&table.rows(library.path(), None)), ["first"]);
        let modified = run.metadata().unwrap().modified().unwrap();
        // Of the same length and time, as no writer leaves it: only a reader would notice.
        write(library.path(), "1", "other");
        std::fs::File::options().write(true).open(&run).unwrap().set_modified(modified).unwrap();
        assert_eq!(names(&table.rows(library.path(), None)), ["first"]);
        write(library.path(), "1", "longer");
        write(library.path(), "2", "second");
        assert_eq!(names(&table.rows(library.path(), None)), ["second", "longer"]);
        assert_eq!(names(&table.rows(library.path(), Some(&["1".to_owned()]))), ["longer"]);
        std::fs::remove_dir_all(library.path().join("1")).unwrap();
        assert_eq!(names(&table.rows(library.path(), None)), ["second"]);
        assert_eq!(table.over.len(), 1, "what is gone is forgotten");
    }

    #[test]
    fn the_folder_is_looked_through_at_most_once_a_second() {
        let library = tempfile::tempdir().unwrap();
        write(library.path(), "1", "first");
        let mut table = Table::default();
        assert_eq!(table.recent(Instant::now()), None);
        let document = table.look(library.path(), None);
        let looked = table.looked.unwrap();
        assert_eq!(table.recent(looked + LOOKED_EVERY - Duration::from_millis(1)), Some(document));
        assert_eq!(table.recent(looked + LOOKED_EVERY), None);
    }
}
