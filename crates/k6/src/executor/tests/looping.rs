use super::*;

#[test]
fn constant_users_finish_what_they_began_within_graceful_stop() {
    let report = Trial { lasts: |_, _| (300, Over::Complete), ..Trial::default() }
        .run(json!({"a": {"executor": "constant-vus", "vus": 2, "duration": "1s"}}));
    let of_each = [(0, 300), (300, 600), (600, 900), (900, 1200)];
    let expected: Vec<_> =
        of_each.into_iter().flat_map(|(from, until)| [(0, from, until), (1, from, until)]).collect();
    assert_eq!(report.of("a"), expected);
    assert_eq!((report.ended, report.counts[0]), (1200, [8, 0, 0]));
}

#[test]
fn what_graceful_stop_does_not_suffice_for_is_interrupted() {
    let report = Trial { lasts: |_, _| (700, Over::Complete), ..Trial::default() }
        .run(json!({"a": {"executor": "constant-vus", "duration": "1s", "gracefulStop": "200ms"}}));
    assert_eq!(report.of("a"), [(0, 0, 700), (0, 700, 1200)]);
    assert_eq!((report.ended, report.counts[0]), (1200, [1, 1, 0]));
}

/// k6 2.2 printed the ends of the same three iterations at 835, 1168 and 1501 ms.
#[test]
fn users_that_ramp_down_are_interrupted_one_by_one() {
    let report = Trial { lasts: |_, _| (3000, Over::Complete), ..Trial::default() }.run(json!({"a": {
        "executor": "ramping-vus", "startVUs": 3, "gracefulStop": "1s", "gracefulRampDown": "500ms",
        "stages": [{"duration": "1s", "target": 0}, {"duration": "1s", "target": 0}]}}));
    assert_eq!(report.of("a"), [(0, 0, 1500), (1, 0, 1167), (2, 0, 834)]);
    assert_eq!((report.ended, report.counts[0]), (1500, [0, 3, 0]));
}

#[test]
fn a_user_called_back_while_it_ramps_down_goes_on_undisturbed() {
    let report = Trial { lasts: |_, n| (if n == 1 { 1300 } else { 400 }, Over::Complete), ..Trial::default() }
        .run(json!({"a": {"executor": "ramping-vus", "startVUs": 2, "gracefulRampDown": "1s", "stages": [
            {"duration": "500ms", "target": 2}, {"duration": 0, "target": 1}, {"duration": "500ms", "target": 1},
            {"duration": 0, "target": 2}, {"duration": "1s", "target": 2}]}}));
    let second: Vec<_> = report.of("a").into_iter().filter(|(vu, ..)| *vu == 1).collect();
    assert_eq!(second, [(1, 0, 1300), (1, 1300, 1700), (1, 1700, 2100)]);
    assert_eq!(report.counts[0][1], 0);
}

#[test]
fn a_user_that_is_idle_between_two_spans_is_given_back() {
    // While the first scenario has one user less, the second takes a user; the third place is not needed.
    let report = run_plainly(json!({
        "a": {"executor": "ramping-vus", "startVUs": 2, "gracefulRampDown": 0, "stages": [
            {"duration": "500ms", "target": 2}, {"duration": 0, "target": 1}, {"duration": "1s", "target": 1},
            {"duration": 0, "target": 2}, {"duration": "500ms", "target": 2}]},
        "b": {"executor": "constant-vus", "duration": "1s", "startTime": "500ms", "gracefulStop": 0}}));
    assert_eq!(report.initialised, 2);
    assert_eq!(report.of("b").first(), Some(&(1, 500, 600)));
    assert_eq!(report.of("a").iter().filter(|(vu, ..)| *vu == 1).count(), 10);
}

/// k6 2.2: 2 complete and 2 interrupted iterations, 6 dropped.
#[test]
fn iterations_per_user_that_find_no_time_are_dropped() {
    let trial = || Trial { lasts: |_, _| (600, Over::Complete), ..Trial::default() };
    let scenario = |graceful: &str| json!({"a": {"executor": "per-vu-iterations", "vus": 2, "iterations": 5, "maxDuration": "1s", "gracefulStop": graceful}});
    let report = trial().run(scenario("0s"));
    assert_eq!((report.counts[0], report.dropped), ([2, 2, 6], vec![(1000, 3), (1000, 3)]));
    let report = trial().run(scenario("5s"));
    assert_eq!((report.counts[0], report.ended), ([4, 0, 6], 1200));
    let report = run_plainly(scenario("0s"));
    assert_eq!((report.counts[0], report.ended), ([10, 0, 0], 500));
}

#[test]
fn shared_iterations_are_shared_by_all_shards() {
    let report = Trial {
        shards: 3,
        lasts: |_, n| (if n == 0 { 950 } else { 100 }, Over::Complete),
        ..Trial::default()
    }
    .run(json!({"a": {"executor": "shared-iterations", "vus": 4, "iterations": 20}}));
    let mut numbers: Vec<u64> = report.done.iter().map(|it| it.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    let of_first =
        report.done.iter().filter(|it| it.vu == report.done.iter().find(|it| it.number == 0).unwrap().vu);
    assert_eq!(of_first.count(), 1, "the others take what a slow user leaves");
    assert_eq!((report.counts[0], report.ended), ([20, 0, 0], 950));
}

/// k6 2.2: 2 complete and 2 interrupted iterations, 6 dropped.
#[test]
fn shared_iterations_that_nobody_began_are_dropped_once() {
    for shards in [1, 2, 3] {
        let report = Trial { shards, lasts: |_, _| (600, Over::Complete), ..Trial::default() }.run(json!({"a": {
            "executor": "shared-iterations", "vus": 2, "iterations": 10, "maxDuration": "1s", "gracefulStop": "100ms"}}));
        assert_eq!((report.counts[0], report.dropped), ([2, 2, 6], vec![(1100, 6)]), "{shards} shards");
    }
}

#[test]
fn a_later_scenario_begins_at_its_time_with_the_users_of_the_first() {
    for shards in [1, 2] {
        let report = Trial { shards, ..Trial::default() }.run(json!({
            "a": {"executor": "per-vu-iterations", "vus": 2, "iterations": 2, "maxDuration": "1s", "gracefulStop": "0s"},
            "b": {"executor": "per-vu-iterations", "vus": 2, "iterations": 1, "startTime": "1s", "maxDuration": "1s"}}));
        assert_eq!(report.of("a"), [(0, 0, 100), (1, 0, 100), (0, 100, 200), (1, 100, 200)]);
        assert_eq!(report.of("b"), [(0, 1000, 1100), (1, 1000, 1100)]);
        assert_eq!(report.initialised, 2);
    }
}

#[test]
fn a_script_that_asks_for_the_end_ends_all_shards_at_once() {
    let lasts = |name: &str, n: u64| match (name, n) {
        ("a", 3) => (250, Over::Abort("enough".into())),
        ("a", _) => (100, Over::Complete),
        _ => (5000, Over::Complete),
    };
    let report = Trial { shards: 2, lasts, ..Trial::default() }.run(json!({
        "a": {"executor": "constant-vus", "vus": 2, "duration": "10s"},
        "b": {"executor": "per-vu-iterations", "iterations": 9},
        "c": {"executor": "shared-iterations", "iterations": 9, "startTime": "5s"},
        "d": {"executor": "constant-arrival-rate", "rate": 1, "duration": "9s", "preAllocatedVUs": 3}}));
    assert_eq!((report.why.as_deref(), report.ended), (Some("enough"), 350));
    // In the order of their start: a, b, d, c. Nothing that was left is a dropped iteration.
    assert_eq!(report.counts, [[4, 2, 0], [0, 1, 0], [0, 1, 0], [0, 0, 0]]);
}

#[test]
fn a_test_ended_from_outside_does_not_wait_for_what_has_not_begun() {
    let report = Trial { aborted: Some(150), ..Trial::default() }.run(json!({
        "a": {"executor": "constant-vus", "duration": "10s"},
        "b": {"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "1h", "target": 9}]},
        "c": {"executor": "ramping-arrival-rate", "preAllocatedVUs": 1, "stages": [{"duration": "1h", "target": 9}], "startTime": "1h"}}));
    assert_eq!((report.ended, report.counts.as_slice()), (150, &[[1, 1, 0], [0, 0, 0], [0, 0, 0]][..]));
}

#[test]
fn a_script_that_never_waits_leaves_room_for_the_others() {
    let report = Trial { lasts: |_, _| (0, Over::Complete), ..Trial::default() }
        .run(json!({"a": {"executor": "per-vu-iterations", "vus": 2, "iterations": 3}}));
    let order: Vec<u64> = report.done.iter().map(|it| it.vu).collect();
    let ahead = |n: usize| order[..n].iter().map(|vu| if *vu == 0 { 1 } else { -1 }).sum::<i32>();
    assert!((1..=6).all(|n| ahead(n).abs() <= 1), "one runs ahead: {order:?}");
}

#[tokio::test(start_paused = true)]
async fn who_computes_sees_the_deadline_though_nobody_can_tell() {
    let clock = Clock::simulated(Instant::now());
    let stop = Stop::new(At(5 * MS), &clock, &Arc::default());
    assert!(!stop.is_set());
    tokio::time::advance(std::time::Duration::from_millis(5)).await;
    assert!(stop.is_set());
}

#[tokio::test]
async fn whoever_asks_for_the_end_first_says_why() {
    let abort = Arc::new(Abort::default());
    let waiting = tokio::spawn({
        let abort = Arc::clone(&abort);
        async move { abort.control().stopped().await }
    });
    tokio::task::yield_now().await;
    std::thread::scope(|scope| {
        scope.spawn(|| abort.ask(Reason::Signal)).join().unwrap();
        scope.spawn(|| abort.ask(Reason::Signal)).join().unwrap();
    });
    waiting.await.unwrap();
    assert_eq!((abort.asked(), abort.why()), (true, Some(&Reason::Signal)));
}

#[test]
fn progress_is_of_iterations_where_they_are_counted_and_of_time_else() {
    let check = |scenario: Value, done: u64, expected: [f64; 3]| {
        let scenarios = scenarios(json!({"a": scenario}));
        let plan = Plan::of(&scenarios, 1);
        let common = Common::new(0, &scenarios[0], &plan, &Test::new(&plan, At(1000 * MS), Arc::default()));
        common.counts.complete.add(done);
        common.counts.interrupted.add(1);
        assert_eq!([500, 2500, 9000].map(|ms| common.progress(At(ms * MS))), expected);
    };
    check(json!({"executor": "constant-vus", "duration": "2s", "startTime": "1s"}), 3, [0.0, 0.25, 1.0]);
    check(json!({"executor": "shared-iterations", "iterations": 8}), 3, [0.5, 0.5, 0.5]);
    check(json!({"executor": "per-vu-iterations", "vus": 2, "iterations": 2}), 0, [0.25, 0.25, 0.25]);
}
