//! One row a sample: a column for each system tag the test wants, all other tags in one.

use super::{Into, Samples};
use crate::metrics::{MetricId, Registry, SystemTags};
use sonagi_engine::Sink;
use sonagi_measure::metrics::AutomaticTag;
use std::io;
use std::sync::Arc;

pub(super) struct Rows {
    rows: csv::Writer<Into>,
    registry: Arc<Registry>,
    names: Vec<Option<Arc<str>>>,
    /// In the order of their names.
    columns: Vec<&'static str>,
    started: i128,
    time: fn(i128) -> String,
}

impl Rows {
    pub(super) fn new(
        into: Into,
        registry: Arc<Registry>,
        tags: SystemTags,
        started: i128,
        time: fn(i128) -> String,
    ) -> io::Result<Rows> {
        let mut columns: Vec<&'static str> =
            tags.iter().filter(|tag| !tag.is_metadata()).map(AutomaticTag::name).collect();
        columns.sort_unstable();
        let mut rows = csv::Writer::from_writer(into);
        let head = ["metric_name", "timestamp", "metric_value"].into_iter().chain(columns.iter().copied());
        rows.write_record(head.chain(["extra_tags", "metadata"]))?;
        Ok(Rows { rows, registry, names: Vec::new(), columns, started, time })
    }

    fn name(&mut self, id: MetricId) -> Arc<str> {
        if self.names.len() <= id.index() {
            self.names.resize(id.index() + 1, None);
        }
        self.names[id.index()].get_or_insert_with(|| self.registry.metric(id).name).clone()
    }
}

impl Sink<Samples> for Rows {
    fn write(&mut self, samples: Samples) -> io::Result<()> {
        for sample in &*samples {
            let name = self.name(sample.metric);
            let Rows { rows, columns, .. } = self;
            rows.write_field(&*name)?;
            rows.write_field((self.time)(self.started + i128::from(sample.at.0)))?;
            rows.write_field(format!("{:.6}", sample.value))?;
            for column in &*columns {
                rows.write_field(sample.tags.get(column).unwrap_or_default())?;
            }
            let others = sample.tags.iter().filter(|(name, _)| !columns.contains(name));
            rows.write_field(joined(others))?;
            let beside = sample.metadata.iter().flat_map(|metadata| &metadata.0);
            rows.write_field(joined(beside.map(|(name, value)| (name.as_str(), value.as_str()))))?;
            rows.write_record(None::<&[u8]>)?;
        }
        self.rows.flush()
    }

    fn finish(self) -> io::Result<()> {
        let into = self.rows.into_inner().map_err(|error| io::Error::other(error.error().to_string()))?;
        into.finish()
    }
}

fn joined<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        if !text.is_empty() {
            text.push('&');
        }
        text += name;
        text.push('=');
        text += value;
    }
    text
}
