use super::*;
use crate::executor::turns::{regular_end, turns};
use proptest::prelude::*;

/// `vu: from-until from-until | interrupted` of each turn, in ms.
fn told(scenario: Value) -> Vec<String> {
    let scenario = scenarios(json!({"a": scenario})).remove(0);
    let turn = |turn: &Turn| {
        let spans: Vec<String> =
            turn.spans.iter().map(|(from, until)| format!("{}-{}", from / MS, until / MS)).collect();
        format!("{}: {} | {}", turn.vu, spans.join(" "), turn.until / MS)
    };
    turns(&scenario).iter().map(turn).collect()
}

#[test]
fn users_that_loop_are_there_from_the_start_until_the_end() {
    let check =
        |scenario: Value, expected: [&str; 2]| assert_eq!(told(scenario.clone()), expected, "{scenario}");
    check(
        json!({"executor": "constant-vus", "vus": 2, "duration": "1s"}),
        ["0: 0-1000 | 31000", "1: 0-1000 | 31000"],
    );
    check(
        json!({"executor": "per-vu-iterations", "vus": 2, "maxDuration": "2s", "gracefulStop": "500ms"}),
        ["0: 0-2000 | 2500", "1: 0-2000 | 2500"],
    );
    check(
        json!({"executor": "shared-iterations", "vus": 2, "iterations": 2, "gracefulStop": 0}),
        ["0: 0-600000 | 600000", "1: 0-600000 | 600000"],
    );
    check(
        json!({"executor": "constant-arrival-rate", "rate": 9, "duration": "1s", "preAllocatedVUs": 2, "maxVUs": 5}),
        ["0: 0-1000 | 31000", "1: 0-1000 | 31000"],
    );
}

/// k6 2.2 was seen to start and stop users within two milliseconds of these instants.
#[test]
fn ramping_users_start_and_stop_when_k6s_do() {
    let check = |start: u64, more: Value, stages: &[(u64, u64)], expected: &[&str]| {
        let stages: Vec<Value> =
            stages.iter().map(|(ms, target)| json!({"duration": ms, "target": target})).collect();
        let mut scenario = json!({"executor": "ramping-vus", "startVUs": start, "stages": stages});
        scenario.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(told(scenario.clone()), expected, "{scenario}");
    };
    check(
        1,
        json!({}),
        &[(1000, 4), (1000, 1), (0, 3), (500, 3)],
        &[
            "0: 0-2500 | 32500",
            "1: 333-2000 2000-2500 | 32500",
            "2: 666-1666 2000-2500 | 32500",
            "3: 1000-1333 | 31333",
        ],
    );
    check(
        3,
        json!({"gracefulStop": "1s", "gracefulRampDown": "500ms"}),
        &[(1000, 0), (1000, 0)],
        &["0: 0-1000 | 1500", "1: 0-666 | 1166", "2: 0-333 | 833"],
    );
    check(1, json!({}), &[(1000, 0), (3000, 0)], &["0: 0-1000 | 31000"]);
    // Up again at once, beyond the time for ramping down, and exactly at its end.
    check(
        1,
        json!({"gracefulRampDown": 0}),
        &[(500, 1), (0, 0), (0, 1), (500, 1)],
        &["0: 0-500 500-1000 | 31000"],
    );
    check(
        1,
        json!({"gracefulRampDown": "1s"}),
        &[(0, 0), (1001, 0), (0, 1), (500, 1)],
        &["0: 0-0 | 1000", "0: 1001-1501 | 31501"],
    );
    check(
        1,
        json!({"gracefulRampDown": "1s"}),
        &[(0, 0), (1000, 0), (0, 1), (500, 1)],
        &["0: 0-0 1000-1500 | 31500"],
    );
    // The scenario's own end is the last, whatever is left for ramping down.
    check(2, json!({"gracefulStop": 0}), &[(1000, 0)], &["0: 0-1000 | 1000", "1: 0-500 | 1000"]);
    // Reached in the last instant: there, but never iterating.
    check(0, json!({}), &[(1000, 1)], &["0: 1000-1000 | 31000"]);
    // Of four that go two come back; k6 would interrupt these two a second after they went, and not start them again.
    check(
        5,
        json!({"gracefulRampDown": "1s"}),
        &[(1000, 5), (0, 1), (500, 1), (0, 3), (2500, 3)],
        &[
            "0: 0-4000 | 34000",
            "1: 0-1000 1500-4000 | 34000",
            "2: 0-1000 1500-4000 | 34000",
            "3: 0-1000 | 2000",
            "4: 0-1000 | 2000",
        ],
    );
}

#[test]
fn regular_time_is_over_when_the_last_ramping_user_is_stopped() {
    let end = |stages: Value| {
        let scenario = json!({"executor": "ramping-vus", "stages": stages});
        regular_end(&scenarios(json!({"a": scenario}))[0].executor) / MS
    };
    assert_eq!(end(json!([{"duration": "1s", "target": 0}, {"duration": "3s", "target": 0}])), 1000);
    assert_eq!(end(json!([{"duration": "1s", "target": 2}, {"duration": "3s", "target": 2}])), 4000);
}

/// The lines k6 2.2 printed for the same options.
#[test]
fn the_plan_of_a_test_is_told_as_k6_tells_it() {
    let check = |given: Value, expected: &[&str]| {
        let scenarios = scenarios(given);
        assert_eq!(Plan::of(&scenarios, 2).lines(&scenarios), expected);
    };
    check(
        json!({"z": {"executor": "constant-vus", "duration": "1s", "vus": 2},
            "a": {"executor": "per-vu-iterations", "vus": 2, "iterations": 2, "startTime": "500ms", "gracefulStop": 0, "maxDuration": "90s"},
            "b": {"executor": "constant-arrival-rate", "rate": 7, "timeUnit": "3s", "duration": "1500ms", "preAllocatedVUs": 1,
                "maxVUs": 1, "gracefulStop": "1h"},
            "c": {"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "1s", "target": 3}], "gracefulRampDown": "0s"}}),
        &[
            "scenarios: (100.00%) 4 scenarios, 8 max VUs, 1h0m1.5s max duration (incl. graceful stop):",
            "* b: 2.33 iterations/s for 1.5s (maxVUs: 1, gracefulStop: 1h0m0s)",
            "* c: Up to 3 looping VUs for 1s over 1 stages (gracefulRampDown: 0s, gracefulStop: 30s)",
            "* z: 2 looping VUs for 1s (gracefulStop: 30s)",
            "* a: 2 iterations for each of 2 VUs (maxDuration: 1m30s, startTime: 500ms)",
        ],
    );
    check(
        json!({"a": {"executor": "constant-vus", "vus": 3, "duration": "10s", "gracefulStop": "0s"},
            "b": {"executor": "constant-arrival-rate", "rate": 10, "duration": "10s", "preAllocatedVUs": 2, "maxVUs": 4, "startTime": "10s"},
            "d": {"executor": "constant-vus", "vus": 1, "duration": "1m", "startTime": "5s", "gracefulStop": "1500ms"}}),
        &[
            "scenarios: (100.00%) 3 scenarios, 5 max VUs, 1m6.5s max duration (incl. graceful stop):",
            "* a: 3 looping VUs for 10s",
            "* d: 1 looping VUs for 1m0s (startTime: 5s, gracefulStop: 1.5s)",
            "* b: 10.00 iterations/s for 10s (maxVUs: 2-4, startTime: 10s, gracefulStop: 30s)",
        ],
    );
    check(
        json!({"c": {"executor": "ramping-vus", "startVUs": 5, "gracefulRampDown": "10s",
            "stages": [{"duration": "10s", "target": 0}, {"duration": "3m", "target": 2}]}}),
        &[
            "scenarios: (100.00%) 1 scenario, 5 max VUs, 3m40s max duration (incl. graceful stop):",
            "* c: Up to 5 looping VUs for 3m10s over 2 stages (gracefulRampDown: 10s, gracefulStop: 30s)",
        ],
    );
    check(
        json!({"a": {"executor": "ramping-arrival-rate", "startRate": 6, "timeUnit": "1m", "preAllocatedVUs": 1, "maxVUs": 2,
            "stages": [{"duration": "1s", "target": 8}, {"duration": "0s", "target": 9}], "startTime": "1s", "exec": "other"}}),
        &[
            "scenarios: (100.00%) 1 scenario, 2 max VUs, 32s max duration (incl. graceful stop):",
            "* a: Up to 0.15 iterations/s for 1s over 2 stages (maxVUs: 1-2, exec: other, startTime: 1s, gracefulStop: 30s)",
        ],
    );
    check(
        json!({"a": {"executor": "constant-arrival-rate", "rate": 5, "duration": "1s", "preAllocatedVUs": 0}}),
        &[
            "scenarios: (100.00%) 1 scenario, 0 max VUs, 0s max duration (incl. graceful stop):",
            "* a: 0.00 iterations/s for 1s (maxVUs: 0, gracefulStop: 30s)",
        ],
    );
    check(
        json!({"a": {"executor": "shared-iterations", "vus": 2, "iterations": 5, "maxDuration": "20s"}}),
        &[
            "scenarios: (100.00%) 1 scenario, 2 max VUs, 50s max duration (incl. graceful stop):",
            "* a: 5 iterations shared among 2 VUs (maxDuration: 20s, gracefulStop: 30s)",
        ],
    );
}

#[test]
fn users_serve_one_scenario_after_the_other() {
    let short = |vus: u64, start: u64| json!({"executor": "constant-vus", "vus": vus, "duration": "1s", "gracefulStop": 0, "startTime": start});
    let plan = Plan::of(&scenarios(json!({"a": short(3, 0), "b": short(2, 1000), "c": short(2, 1500)})), 2);
    let places = |n: usize| plan.scenarios[n].turns.iter().map(|(_, place)| *place).collect::<Vec<_>>();
    assert_eq!((places(0), places(1), places(2)), (vec![0, 1, 2], vec![0, 1], vec![2, 3]));
    assert_eq!((plan.planned_vus, plan.possible_vus), (4, 4));
    assert_eq!([0, 1].map(|shard| plan.planned_on(shard).collect::<Vec<_>>()), [[0, 2], [1, 3]]);
}

proptest! {
    /// However users ramp, the spans say what the stages say.
    #[test]
    fn as_many_users_are_there_as_the_stages_ask_for(
        start in 0u64..6, stages in proptest::collection::vec((0u64..2000, 0u64..6), 1..6), down in 0u64..1500
    ) {
        prop_assume!(start > 0 || stages.iter().any(|(_, target)| *target > 0));
        let list: Vec<Value> = stages.iter().map(|(ms, target)| json!({"duration": ms, "target": target})).collect();
        let scenario = json!({"executor": "ramping-vus", "startVUs": start, "stages": list, "gracefulRampDown": down});
        let scenario = scenarios(json!({"a": scenario})).remove(0);
        let turns = turns(&scenario);
        let mut begun = 0;
        let mut from = start;
        for (ms, to) in stages {
            // In the middle of a stage, where no user's instant is.
            let at = begun + ms as i64 * MS / 2 + 1;
            let spans = turns.iter().flat_map(|turn| &turn.spans);
            let there = spans.filter(|(from, until)| (*from..*until).contains(&at)).count() as u64;
            let exact = (from + to) as f64 / 2.0;
            prop_assert!(ms < 2 || (there as f64 - exact).abs() <= 1.0, "{there} of {exact} at {at}");
            (begun, from) = (begun + ms as i64 * MS, to);
        }
        for turn in &turns {
            let is_within = turn.spans.iter().all(|(from, until)| from <= until && *until <= turn.until);
            prop_assert!(turn.spans.is_sorted() && is_within);
        }
        let plan = Plan::of(&[scenario], 3);
        let turns = plan.scenarios[0].turns.iter();
        let mut held: Vec<(i64, i64, u64)> =
            turns.map(|(turn, place)| (turn.from(), turn.until, *place)).collect();
        held.sort_by_key(|(from, _, place)| (*place, *from));
        for pair in held.windows(2) {
            prop_assert!(pair[0].2 != pair[1].2 || pair[0].1 <= pair[1].0, "two turns share a place: {pair:?}");
        }
    }
}
