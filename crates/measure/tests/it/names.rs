//! The numbers of a summary as thresholds name them.

use crate::recording::{header, record_second};
use sonagi_measure::At;
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::recorder::Recorder;
use sonagi_measure::summary::Service;
use sonagi_measure::thresholds::{Measured, Threshold};
use sonagi_measure::totals::{Header, ProcessGauges, Totals};

#[test]
fn a_threshold_may_ask_for_every_number_of_a_summary() {
    let header = Header { population: Some(9), ..header() };
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut shard = Recorder::new(header.operations.len(), header.scenarios.len());
    for second in 0..3 {
        let record = record_second(&mut shard, 0, second);
        let process =
            ProcessGauges { cpu_pressure_us: 1000 * (1 + second as u64), ..ProcessGauges::default() };
        totals.absorb(vec![record], At((second + 1) * 1_000_000_000), process);
    }
    totals.close(At(3_200_000_000));
    let names = totals.summary().beside(Service::default()).names();
    for name in ["generator.cpu_wait_s", "generator.cpu_pressure", "statuses.codes.500", "users.wanted"] {
        assert!(names.contains_key(name), "{name} of {names:?}");
    }
    let scenarios = header.scenarios.iter().map(String::as_str).collect();
    let measured = Measured { operations: &header.operations, scenarios, tracks_delivery: header.tracked };
    for name in names.keys() {
        let threshold = Threshold::new(format!("'{name}' >= 0"), true);
        let metrics = threshold.metrics();
        assert_eq!(metrics.len(), 1, "{name}");
        assert_eq!(measured.check(&metrics[0].name), Ok(()), "{name}");
    }
}
