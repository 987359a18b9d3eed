//! The ledger as k6 metrics: thresholds, the summary and every output read its judgement as samples.

use sonagi_measure::At;
use sonagi_measure::ledger::{Arrival, Counts};

use crate::metrics::delivery::{ALWAYS, LATENCY, RATIO, counters};
use crate::metrics::{MetricId, Sampler, Tags};
use crate::shard::Common;

/// The ledger as metrics, of one sampler.
pub(super) struct Delivery {
    tags: Tags,
    ratio: MetricId,
    latency: MetricId,
    /// By name, with how much of each has been told.
    counters: Vec<(MetricId, u64)>,
}

impl Delivery {
    /// None: the script has nothing to do with the ledger.
    pub(super) fn of(common: &Common, sampler: &Sampler) -> Option<Delivery> {
        let find = |name: &str| common.registry.get(name);
        let untold = |(name, _)| Some((find(name)?, 0));
        let counters = counters(&Counts::default()).into_iter().map(untold).collect::<Option<_>>()?;
        let (ratio, latency) = (find(RATIO)?, find(LATENCY)?);
        Some(Delivery { tags: common.tags(sampler), ratio, latency, counters })
    }

    /// The first copy of an owed message.
    pub(super) fn arrived(&self, arrival: Arrival, sampler: &mut Sampler) {
        sampler.observe(self.ratio, 1.0, &self.tags, arrival.at);
        if !arrival.replayed {
            let latency_ms = arrival.latency_ns.max(0) as f64 / 1e6;
            sampler.observe(self.latency, latency_ms, &self.tags, arrival.at);
        }
    }

    /// Observes what was counted since the last time.
    pub(super) fn counted(&mut self, counts: &Counts, at: At, sampler: &mut Sampler) {
        for ((id, told), (_, count)) in self.counters.iter_mut().zip(counters(counts)) {
            if count > *told {
                sampler.observe(*id, (count - *told) as f64, &self.tags, at);
                *told = count;
            }
        }
    }

    /// Observes what was lost, and the zeros that are worth telling.
    pub(super) fn closed(&self, counts: &Counts, at: At, sampler: &mut Sampler) {
        for _ in 0..counts.lost {
            sampler.observe(self.ratio, 0.0, &self.tags, at);
        }
        if counts.messages > 0 {
            for ((id, told), (name, count)) in self.counters.iter().zip(counters(counts)) {
                if *told == 0 && count == 0 && ALWAYS.contains(&name) {
                    sampler.observe(*id, 0.0, &self.tags, at);
                }
            }
        }
    }
}
