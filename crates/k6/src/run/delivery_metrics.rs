//! The ledger as k6 metrics: thresholds, the summary and every output read its judgement as samples.

use sonagi_measure::At;
use sonagi_measure::ledger::{Arrival, Counts};

use super::Test;
use crate::metrics::delivery::{ALWAYS, LATENCY, RATIO, counters};
use crate::metrics::{Detail, Interval, MetricId, Sampler, Tags};

/// The ledger as metrics.
pub(super) struct Delivery {
    sampler: Sampler,
    tags: Tags,
    ratio: MetricId,
    latency: MetricId,
    /// By name, with how much of each has been told.
    counters: Vec<(MetricId, u64)>,
}

impl Delivery {
    /// None: the script has nothing to do with the ledger.
    pub(super) fn of(test: &Test, measured: (Detail, bool)) -> Option<Delivery> {
        let registry = &test.common.registry;
        let find = |name: &str| registry.get(name);
        let sampler = test.common.sampler(measured);
        let tags = &test.common.options.tags;
        let tags = tags.iter().fold(sampler.tags(), |tags, (name, value)| tags.with(name, value));
        let named: Option<Vec<MetricId>> =
            counters(&Counts::default()).iter().map(|(name, _)| find(name)).collect();
        find(RATIO).zip(find(LATENCY)).zip(named).map(|((ratio, latency), named)| {
            let counters = named.into_iter().map(|id| (id, 0)).collect();
            Delivery { sampler, tags, ratio, latency, counters }
        })
    }

    /// The first copy of an owed message.
    pub(super) fn arrived(&mut self, arrival: Arrival) {
        let Delivery { sampler, tags, ratio, latency, .. } = self;
        sampler.observe(*ratio, 1.0, tags, arrival.at);
        if !arrival.replayed {
            sampler.observe(*latency, arrival.latency_ns.max(0) as f64 / 1e6, tags, arrival.at);
        }
    }

    /// Samples of what was counted since the last time.
    pub(super) fn counted(&mut self, counts: &Counts, at: At) -> Interval {
        for ((id, told), (_, count)) in self.counters.iter_mut().zip(counters(counts)) {
            if count > *told {
                self.sampler.observe(*id, (count - *told) as f64, &self.tags, at);
                *told = count;
            }
        }
        self.sampler.take()
    }

    /// Observes what was lost, and the zeros that are worth telling.
    pub(super) fn closed(&mut self, counts: &Counts, at: At) {
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

impl Test {
    /// Stamps that were drawn.
    pub(super) fn drawn(&self) -> u64 {
        self.common.delivery.rooms.drawn()
    }
}
