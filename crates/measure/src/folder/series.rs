//! `series.csv`: one row `second,series,value` per number. Counters and failures are differences, levels and the ledger's
//! counts are values at the end of the second. All values are whole numbers. Zero differences are left out.

use crate::At;
use crate::ledger::Counts;
use crate::outcome::{Failure, OperationId};
use crate::recorder::{Counter, FailureCount, Gauges, Timings, merge_failure};
use crate::totals::{Header, ProcessGauges, Snapshot};
use std::collections::HashMap;

/// How a name stands in a series' own: without the dot that ends it, and on one line. The first one is what escapes.
const ESCAPED: [(&str, &str); 4] = [("%", "%25"), (".", "%2E"), ("\n", "%0A"), ("\r", "%0D")];

/// The row that commits a second.
pub(super) const COMMIT: &str = "snapshot.at_ns";

macro_rules! fields {
    ($prefix:literal, $type:ty, [$($field:ident),* $(,)?]) => {
        [$((concat!($prefix, stringify!($field)), |v: &mut $type| &mut v.$field)),*]
    };
}

/// A number of `T`, for reading and writing alike.
type Field<T> = (&'static str, fn(&mut T) -> &mut u64);

const LEDGER: [Field<Counts>; 15] = fields!(
    "delivery.",
    Counts,
    [
        messages,
        owed,
        delivered,
        late,
        replayed,
        lost,
        lost_own,
        outstanding,
        duplicate,
        reordered,
        leaked,
        unknown,
        settling,
        foreign,
        negative
    ]
);
const PROCESS: [Field<ProcessGauges>; 6] = fields!(
    "process.",
    ProcessGauges,
    [resident_bytes, open_files, open_files_limit, ports_used, ports_available, cpu_pressure_us]
);
const SHARD: [Field<Gauges>; 4] = fields!("", Gauges, [users, connections, cpu_ns, wait_ns]);

/// All rows of a second.
pub(super) fn rows(snapshot: &Snapshot, header: &Header) -> Vec<u8> {
    let mut rows = Rows { csv: csv::Writer::from_writer(Vec::new()), second: snapshot.second.to_string() };
    for (counter, name) in Counter::NAMED {
        rows.difference(name, snapshot.counters.get(counter));
    }
    for (operation, timings) in header.operations.iter().zip(&snapshot.operations) {
        rows.difference(&format!("operations.{}.failed", operation.name), timings.failed);
        rows.difference(&format!("operations.{}.unanswered", operation.name), timings.unanswered);
        for (code, count) in timings.answers.codes() {
            rows.difference(&format!("operations.{}.codes.{code}", operation.name), count);
        }
    }
    for (code, count) in &snapshot.codes {
        rows.difference(&format!("http.codes.{code}"), *count);
    }
    for failure in &snapshot.failures {
        rows.difference(&failure_name(failure, header), failure.count);
    }
    for (scenario, created) in header.scenarios.iter().zip(&snapshot.scenarios) {
        rows.difference(&format!("scenarios.{scenario}"), *created);
    }
    for (index, shard) in snapshot.shards.iter().enumerate() {
        let mut shard = *shard;
        for (name, field) in SHARD {
            rows.level(&format!("shard.{index}.{name}"), *field(&mut shard));
        }
    }
    let (mut process, mut ledger) = (snapshot.process, snapshot.ledger);
    for (name, field) in PROCESS {
        rows.level(name, *field(&mut process));
    }
    if header.tracked {
        for (name, field) in LEDGER {
            rows.level(name, *field(&mut ledger));
        }
    }
    rows.level("snapshot.interval_ns", snapshot.interval_ns);
    rows.level(COMMIT, snapshot.at.0);
    rows.csv.into_inner().unwrap_or_default()
}

struct Rows {
    csv: csv::Writer<Vec<u8>>,
    second: String,
}

impl Rows {
    fn difference(&mut self, series: &str, value: u64) {
        if value > 0 {
            self.level(series, value);
        }
    }

    fn level(&mut self, series: &str, value: impl ToString) {
        // Writing to memory cannot fail.
        let _ = self.csv.write_record([self.second.as_str(), series, &value.to_string()]);
    }
}

/// `errors.<code>.<operation>`; of one that has a name of its own `errors.<code>=<name>.<operation>`.
fn failure_name(failure: &FailureCount, header: &Header) -> String {
    let mut code = failure.failure.code().into_owned();
    if !failure.called.is_empty() {
        code.push('=');
        code.push_str(
            &ESCAPED.iter().fold(failure.called.clone(), |text, (c, escaped)| text.replace(*c, escaped)),
        );
    }
    match failure.operation.and_then(|id| header.operations.get(usize::from(id.0))) {
        Some(operation) => format!("errors.{code}.{}", operation.name),
        None => format!("errors.{code}"),
    }
}

/// Puts rows back into snapshots.
pub(super) struct Reader<'a> {
    header: &'a Header,
    operations: HashMap<&'a str, usize>,
    scenarios: HashMap<&'a str, usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(header: &'a Header) -> Reader<'a> {
        let operations = header.operations.iter().enumerate().map(|(i, o)| (o.name.as_str(), i)).collect();
        let scenarios = header.scenarios.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        Reader { header, operations, scenarios }
    }

    pub(super) fn blank(&self, second: u64) -> Snapshot {
        let mut snapshot = Snapshot { second, ..Snapshot::default() };
        snapshot.operations.resize_with(self.header.operations.len(), Timings::default);
        snapshot.scenarios.resize(self.header.scenarios.len(), 0);
        snapshot
    }

    /// Enters one row. Series that are not ours (probes, later versions) are left alone.
    pub(super) fn enter(&self, snapshot: &mut Snapshot, series: &str, value: &str) {
        match series {
            COMMIT => snapshot.at = At(value.parse().unwrap_or(0)),
            "snapshot.interval_ns" => snapshot.interval_ns = value.parse().unwrap_or(0),
            _ => {
                if let Ok(value) = value.parse() {
                    self.enter_count(snapshot, series, value);
                }
            }
        }
    }

    fn enter_count(&self, snapshot: &mut Snapshot, series: &str, value: u64) {
        if let Some((counter, _)) = Counter::NAMED.iter().find(|(_, name)| *name == series) {
            snapshot.counters.add(*counter, value);
            return;
        }
        if let Some((_, field)) = LEDGER.iter().find(|(name, _)| *name == series) {
            *field(&mut snapshot.ledger) = value;
            return;
        }
        if let Some((_, field)) = PROCESS.iter().find(|(name, _)| *name == series) {
            *field(&mut snapshot.process) = value;
            return;
        }
        let Some((family, rest)) = series.split_once('.') else { return };
        match family {
            "operations" => {
                let Some((name, count)) = rest.rsplit_once('.') else { return };
                let code = name.strip_suffix(".codes").zip(count.parse().ok());
                let known = self.operations.get(code.map_or(name, |(name, _)| name));
                let Some(timings) = known.map(|&id| &mut snapshot.operations[id]) else { return };
                match (count, code) {
                    ("failed", _) => timings.failed += value,
                    ("unanswered", _) => timings.unanswered += value,
                    (_, Some((_, code))) => timings.answers.count(code, value),
                    _ => {}
                }
            }
            "scenarios" => {
                let id = self.scenarios.get(rest);
                id.into_iter().for_each(|&id| snapshot.scenarios[id] += value);
            }
            "http" => {
                if let Some(Ok(code)) = rest.strip_prefix("codes.").map(str::parse) {
                    *snapshot.codes.entry(code).or_default() += value;
                }
            }
            "errors" => self.enter_failure(snapshot, rest, value),
            "shard" => enter_shard(snapshot, rest, value),
            _ => {}
        }
    }

    fn enter_failure(&self, snapshot: &mut Snapshot, rest: &str, count: u64) {
        let (code, name) = rest.split_once('.').map_or((rest, None), |(code, name)| (code, Some(name)));
        let (code, called) = code.split_once('=').unwrap_or((code, ""));
        let Some(failure) = Failure::from_code(code) else { return };
        let operation = name.and_then(|name| self.operation(name));
        let called =
            ESCAPED.iter().rev().fold(called.to_owned(), |text, (c, escaped)| text.replace(escaped, c));
        let failed = FailureCount { count, called, ..FailureCount::none(operation, failure) };
        merge_failure(&mut snapshot.failures, &failed);
    }

    pub(super) fn operation(&self, name: &str) -> Option<OperationId> {
        self.operations.get(name).map(|&id| OperationId(id as u16))
    }
}

fn enter_shard(snapshot: &mut Snapshot, rest: &str, value: u64) {
    /// More shards than any machine has cores: a damaged row must not claim memory.
    const SHARDS_MAX: usize = 4096;
    let Some((index, name)) = rest.split_once('.') else { return };
    let Some(index) = index.parse().ok().filter(|&index: &usize| index < SHARDS_MAX) else { return };
    if snapshot.shards.len() <= index {
        snapshot.shards.resize(index + 1, Gauges::default());
    }
    if let Some((_, field)) = SHARD.iter().find(|(known, _)| *known == name) {
        *field(&mut snapshot.shards[index]) = value;
    }
}
