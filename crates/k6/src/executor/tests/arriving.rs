use super::*;

fn rate(more: Value) -> Value {
    let mut scenario =
        json!({"executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 1});
    scenario.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"a": scenario})
}

fn slow() -> Trial {
    Trial { lasts: |_, _| (350, Over::Complete), ..Trial::default() }
}

fn begun(report: &Report) -> Vec<i64> {
    report.of("a").into_iter().map(|(_, from, _)| from).collect()
}

#[test]
fn iterations_begin_when_they_are_planned() {
    let report = Trial { lasts: |_, _| (50, Over::Complete), ..Trial::default() }.run(rate(json!({})));
    assert_eq!(begun(&report), [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
    assert_eq!((report.dropped(), report.ended), (0, 1050));
    let ramp = json!({"a": {"executor": "ramping-arrival-rate", "preAllocatedVUs": 2, "stages": [{"duration": "1s", "target": 10}]}});
    // A timer of simulated time rings at the next whole millisecond.
    assert_eq!(begun(&run_plainly(ramp)), [448, 633, 775, 895, 1000]);
}

/// The same as in k6, which counts the time after the last arrival, too.
#[test]
fn a_constant_rate_lasts_as_long_as_it_says_and_a_ramping_one_until_its_last_iteration() {
    let report = run_plainly(rate(json!({"rate": 1, "duration": "1900ms"})));
    assert_eq!((begun(&report), report.ended), (vec![0, 1000], 1900));
    let ramp = json!({"a": {"executor": "ramping-arrival-rate", "preAllocatedVUs": 2, "stages": [{"duration": "1s", "target": 2}, {"duration": "0s", "target": 0}, {"duration": "5s", "target": 0}]}});
    assert!(run_plainly(ramp).ended < 4000);
}

/// k6 2.2 began iterations at the same instants, dropped as many and printed the same warning.
#[test]
fn users_are_created_while_arrivals_are_dropped_until_there_are_too_few() {
    let report = slow().run(rate(json!({"maxVUs": 3})));
    assert_eq!(begun(&report), [0, 200, 400, 500, 600, 800, 900, 1000]);
    assert_eq!(report.dropped, [(100, 1), (300, 1), (700, 1)]);
    assert_eq!((report.insufficient, report.initialised, report.ended), (vec![3], 3, 1350));
}

#[test]
fn without_room_for_more_users_arrivals_are_dropped() {
    let report = slow().run(rate(json!({})));
    assert_eq!(begun(&report), [0, 400, 800]);
    assert_eq!((report.dropped(), report.late), (8, 0), "the target is slow, not we");
    assert_eq!((report.insufficient, report.initialised), (vec![1], 1));
}

#[test]
fn one_user_after_the_other_is_created() {
    let report = Trial { creating: Some(250), ..slow() }.run(rate(json!({"maxVUs": 9})));
    // Asked for at 100, there at 350; asked for at 600 again, there at 850.
    assert_eq!(begun(&report), [0, 400, 500, 800, 900, 1000]);
    assert_eq!((report.dropped(), report.initialised), (5, 3));
}

#[test]
fn a_user_that_is_created_too_late_is_given_back() {
    let trial = Trial { creating: Some(5000), lasts: |_, _| (2000, Over::Complete), ..Trial::default() };
    let report = trial.run(rate(json!({"maxVUs": 2, "gracefulStop": 0})));
    assert_eq!((report.counts[0], report.initialised), ([0, 1, 10], 2));
}

#[test]
fn a_user_that_cannot_be_created_is_told_of_and_the_rest_goes_on() {
    let report = Trial { creating: None, ..slow() }.run(rate(json!({"maxVUs": 3})));
    assert_eq!((begun(&report), report.failed, report.dropped()), (vec![0, 400, 800], 2, 8));
}

#[test]
fn an_arrival_is_begun_by_any_shards_free_user() {
    for shards in [1, 2, 3, 5] {
        let trial = Trial { shards, lasts: |_, _| (50, Over::Complete), ..Trial::default() };
        let report = trial.run(rate(json!({})));
        assert_eq!((begun(&report).len(), report.dropped()), (11, 0), "one user, {shards} shards");
        let report = Trial { shards, ..slow() }.run(rate(json!({"preAllocatedVUs": 4})));
        assert_eq!((begun(&report).len(), report.dropped()), (11, 0), "four users, {shards} shards");
        let report = Trial { shards, ..slow() }.run(rate(json!({"maxVUs": 3})));
        assert_eq!(
            (begun(&report).len(), report.dropped(), report.initialised),
            (8, 3, 3),
            "{shards} shards"
        );
    }
}

#[test]
fn what_graceful_stop_does_not_suffice_for_is_interrupted() {
    let report = slow().run(rate(json!({"preAllocatedVUs": 5, "gracefulStop": "100ms"})));
    assert_eq!((report.counts[0], report.ended), ([8, 3, 0], 1100));
}

#[test]
fn what_a_shard_that_was_held_up_has_not_come_to_when_time_is_over_is_dropped() {
    let lasts = |_: &str, n| (if n == 1 { -850 } else { 0 }, Over::Complete);
    let report = Trial { lasts, ..Trial::default() }.run(rate(json!({"preAllocatedVUs": 20})));
    assert_eq!((report.counts[0], report.ended), ([11, 0, 0], 1000), "what is late is begun at once");
    let lasts = |_: &str, n| (if n == 1 { -5000 } else { 0 }, Over::Complete);
    for shards in [1, 2, 3] {
        let report = Trial { lasts, shards, ..Trial::default() }.run(rate(json!({"preAllocatedVUs": 20})));
        assert_eq!((report.counts[0], report.late, report.ended), ([2, 0, 9], 9, 5100), "{shards} shards");
    }
}

#[test]
fn users_of_an_arrival_rate_serve_a_later_scenario() {
    let mut given = rate(json!({"maxVUs": 3, "gracefulStop": "500ms"}));
    given["b"] = json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 1, "maxVUs": 3, "startTime": "1500ms"});
    let report =
        Trial { lasts: |name, _| (if name == "a" { 350 } else { 3000 }, Over::Complete), ..Trial::default() }
            .run(given);
    assert_eq!(report.initialised, 3, "what was created for the first is idle when the second wants more");
    assert_eq!(report.counts, [[8, 0, 3], [1, 0, 1]]);
}

/// The same as in k6: all users keep their cookies and connections.
#[test]
fn users_take_turns() {
    let trial = Trial { lasts: |_, _| (10, Over::Complete), ..Trial::default() };
    let report = trial.run(rate(json!({"preAllocatedVUs": 4})));
    let users: Vec<u64> = report.of("a").into_iter().map(|(vu, ..)| vu).collect();
    assert_eq!(users, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]);
}

#[test]
fn no_user_at_all_is_no_work() {
    let report = run_plainly(rate(json!({"preAllocatedVUs": 0})));
    assert_eq!((report.counts[0], report.ended), ([0, 0, 0], 0));
    let report = Trial { lasts: |_, _| (50, Over::Complete), ..Trial::default() }
        .run(rate(json!({"preAllocatedVUs": 0, "maxVUs": 2})));
    assert_eq!((report.counts[0], report.initialised), ([10, 0, 1], 1));
}
