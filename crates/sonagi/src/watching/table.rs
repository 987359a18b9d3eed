//! What is seen, on a terminal: a row a series, the one that matters most on top; without a terminal a line a second.

use sonagi_measure::metrics::{Kind, TagSet, Unit};
use sonagi_report::figures::{bytes, count, figure, milliseconds, percent};
use sonagi_watch::{Measured, Second};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Metrics that are shown, in this order, each with the metric that limits it.
const ROWS: &[(&str, Option<&str>)] = &[
    ("target.processes", None),
    ("target.cpu", None),
    ("target.cpu.main_thread", None),
    ("target.throttled", None),
    ("target.memory", Some("target.cgroup.memory.limit")),
    ("target.open_files", Some("target.open_files.limit")),
    ("target.accept_queue", None),
    ("target.connections", None),
    ("runtime.loop_utilisation", None),
    ("runtime.loop_lag", None),
    ("runtime.gc", None),
    ("runtime.heap", Some("runtime.heap.limit")),
    ("pool.active", Some("pool.max")),
    ("pool.waiting", None),
    ("postgres.active", None),
    ("postgres.blocked", None),
    ("postgres.connections", Some("postgres.connections.limit")),
    ("redis.cpu", None),
    ("redis.clients", Some("redis.clients.limit")),
    ("nginx.connections", None),
    ("host.cpu", None),
    ("host.memory.available", Some("host.memory")),
];
/// Rows of a metric with tags.
const PARTS_MAX: usize = 4;
/// A level that was not measured for so many seconds is none.
const STALE_AFTER: u64 = 10;

#[derive(Clone, Copy, Debug)]
struct Level {
    now: f64,
    most: f64,
    unit: Unit,
    second: u64,
}

/// The levels of all series so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    levels: BTreeMap<String, BTreeMap<TagSet, Level>>,
    second: u64,
}

impl Table {
    /// Takes a second into account.
    pub(crate) fn take(&mut self, second: &Second) {
        self.second = second.number;
        for Measured { metric, kind, unit, tags, value } in &second.values {
            if *kind != Kind::Gauge {
                continue;
            }
            let parts = self.levels.entry(metric.clone()).or_default();
            let most = parts.get(tags).map_or(*value, |level| level.most.max(*value));
            parts.insert(tags.clone(), Level { now: *value, most, unit: *unit, second: second.number });
        }
        let now = self.second;
        for parts in self.levels.values_mut() {
            parts.retain(|_, level| now - level.second < STALE_AFTER);
        }
    }

    /// As a table of lines of this width at most.
    pub(crate) fn text(&self, columns: usize) -> String {
        let mut text =
            format!("{}\n", cut(&format!("{:<27} {:>10} {:>10}  of", self.clock(), "now", "most"), columns));
        for row in self.rows() {
            let of = row.limit.map(|limit| shown(limit, row.level.unit)).unwrap_or_default();
            let (now, most) = (shown(row.level.now, row.level.unit), shown(row.level.most, row.level.unit));
            let line = format!("{:<27} {now:>10} {most:>10}  {of}", row.name);
            let _ = writeln!(text, "{}", cut(line.trim_end(), columns));
        }
        text
    }

    /// As one line.
    pub(crate) fn line(&self) -> String {
        let rows = self.rows().map(|row| {
            let of =
                row.limit.map(|limit| format!(" of {}", shown(limit, row.level.unit))).unwrap_or_default();
            format!("{} {}{of}", row.name, shown(row.level.now, row.level.unit))
        });
        let rows: Vec<String> = rows.collect();
        let said = if rows.is_empty() { "nothing measured".to_owned() } else { rows.join(" · ") };
        format!("{}  {said}\n", self.clock())
    }

    fn clock(&self) -> String {
        format!("{}:{:02}", self.second / 60, self.second % 60)
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        ROWS.iter().flat_map(move |(metric, limit)| {
            let parts = self.levels.get(*metric);
            let is_one = parts.is_some_and(|parts| parts.len() == 1);
            parts.into_iter().flatten().take(PARTS_MAX).map(move |(tags, level)| Row {
                name: if is_one { (*metric).to_owned() } else { named(metric, tags) },
                level: *level,
                limit: limit.and_then(|limit| Some(self.levels.get(limit)?.get(tags)?.now)),
            })
        })
    }
}

struct Row {
    name: String,
    level: Level,
    limit: Option<f64>,
}

fn named(metric: &str, tags: &TagSet) -> String {
    let tags: Vec<&str> = tags.iter().map(|(_, value)| value).collect();
    let named = format!("{metric} {}", tags.join(" "));
    named.trim_end().chars().filter(|letter| !letter.is_control()).collect()
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => percent(value),
        Unit::Milliseconds => milliseconds(value),
        Unit::Bytes => bytes(value.max(0.0) as u64),
        // A count has no fraction; what is between two of them is a mean, or a part of a core.
        Unit::Number | Unit::Events if value.fract() == 0.0 && value >= 0.0 => count(value as u64),
        Unit::Number | Unit::Events => figure(value),
    }
}

fn cut(line: &str, columns: usize) -> String {
    line.chars().take(columns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64, values: &[(&str, Unit, f64)]) -> Second {
        let measured = |(metric, unit, value): &(&str, Unit, f64)| Measured {
            metric: (*metric).to_owned(),
            kind: Kind::Gauge,
            unit: *unit,
            tags: TagSet::default(),
            value: *value,
        };
        Second { number, values: values.iter().map(measured).collect(), notes: Vec::new() }
    }

    #[test]
    fn a_level_stands_beside_its_greatest_and_its_limit() {
        let mut table = Table::default();
        table.take(&second(1, &[("host.cpu", Unit::Share, 0.5), ("target.open_files", Unit::Number, 90.0)]));
        let limit = ("target.open_files.limit", Unit::Number, 1024.0);
        table.take(&second(2, &[("target.open_files", Unit::Number, 12.0), limit]));
        assert_eq!(table.line(), "0:02  target.open_files 12 of 1,024 · host.cpu 50.0 %\n");
        let text = table.text(80);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["0:02", "now", "most", "of"]);
        assert_eq!(rows[1], ["target.open_files", "12", "90", "1,024"]);
        assert!(table.text(20).lines().all(|line| line.chars().count() <= 20));
    }

    #[test]
    fn figures_are_those_of_summaries() {
        let mut table = Table::default();
        table.take(&second(
            1,
            &[
                ("target.memory", Unit::Bytes, 38_400_000.0),
                ("target.cgroup.memory.limit", Unit::Bytes, 2e9),
                ("target.cpu", Unit::Number, 0.418),
                ("target.throttled", Unit::Share, 0.25),
                ("runtime.loop_lag", Unit::Milliseconds, 1_204.4),
                ("runtime.gc", Unit::Share, 0.0),
            ],
        ));
        let expected = "0:01  target.cpu 0.42 · target.throttled 25.0 % · target.memory 38.4 MB of 2.00 GB · \
                        runtime.loop_lag 1,204 ms · runtime.gc 0 %\n";
        assert_eq!(table.line(), expected);
    }

    #[test]
    fn what_is_not_measured_any_more_is_not_shown() {
        let mut table = Table::default();
        table.take(&second(1, &[("host.cpu", Unit::Share, 0.5)]));
        table.take(&second(10, &[]));
        assert_eq!(table.line(), "0:10  host.cpu 50.0 %\n");
        table.take(&second(11, &[]));
        assert_eq!(table.line(), "0:11  nothing measured\n");
    }
}
