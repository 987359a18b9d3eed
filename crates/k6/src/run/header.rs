//! The header of a test's record: its script, options, operations and environment.

use serde_json::Value;
use sonagi_measure::outcome::Operation;
use sonagi_measure::summary::FailOnStatus;
use sonagi_measure::totals::Header;

use super::Test;
use crate::shard::OPERATIONS;
use crate::summary::recorded;

/// The operations that a run folder tells apart by name.
pub(super) fn operations() -> Vec<Operation> {
    OPERATIONS.map(|(name, kind)| Operation { name: name.to_owned(), kind }).to_vec()
}

/// The header of the run's record.
pub(super) fn header(test: &Test, tracked: bool) -> Header {
    let options = &test.common.options;
    let script = &test.asked.script;
    let name = script.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let started = jiff::Timestamp::try_from(test.started).unwrap_or_default();
    Header {
        name,
        started: format!("{started:.0}"),
        target: script.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned()),
        seed: 0,
        shards: test.plan.shards,
        scenarios: options.scenarios.iter().map(|scenario| scenario.name.clone()).collect(),
        operations: operations(),
        plan: Value::clone(&options.json),
        tracked,
        // Of statuses only a line of the log says something, where all of them failed.
        fail_on_status: FailOnStatus::Never,
        objective_ms: test.store.objective_ms(),
        language: Some(recorded::language(
            options,
            super::thresholds::judged(&test.asked, options),
            &test.common.registry,
            (test.asked.full_summary, test.has("handleSummary")),
        )),
        ..Header::default()
    }
}
