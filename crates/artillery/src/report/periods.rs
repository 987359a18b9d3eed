//! Artillery's report in JSON: `aggregate`, and `intermediate` for every ten seconds of the clock.
//!
//! Dashboards read `counters`, `rates` and `summaries` by name; `histograms` are the summaries once more, as there. Two
//! decisions a reader would question. The aggregate is the run's own summary, not an average of the periods: its rates
//! are counts over the run's length. And a second belongs to the period it began in: the record is by whole seconds.

use serde_json::{Map, Number, Value, json};
use sonagi_measure::metrics::Kind;
use sonagi_measure::summary::{Quantiles, Summary};
use sonagi_measure::totals::{Header, Period, Snapshot};
use std::collections::BTreeMap;

use crate::names::{Metrics, figures_of};

/// Length of a period.
const PERIOD_MS: u64 = 10_000;

/// Follows a run, and tells it as Artillery does.
#[derive(Default)]
pub struct Periods {
    /// When the run's clock was zero, in milliseconds since 1970.
    started_ms: u64,
    header: Header,
    now: Option<(u64, Period, Span)>,
    over: Vec<Value>,
    whole: Span,
}

/// When metrics came, in milliseconds since 1970, to a second.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    counters: Option<(u64, u64)>,
    histograms: Option<(u64, u64)>,
}

impl Periods {
    /// The run begins.
    pub fn began(&mut self, header: &Header) {
        self.started_ms = header.started_ms();
        self.header = header.clone();
    }

    /// A second of the run is over.
    pub fn second(&mut self, snapshot: &Snapshot) {
        let ms = |ns: i64| ns.max(0) as u64 / 1_000_000;
        let (begin, end) = (ms(snapshot.at.0 - snapshot.interval_ns), ms(snapshot.at.0));
        let period = self.period_of(begin);
        if self.now.as_ref().is_some_and(|(current, ..)| *current != period) {
            self.close();
        }
        let seen = Span::of(snapshot, self.started_ms + begin, self.started_ms + end);
        self.whole.add(seen);
        let (.., now, span) =
            self.now.get_or_insert_with(|| (period, Period::new(&self.header), Span::default()));
        now.absorb(snapshot);
        span.add(seen);
    }

    /// The report once the run is over, or as far as it got. Beside Artillery's own it has the whole summary in our
    /// words, `sonagi`: that says whether the run was complete, interrupted or invalid.
    pub fn document(mut self, run: &Summary) -> Value {
        self.close();
        let last = self.over.iter().filter_map(|period| period["period"].as_str()?.parse::<u64>().ok()).max();
        let mut aggregate = metrics(&Metrics::of(run), self.whole);
        aggregate.insert("period".to_owned(), json!(last.unwrap_or(self.period_of(0))));
        json!({ "aggregate": aggregate, "intermediate": self.over, "sonagi": run })
    }

    /// The beginning of the period an instant of the run falls in.
    fn period_of(&self, ms: u64) -> u64 {
        let at = self.started_ms + ms;
        at - at % PERIOD_MS
    }

    fn close(&mut self) {
        let Some((begin, mut period, span)) = self.now.take() else { return };
        // Nothing happened: Artillery has no such periods.
        if span.counters.is_none() && span.histograms.is_none() {
            return;
        }
        let mut told = metrics(&Metrics::of(&period.summary()), span);
        // A text here and a number in the aggregate, as there.
        told.insert("period".to_owned(), json!(begin.to_string()));
        self.over.push(Value::Object(told));
    }
}

impl Span {
    fn of(snapshot: &Snapshot, begin: u64, end: u64) -> Span {
        let counted = snapshot.counters != Default::default()
            || !snapshot.failures.is_empty()
            || !snapshot.metrics.is_empty();
        let timed = !snapshot.sessions.is_empty()
            || snapshot.operations.iter().any(|operation| operation.response.is_some())
            || snapshot.metrics.series.iter().any(|one| one.series.of.kind == Kind::Trend);
        Span { counters: counted.then_some((begin, end)), histograms: timed.then_some((begin, end)) }
    }

    fn add(&mut self, later: Span) {
        let join = |mine: &mut Option<(u64, u64)>, theirs: Option<(u64, u64)>| {
            *mine = mine.zip(theirs).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).or(*mine).or(theirs);
        };
        join(&mut self.counters, later.counters);
        join(&mut self.histograms, later.histograms);
    }

    fn tell(self, told: &mut Map<String, Value>) {
        let both = [self.counters, self.histograms].into_iter().flatten();
        let any = both.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        for (name, span) in [("Counter", self.counters), ("Histogram", self.histograms), ("Metric", any)] {
            if let Some((first, last)) = span {
                told.insert(format!("first{name}At"), json!(first));
                told.insert(format!("last{name}At"), json!(last));
            }
        }
    }
}

fn metrics(metrics: &Metrics, mut span: Span) -> Map<String, Value> {
    let numbers = |all: &BTreeMap<String, f64>| -> Map<String, Value> {
        all.iter().map(|(name, value)| (name.clone(), number(*value))).collect()
    };
    let summaries: Map<String, Value> =
        metrics.summaries.iter().map(|(name, values)| (name.clone(), summary(values))).collect();
    if summaries.is_empty() {
        // What was timed has no name in Artillery's report: a function, say.
        span.histograms = None;
    }
    let mut told = Map::new();
    told.insert("counters".to_owned(), numbers(&metrics.counters).into());
    let rates = metrics.rates.iter().map(|(name, rate)| (name.clone(), (rate * 10.0).round() / 10.0));
    told.insert("rates".to_owned(), numbers(&rates.collect()).into());
    span.tell(&mut told);
    told.insert("summaries".to_owned(), summaries.clone().into());
    told.insert("histograms".to_owned(), summaries.into());
    told
}

fn summary(values: &Quantiles) -> Value {
    Value::Object(
        figures_of(values).map(|(name, value)| (name.to_owned(), number(value))).into_iter().collect(),
    )
}

/// Whole numbers without a point: not every reader takes `10.0` for a count.
fn number(value: f64) -> Value {
    let whole = value.fract() == 0.0 && value.abs() < 9e15;
    if whole { Value::from(value as i64) } else { Number::from_f64(value).map_or(Value::Null, Value::Number) }
}
