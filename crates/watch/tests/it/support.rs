//! Watching something for a while, and what was seen of it; a process to be watched.

use sonagi_measure::metrics::{Aggregate, Registry, TagSet};
use sonagi_watch::{Note, Probe, Watch};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was seen: the last level or the whole increase of each series.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) values: BTreeMap<(String, TagSet), f64>,
    pub(crate) notes: Vec<Note>,
}

impl Seen {
    /// The value of a metric without tags.
    pub(crate) fn get(&self, metric: &str) -> Option<f64> {
        self.values.get(&(metric.to_owned(), TagSet::default())).copied()
    }

    /// The value of a metric of one series, whatever its tags.
    pub(crate) fn one(&self, metric: &str) -> Option<f64> {
        self.values.iter().find(|((name, _), _)| name == metric).map(|(_, value)| *value)
    }

    /// The values of a metric, by one of its tags.
    pub(crate) fn by(&self, metric: &str, tag: &str) -> BTreeMap<String, f64> {
        let of = self.values.iter().filter(|((name, _), _)| name == metric);
        of.filter_map(|((_, tags), value)| Some((tags.get(tag)?.to_owned(), *value))).collect()
    }

    /// All notes as lines.
    pub(crate) fn told(&self) -> String {
        self.notes.iter().map(|note| format!("{}: {}\n", note.subject, note.text)).collect()
    }
}

/// A watch that gathers what it takes.
pub(crate) struct Watching {
    watch: Watch,
    pub(crate) seen: Seen,
}

impl Watching {
    pub(crate) fn start(probe: Box<dyn Probe>) -> Watching {
        let watch = Watch::start(vec![probe], &Arc::new(Registry::default()), Instant::now()).unwrap();
        Watching { watch, seen: Seen::default() }
    }

    /// Takes until what was seen is enough; at most twenty seconds.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, is_enough: impl Fn(&Seen) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end {
            let taken = self.watch.take();
            for observed in taken.interval.series {
                let key = (observed.series.of.name.to_string(), observed.series.tags.clone());
                match observed.aggregate {
                    Aggregate::Counter(counted) => *self.seen.values.entry(key).or_default() += counted.count,
                    Aggregate::Gauge(gauged) => _ = self.seen.values.insert(key, gauged.value),
                    other => panic!("probes know no {other:?}"),
                }
            }
            self.seen.notes.extend(taken.notes);
            if is_enough(&self.seen) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{what}: {:#?}", self.seen);
    }
}

/// A Python process that reads what it is told, and the first line that it has printed.
pub(crate) fn python(script: &str) -> (Child, String) {
    let python = std::env::var("SONAGI_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut process = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("these tests need Python 3; `make setup` installs it");
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (process, line)
}
