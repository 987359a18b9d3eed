//! The summary's lines on deliveries and on the generator, which k6 does not have.

use super::{Measured, Summary};
use crate::metrics::delivery::{counts, is_one};
use sonagi_measure::ledger::Counts;
use sonagi_measure::summary::Naming;
use sonagi_measure::verdict::{Delivered, delivered};

/// A statistic of latencies that is always shown: the slowest deliveries are what a real-time service is judged by.
pub(super) const TAIL: &str = "p(99)";

/// The metrics of the ledger.
pub(super) fn metrics(all: &[Measured]) -> impl Iterator<Item = &Measured> {
    all.iter().filter(|one| is_own(&one.name))
}

/// Whether a metric or sub-metric is the ledger's.
pub(super) fn is_own(name: &str) -> bool {
    is_one(name.split('{').next().unwrap_or_default())
}

/// The ledger's counts.
pub(super) fn counted(summary: &Summary) -> Counts {
    let all = &summary.total.metrics;
    counts(|name| {
        let one = all.iter().find(|one| one.name == name);
        one.and_then(|one| one.value("count")).unwrap_or(0.0).max(0.0) as u64
    })
}

/// In sentences.
pub(super) fn said(summary: &Summary) -> Delivered {
    let counts = counted(summary);
    let mut said = delivered(&counts, &Naming::PATHS);
    let drawn = summary.facts.drawn;
    if drawn > 0 && counts.messages == 0 {
        let (stamps, were) = if drawn == 1 { ("stamp", "was") } else { ("stamps", "were") };
        said.hints.push(format!(
            "{drawn} {stamps} {were} drawn and not seen in what was sent: a stamp must leave as it is, in a message or \
             in the body of a request"
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::delivery::{self, ALWAYS, LATENCY, RATIO};
    use crate::metrics::{Detail, MetricStore, SystemTags, builtin, registry, sampler};
    use crate::summary::Facts;
    use crate::summary::tests::facts;
    use sonagi_measure::At;
    use std::sync::Arc;
    use std::time::Duration;

    /// Ten seconds in which these counters and latencies were seen.
    fn summary(counters: &[(&str, f64)], latencies: &[f64], facts: Facts) -> Summary {
        let registry = Arc::new(registry());
        for (name, kind, unit) in delivery::all() {
            registry.add(name, kind, unit).unwrap();
        }
        let mut store = MetricStore::new(Arc::clone(&registry));
        let mut sampler = sampler(&registry, Detail::Total, SystemTags::default(), false);
        let tags = sampler.tags();
        let id = |name: &str| registry.get(name).unwrap();
        sampler.observe(builtin::ITERATIONS, 3.0, &tags, At(0));
        counters.iter().for_each(|(name, value)| sampler.observe(id(name), *value, &tags, At(0)));
        for latency in latencies {
            sampler.observe(id(LATENCY), *latency, &tags, At(0));
            sampler.observe(id(RATIO), 1.0, &tags, At(0));
        }
        let lost = counters.iter().find(|(name, _)| *name == "sonagi_lost").map_or(0.0, |(_, lost)| *lost);
        (0..lost as u64).for_each(|_| sampler.observe(id(RATIO), 0.0, &tags, At(0)));
        store.absorb(&sampler.take());
        Summary::of(&mut store, Facts { elapsed: Duration::from_secs(10), ..facts })
    }

    const ALL: [(&str, f64); 5] = [
        ("sonagi_messages", 2.0),
        ("sonagi_owed", 4.0),
        ("sonagi_arrived", 4.0),
        ("sonagi_lost", 0.0),
        ("sonagi_duplicate", 0.0),
    ];

    #[test]
    fn deliveries_are_a_block_of_their_own_and_come_first() {
        let text = summary(&ALL, &[1.0, 2.0, 3.0, 4.0], facts()).text(false);
        let block = "
  █ DELIVERY 

    ✓ all 4 expected deliveries received

    sonagi_delivery....: 100.00% 4 out of 4
    sonagi_e2e.........: avg=2.5ms min=1ms med=2.5ms max=4ms p(90)=3.7ms p(95)=3.84ms p(99)=3.97ms
    sonagi_messages....: 2       0.2/s
    sonagi_owed........: 4       0.4/s
    sonagi_arrived.....: 4       0.4/s
    sonagi_lost........: 0       0/s
    sonagi_duplicate...: 0       0/s


  █ TOTAL RESULTS 

    EXECUTION
    iterations...: 3 0.3/s

";
        assert!(text.contains(block), "{text}");
        assert_eq!(text.matches("sonagi_").count(), 7, "once each");
        assert_eq!(ALL.map(|(name, _)| name), ALWAYS);
    }

    #[test]
    fn what_went_wrong_is_said_in_sentences() {
        let mut counters = ALL;
        counters[1].1 = 5.0;
        counters[3].1 = 1.0;
        counters[4].1 = 2.0;
        let overload = vec!["shard 0 was full".to_owned()];
        let facts = Facts { overload, advice: "use an idle machine".to_owned(), ..facts() };
        let summary = summary(&counters, &[1.0, 2.0, 3.0, 4.0], facts);
        let text = summary.text(false);
        let said = "
  █ GENERATOR 

    ✗ shard 0 was full
      use an idle machine


  █ DELIVERY 

    ✗ 1 of 5 expected deliveries was lost (20.0 %)
    ✗ 2 duplicates

    sonagi_delivery....: 80.00% 4 out of 5
";
        assert!(text.contains(said), "{text}");
        let warned = ["shard 0 was full", "1 of 5 expected deliveries was lost (20.0 %)", "2 duplicates"];
        assert_eq!(summary.warnings(), warned);
    }

    #[test]
    fn where_nothing_was_owed_the_reason_stands_instead_of_a_share_of_nothing() {
        let nothing = [("sonagi_messages", 2.0), ("sonagi_owed", 0.0), ("sonagi_arrived", 0.0)];
        let text = summary(&nothing, &[], facts()).text(false);
        assert!(
            text.contains("• no message was owed: nobody to receive one had joined its room\n"),
            "{text}"
        );
        assert!(!text.contains("sonagi_delivery"), "{text}");
    }

    #[test]
    fn stamps_that_never_left_are_told_of_and_without_any_there_is_no_word() {
        assert!(!summary(&[], &[], facts()).text(false).contains("DELIVERY"));
        let text = summary(&[], &[], Facts { drawn: 2, ..facts() }).text(false);
        assert!(text.contains("• 2 stamps were drawn and not seen in what was sent"), "{text}");
    }
}
