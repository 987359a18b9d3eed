//! Runs made of a few series.

use crate::diagnosis::{Diagnosis, diagnose};
use crate::korean::korean;
use crate::timeline::Timeline;
use serde_json::{Value as Json, json};
use sonagi_measure::frame::{Buckets, Frame, Name, Value};
use sonagi_measure::ledger::Counts;
use sonagi_measure::metrics::{Kind, MetricStore, TagSet};
use sonagi_measure::outcome::OperationKind;
use sonagi_measure::summary::{Delivery, ErrorSummary, OperationSummary, Quantiles, Summary};
use sonagi_measure::totals::{Header, Totals};

/// A run under construction.
pub(crate) struct Made {
    frames: Vec<Frame>,
    series: u32,
    events: Vec<Json>,
    /// What it came to.
    pub(crate) summary: Summary,
}

impl Made {
    /// A run of this many seconds.
    pub(crate) fn of(seconds: u64) -> Made {
        let frame = |s| Frame { s, at: s as f64 + 1.0, span: 1.0, ..Frame::default() };
        let mut totals = Totals::new(&Header::default(), Default::default(), MetricStore::default());
        Made {
            frames: (0..seconds).map(frame).collect(),
            series: 0,
            events: Vec::new(),
            summary: totals.summary(),
        }
    }

    fn add(
        mut self,
        metric: &str,
        tags: &[(&str, &str)],
        kind: Kind,
        of: impl Fn(u32) -> Option<Value>,
    ) -> Made {
        let name =
            Name { metric: metric.to_owned(), kind, unit: "number", tags: TagSet::of(tags), about: None };
        self.frames[0].names.push((self.series, name));
        for (second, frame) in (0..).zip(&mut self.frames) {
            if let Some(value) = of(second) {
                frame.values.insert(self.series, value);
            }
        }
        self.series += 1;
        self
    }

    /// A gauge.
    pub(crate) fn gauge(self, metric: &str, of: impl Fn(u32) -> f64) -> Made {
        self.tagged_gauge(metric, &[], of)
    }

    /// A gauge of a series with tags.
    pub(crate) fn tagged_gauge(self, metric: &str, tags: &[(&str, &str)], of: impl Fn(u32) -> f64) -> Made {
        self.add(metric, tags, Kind::Gauge, |second| {
            let level = of(second);
            Some(Value::Gauge(level, level, level))
        })
    }

    /// A counter's increases.
    pub(crate) fn count(self, metric: &str, of: impl Fn(u32) -> f64) -> Made {
        self.tagged_count(metric, &[], of)
    }

    /// A counter that was read each second and never grew.
    pub(crate) fn never(self, metric: &str) -> Made {
        self.add(metric, &[], Kind::Counter, |_| Some(Value::Counter(0.0)))
    }

    /// A counter's increases, of a series with tags.
    pub(crate) fn tagged_count(self, metric: &str, tags: &[(&str, &str)], of: impl Fn(u32) -> f64) -> Made {
        self.add(metric, tags, Kind::Counter, |second| {
            Some(Value::Counter(of(second))).filter(|_| of(second) > 0.0)
        })
    }

    /// Twenty answers a second that take this long (ms).
    pub(crate) fn latency(self, of: impl Fn(u32) -> f64) -> Made {
        self.trend("response_time", of)
    }

    /// Twenty values a second of a trend.
    pub(crate) fn trend(self, metric: &str, of: impl Fn(u32) -> f64) -> Made {
        self.add(metric, &[], Kind::Trend, |second| {
            let mut buckets = Buckets::default();
            buckets.add(of(second), 20);
            Some(Value::Trend(buckets))
        })
    }

    /// So many polls in all, nearly all of which were answered within so long (ms).
    pub(crate) fn polls(mut self, count: u64, p95: f64) -> Made {
        let response_ms = Quantiles { count, p95, ..Quantiles::default() };
        let kind = OperationKind::Poll;
        self.summary.kinds.push(operation(kind.name(), kind, response_ms));
        self
    }

    /// An operation that connects, each second in these times (ms), each with how often.
    pub(crate) fn connects(mut self, times: &[(f64, u64)]) -> Made {
        let all: Vec<f64> = times.iter().flat_map(|(ms, often)| vec![*ms; *often as usize]).collect();
        let p99 = all.iter().copied().fold(0.0, f64::max);
        let response_ms = Quantiles { count: all.len() as u64, p99, ..Quantiles::default() };
        let kind = OperationKind::SocketioConnect;
        self.summary.operations.push(operation("connect", kind, response_ms.clone()));
        self.summary.kinds.push(operation(kind.name(), kind, response_ms));
        let tags = [("operation", "connect")];
        let trend = |_| {
            let mut buckets = Buckets::default();
            times.iter().for_each(|(ms, often)| buckets.add(*ms, *often));
            Some(Value::Trend(buckets))
        };
        self.add("service_time", &tags, Kind::Trend, trend).add("response_time", &tags, Kind::Trend, trend)
    }

    /// Twenty deliveries a second, of which two take this long (ms) and the others one.
    pub(crate) fn delivered(self, slowest: f64) -> Made {
        self.add("delivery.latency", &[], Kind::Trend, |_| {
            let mut buckets = Buckets::default();
            buckets.add(1.0, 18);
            buckets.add(slowest, 2);
            Some(Value::Trend(buckets))
        })
    }

    /// What the ledger came to.
    pub(crate) fn delivery(mut self, counts: Counts) -> Made {
        self.summary.delivery = Some(Delivery { counts, ..Delivery::default() });
        self
    }

    /// A kind of failure.
    pub(crate) fn error(mut self, code: &str, count: u64, first_at_s: f64) -> Made {
        let (called, operation, example) = (String::new(), None, String::new());
        self.summary.errors.push(ErrorSummary {
            code: code.to_owned(),
            called,
            operation,
            count,
            first_at_s,
            example,
        });
        self
    }

    /// Something that happened to the target, as run folders have it.
    pub(crate) fn happened(mut self, second: i64, text: &str) -> Made {
        let detail = json!({ "subject": "port 3000", "text": text, "hint": null });
        self.events.push(json!({ "at_ns": second * 1_000_000_000, "kind": "target", "detail": detail }));
        self
    }

    /// The diagnosis of it.
    pub(crate) fn diagnosis(self) -> Diagnosis {
        let diagnosis = diagnose(&Timeline::of(self.frames), &self.summary, &self.events);
        for sentence in sentences(&diagnosis) {
            assert!(korean(sentence).is_some(), "crates/verdict/src/korean has no `{sentence}`");
        }
        diagnosis
    }

    /// The first finding's rule; none: nothing was found.
    #[track_caller]
    pub(crate) fn cause(self) -> Option<&'static str> {
        let found = self.diagnosis();
        assert!(!found.story.is_calm(), "users must have noticed something");
        found.findings.first().map(|finding| finding.id)
    }
}

/// All that a diagnosis says.
fn sentences(diagnosis: &Diagnosis) -> impl Iterator<Item = &str> {
    let symptoms = diagnosis.story.symptoms.iter().map(|symptom| symptom.text.as_str());
    let ruled_out = diagnosis.ruled_out.iter().map(|rule| rule.why.as_str());
    let changed = diagnosis.changed.iter().map(|change| change.text.as_str());
    let findings = diagnosis.findings.iter().flat_map(|finding| {
        let evidence = finding.evidence.iter().map(|evidence| evidence.text.as_str());
        let remedies = finding.remedies.iter().map(|remedy| remedy.text.as_str());
        evidence.chain(remedies).chain([finding.title.as_str()])
    });
    let doubts = diagnosis.doubts.iter().map(|doubt| doubt.text.as_str());
    symptoms.chain(ruled_out).chain(changed).chain(findings).chain(doubts)
}

/// An operation that took these times, once a second, and never failed.
fn operation(name: &str, kind: OperationKind, response_ms: Quantiles) -> OperationSummary {
    OperationSummary {
        name: name.to_owned(),
        kind,
        count: response_ms.count,
        failed: 0,
        rate_per_s: 1.0,
        service_ms: response_ms.clone(),
        response_ms,
        first_byte_ms: None,
    }
}
