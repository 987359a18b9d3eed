//! The test's books: the ledger, the generator's health, and the seconds of its run folder.
//!
//! What shards record beside their samples is merged here as a run of the engine is, by the same code: `measure::totals`. What
//! the ledger judges goes back into the samples, so that thresholds, the summary and every output know of it.

use serde_json::Value;
use sonagi_engine::health;
use sonagi_engine::seconds::Seconds;
use sonagi_measure::At;
use sonagi_measure::ledger::{Arrival, Counts};
use sonagi_measure::outcome::Operation;
use sonagi_measure::recorder::Record;
use sonagi_measure::summary::{FailOnStatus, Summary};
use sonagi_measure::totals::{Follow, Header, Snapshot, Totals};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::shard::SECOND_NS;
use super::{Test, traffic};
use crate::metrics::delivery::{ALWAYS, LATENCY, RATIO, counters};
use crate::metrics::{Interval, MetricId, MetricStore, Registry, Sampler, Tags};
use crate::shard::OPERATIONS;

/// The collector's.
pub(super) struct Books {
    totals: Totals,
    seconds: Seconds,
    registry: Arc<Registry>,
    /// None: the script has nothing to do with the ledger.
    delivery: Option<Delivery>,
    sources: usize,
}

/// The ledger as metrics.
struct Delivery {
    sampler: Sampler,
    tags: Tags,
    ratio: MetricId,
    latency: MetricId,
    /// By name, with how much of each has been told.
    counters: Vec<(MetricId, u64)>,
}

impl Books {
    /// Empty ones, and what heads them; `store` knows the thresholds.
    pub(super) fn new(test: &Test, store: MetricStore) -> (Books, Header) {
        let registry = &test.common.registry;
        let find = |name: &str| registry.get(name);
        let sampler = test.common.sampler(test.detail(), !test.asked.outputs.is_empty());
        let tags = &test.common.options.tags;
        let tags = tags.iter().fold(sampler.tags(), |tags, (name, value)| tags.with(name, value));
        let named: Option<Vec<MetricId>> =
            counters(&Counts::default()).iter().map(|(name, _)| find(name)).collect();
        let delivery = find(RATIO).zip(find(LATENCY)).zip(named).map(|((ratio, latency), named)| {
            let counters = named.into_iter().map(|id| (id, 0)).collect();
            Delivery { sampler, tags, ratio, latency, counters }
        });
        let submetrics = registry.submetrics().iter().map(|one| one.name.to_string()).collect();
        let objective_ms = store.objective_ms();
        let header = Header { submetrics, objective_ms, ..header(test, delivery.is_some()) };
        let books = Books {
            totals: Totals::new(&header, test.common.options.sonagi.delivery, store),
            registry: Arc::clone(registry),
            seconds: Seconds::new(test.plan.shards, Vec::new()),
            delivery,
            sources: test.common.net(1, 1).source_addresses.len(),
        };
        (books, header)
    }

    pub(super) fn take(&mut self, second: u64, mut record: Record) {
        traffic::count(&record.metrics, &self.registry, &mut record.counters);
        self.seconds.take(second, record);
    }

    /// The last record of a shard, or what `setup` or `teardown` came to: it goes with the next second.
    pub(super) fn end(&mut self, mut record: Record) {
        traffic::count(&record.metrics, &self.registry, &mut record.counters);
        self.seconds.end(record);
    }

    /// Samples of what is no shard's: they go with the next second.
    pub(super) fn observe(&mut self, metrics: Interval) {
        if !metrics.is_empty() {
            self.end(Record { metrics, ..Record::default() });
        }
    }

    /// The next second that all shards have delivered.
    pub(super) fn whole(&mut self) -> Option<Snapshot> {
        let (second, records) = self.seconds.whole()?;
        Some(self.absorb(records, At(second as i64 * SECOND_NS)))
    }

    /// All that is left.
    pub(super) fn rest(&mut self, now: At) -> Snapshot {
        let records = self.seconds.rest();
        self.absorb(records, now)
    }

    /// What was measured where no second is to follow; None: nothing was.
    pub(super) fn late(&mut self, now: At) -> Option<Snapshot> {
        let records = self.seconds.rest();
        (!records.is_empty()).then(|| self.absorb(records, now))
    }

    fn absorb(&mut self, records: Vec<Record>, at: At) -> Snapshot {
        let process = health::process(self.sources);
        match &mut self.delivery {
            Some(delivery) => self.totals.absorb_following(records, at, process, delivery),
            None => self.totals.absorb(records, at, process),
        }
    }

    /// The test is over: what has not come is lost.
    pub(super) fn close(&mut self, now: At) -> Snapshot {
        match &mut self.delivery {
            Some(delivery) => self.totals.close_following(now, delivery),
            None => self.totals.close(now),
        }
    }

    /// The test's metrics so far, with their thresholds.
    pub(super) fn metrics(&mut self) -> &mut MetricStore {
        self.totals.metrics()
    }

    /// Marks the run as ended before its time.
    pub(super) fn interrupt(&mut self) {
        self.totals.interrupt();
    }

    pub(super) fn summary(&self) -> Summary {
        self.totals.summary()
    }
}

impl Follow for Delivery {
    fn arrived(&mut self, arrival: Arrival) {
        let Delivery { sampler, tags, ratio, latency, .. } = self;
        sampler.observe(*ratio, 1.0, tags, arrival.at);
        if !arrival.replayed {
            sampler.observe(*latency, arrival.latency_ns.max(0) as f64 / 1e6, tags, arrival.at);
        }
    }

    /// Samples of what was counted since the last time.
    fn counted(&mut self, counts: &Counts, at: At) -> Interval {
        for ((id, told), (_, count)) in self.counters.iter_mut().zip(counters(counts)) {
            if count > *told {
                self.sampler.observe(*id, (count - *told) as f64, &self.tags, at);
                *told = count;
            }
        }
        self.sampler.take()
    }

    /// What was lost, and of what nothing happened and is worth saying so.
    fn closed(&mut self, counts: &Counts, at: At) {
        for _ in 0..counts.lost {
            self.sampler.observe(self.ratio, 0.0, &self.tags, at);
        }
        if counts.messages > 0 {
            for ((id, told), (name, count)) in self.counters.iter().zip(counters(counts)) {
                if *told == 0 && count == 0 && ALWAYS.contains(&name) {
                    self.sampler.observe(*id, 0.0, &self.tags, at);
                }
            }
        }
    }
}

fn header(test: &Test, tracked: bool) -> Header {
    let options = &test.common.options;
    let script = &test.asked.script;
    let name = script.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let started = jiff::Timestamp::try_from(test.started).unwrap_or_default();
    let operation = |(name, kind): (&str, _)| Operation { name: name.to_owned(), kind };
    Header {
        name,
        started: format!("{started:.0}"),
        target: script.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: 0,
        shards: test.plan.shards,
        scenarios: options.scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
        operations: OPERATIONS.map(operation).to_vec(),
        plan: Value::clone(&options.json),
        environment: health::environment(),
        deadline_ms: options.sonagi.delivery.deadline_ns as f64 / 1e6,
        tracked,
        cores: health::cores(),
        // k6's own exit codes say nothing of statuses; where all failed, a line of the log does.
        fail_on_status: FailOnStatus::Never,
        ..Header::default()
    }
}

impl Test {
    /// Stamps that were drawn.
    pub(super) fn drawn(&self) -> u64 {
        self.common.delivery.drawn.load(Ordering::Relaxed)
    }
}
