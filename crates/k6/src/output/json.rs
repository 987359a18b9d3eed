//! One JSON object a line: a metric when its first sample comes, and every sample.

use super::{Into, Samples, rfc3339};
use crate::json;
use crate::metrics::{
    Limit, Metadata, MetricId, MetricStore, Registry, Submetric, SystemTag, SystemTags, TagSet, Target,
    builtin, contains,
};
use crate::options::span::written;
use serde_json::{Value, json};
use sonagi_engine::Sink;
use std::io::{self, Write};
use std::sync::Arc;

pub(super) struct Lines {
    into: Into,
    registry: Arc<Registry>,
    /// Metric, expression.
    thresholds: Vec<(MetricId, Value)>,
    tags: SystemTags,
    started: i128,
    /// By metric: its name as JSON, once it was told.
    told: Vec<Option<String>>,
    /// The last sample's tags and their text: the samples of a request have the same.
    last: Option<(Arc<TagSet>, String)>,
}

impl Lines {
    pub(super) fn new(into: Into, store: &MetricStore, tags: SystemTags, started: i128) -> Lines {
        let thresholds = store.limits().iter().filter_map(on_whole_metric).collect();
        Lines {
            into,
            registry: store.registry().clone(),
            thresholds,
            tags,
            started,
            told: Vec::new(),
            last: None,
        }
    }

    /// Writes what a metric is, the first time it is seen.
    fn tell(&mut self, id: MetricId) -> io::Result<()> {
        if self.told.len() <= id.index() {
            self.told.resize(id.index() + 1, None);
        }
        if self.told[id.index()].is_some() {
            return Ok(());
        }
        let metric = self.registry.metric(id);
        let thresholds: Vec<&Value> =
            self.thresholds.iter().filter(|(of, _)| *of == id).map(|(_, told)| told).collect();
        let mut parts: Vec<Submetric> = self.registry.submetrics();
        // The one no threshold asked for comes last, and only when its samples can have the tag.
        let unasked = |one: &Submetric| *one.name == *builtin::EXPECTED_DURATION;
        parts.retain(|one| one.parent == id && (self.tags.has(SystemTag::ExpectedResponse) || !unasked(one)));
        parts.sort_by_key(unasked);
        let told = |one: &Submetric| {
            let tags = one.tags.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            json!({ "name": &*one.name, "suffix": &*one.suffix, "tags": object(tags) })
        };
        let parts: Vec<Value> = parts.iter().map(told).collect();
        let line = json!({
            "type": "Metric",
            "data": {
                "name": &*metric.name,
                "type": metric.kind.name(),
                "contains": contains(metric.unit),
                "thresholds": thresholds,
                "submetrics": if parts.is_empty() { Value::Null } else { Value::Array(parts) },
            },
            "metric": &*metric.name,
        });
        self.told[id.index()] = Some(line["metric"].to_string());
        writeln!(self.into, "{line}")
    }
}

impl Sink<Samples> for Lines {
    fn write(&mut self, samples: Samples) -> io::Result<()> {
        for sample in &*samples {
            self.tell(sample.metric)?;
            let name = self.told[sample.metric.index()].as_deref().unwrap_or_default();
            if self.last.as_ref().is_none_or(|(set, _)| !Arc::ptr_eq(set, &sample.tags)) {
                self.last = Some((sample.tags.clone(), object(sample.tags.iter()).to_string()));
            }
            let tags = self.last.as_ref().map_or("{}", |(_, text)| text);
            let time = rfc3339(self.started + i128::from(sample.at.0), true);
            let value = json::value(sample.value);
            write!(
                self.into,
                r#"{{"metric":{name},"type":"Point","data":{{"time":"{time}","value":{value},"tags":{tags}"#
            )?;
            if let Some(metadata) = sample.metadata.as_deref().filter(|metadata| !metadata.0.is_empty()) {
                write!(self.into, r#","metadata":{}"#, beside(metadata))?;
            }
            self.into.write_all(b"}}\n")?;
        }
        self.into.flush()
    }

    fn finish(self) -> io::Result<()> {
        self.into.finish()
    }
}

/// A threshold on a whole metric, as k6 writes it: an object where it may end the test.
fn on_whole_metric(limit: &Limit) -> Option<(MetricId, Value)> {
    let Target::Metric(id) = limit.target else { return None };
    if !limit.abort.on_fail {
        return Some((id, Value::from(limit.source.as_str())));
    }
    let delay = Some(limit.abort.delay).filter(|delay| !delay.is_zero()).map(written);
    Some((id, json!({ "threshold": limit.source, "abortOnFail": true, "delayAbortEval": delay })))
}

fn beside(metadata: &Metadata) -> Value {
    let mut pairs: Vec<(&str, &str)> =
        metadata.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    pairs.sort_unstable();
    object(pairs.into_iter())
}

fn object<'p>(pairs: impl Iterator<Item = (&'p str, &'p str)>) -> Value {
    Value::Object(pairs.map(|(name, value)| (name.to_owned(), Value::from(value))).collect())
}
