//! When the turns of a loop are due: after a time, or so many in one.

use crate::support::load_with;
use serde_json::json;
use sonagi_artillery::Overrides;
use sonagi_artillery::plan::Step;
use std::time::Duration;

/// The time between two turns of a loop with this pace. The script has a variable and an axis; `messages` of the
/// command line lies over the variable.
fn every(pace: &str, messages: Option<u64>) -> Duration {
    let text = format!(
        "config:\n  target: http://t\n  phases: [{{duration: 1, arrivalRate: 1}}]\n  variables: {{messages: 4}}\n\
         matrix: {{words: [5, 6]}}\n\
         scenarios: [{{flow: [{{loop: [{{think: 1}}], count: 2, pace: {pace}}}]}}]\n"
    );
    let variables = messages.map(|messages| ("messages".to_owned(), json!(messages)));
    let overrides = Overrides { variables: variables.into_iter().collect(), ..Overrides::default() };
    let plan = load_with(&text, &overrides).unwrap_or_else(|problems| panic!("{problems}")).plan;
    let [Step::Loop(turns)] = plan.scenarios[0].flow.as_slice() else { panic!("{:?}", plan.scenarios) };
    turns.pace.unwrap().every
}

#[test]
fn a_pace_is_a_time_or_a_rate() {
    for (pace, nanos) in [
        ("2", 2_000_000_000),
        ("0", 0),
        ("50ms", 50_000_000),
        ("20/s", 50_000_000),
        ("\" 20 / s \"", 50_000_000),
        ("0.5/s", 2_000_000_000),
        ("30/m", 2_000_000_000),
        ("3/s", 333_333_333),
        ("1000000/s", 1_000),
    ] {
        assert_eq!(every(pace, None), Duration::from_nanos(nanos), "{pace}");
    }
}

#[test]
fn the_rate_of_a_pace_may_be_a_variable_or_an_axis() {
    let messages = "\"{{ messages }}/s\"";
    assert_eq!(every(messages, None), Duration::from_millis(250));
    assert_eq!(every(messages, Some(20)), Duration::from_millis(50));
    assert_eq!(every("\"{{ words }}/s\"", None), Duration::from_millis(200));
}
