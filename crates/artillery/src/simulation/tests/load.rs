//! Load models, time limits and stops.

use super::*;

/// The server stops for a second between two requests of a user that is to send one every 100 ms: nothing is in flight
/// when it stops, and the one request it holds is one in a hundred. Measured from when they were *due*, the requests
/// queued behind it show it; a service-time histogram forgets them (coordinated omission).
#[tokio::test(start_paused = true)]
async fn a_stalled_server_shows_in_response_time_although_nothing_was_in_flight() {
    let stalls = |now: Duration| match now.as_millis() {
        5_200..6_200 => Duration::from_millis(6_200) - now,
        _ => MILLISECOND,
    };
    let flow = vec![again(vec![get(10 * SECOND)], 100, Some(Duration::from_millis(100)))];
    let summary = simulate(plan(arrivals(1, 1, None), flow), Control::new(), http_server(stalls)).await;
    let operation = &summary.operations[0];
    assert_eq!((operation.count, operation.failed), (100, 0));
    // Due at 5.2, 5.3 … 6.1 s and answered at 6.2 s and just after: 1000, 900 … 100 ms.
    assert!(operation.response_ms.p99 > 850.0, "{:?}", operation.response_ms);
    assert!(operation.response_ms.p95 > 450.0, "{:?}", operation.response_ms);
    assert!(operation.service_ms.p95 < 5.0, "{:?}", operation.service_ms);
}

#[tokio::test(start_paused = true)]
async fn arrivals_over_the_limit_on_users_are_skipped_not_queued() {
    let flow = vec![think(10.0)];
    let summary = simulate(plan(arrivals(20, 20, Some(5)), flow), Control::new(), |_| {}).await;
    let users = &summary.users;
    // Five arrive, stay ten seconds each, and five more find room in the second half.
    assert_eq!((users.planned, users.started, users.skipped, users.completed), (20, 10, 10, 10));
}

/// The generator itself stands still for three seconds (a paused machine, a starved thread). What is up to a second
/// late starts late and is counted in the lag; what is later is missed, and the run is invalid instead of slow.
#[tokio::test(start_paused = true)]
async fn arrivals_a_generator_cannot_start_within_a_second_are_missed_and_invalidate_the_run() {
    let freeze = async {
        tokio::time::sleep(Duration::from_millis(4_950)).await;
        tokio::time::advance(3 * SECOND).await;
    };
    let run = simulate(plan(arrivals(200, 20, None), vec![think(0.1)]), Control::new(), |_| {});
    let (summary, ()) = tokio::join!(run, freeze);
    let users = &summary.users;
    assert_eq!((users.planned, users.started + users.missed), (200, 200));
    // Due from 5.0 s on, found at 7.95 s: 20 of them are more than a second late by then.
    assert!((19..=21).contains(&users.missed), "{}", users.missed);
    assert_eq!(summary.verdict.result, Conclusion::Invalid, "{:?}", summary.verdict);
}

/// A target that never answers: without a ceiling the shard would fill with users who wait.
#[tokio::test(start_paused = true)]
async fn arrivals_beyond_the_users_a_shard_can_hold_are_missed_and_invalidate_the_run() {
    let plan = plan(arrivals(200, 20, None), vec![think(60.0)]);
    let summary = simulate_within(plan, Control::new(), 50, |_| {}).await.summary;
    let users = &summary.users;
    assert_eq!((users.planned, users.started, users.missed, users.completed), (200, 50, 150, 50));
    assert_eq!(summary.verdict.result, Conclusion::Invalid, "{:?}", summary.verdict);
}

/// Two hundred users due within a millisecond, found due at once: were they all started before the first of them got a
/// turn, the limit of fifty would turn most away.
#[tokio::test(start_paused = true)]
async fn users_who_arrive_faster_than_they_are_started_do_not_keep_each_other_from_living() {
    let duration = MILLISECOND;
    let phase = Phase { name: None, duration, shape: Shape::Count(2000), max_users: Some(50) };
    let load = Load::Open { phases: vec![phase], spacing: Spacing::Even };
    let summary = simulate(plan(load, Vec::new()), Control::new(), |_| {}).await;
    assert_eq!((summary.users.skipped, summary.users.completed), (0, 2000));
}

/// The machine stands still for half a second of eleven: fifty of eleven hundred beats were late, not one.
#[tokio::test(start_paused = true)]
async fn every_beat_that_a_stall_swallowed_is_told() {
    let freeze = async {
        tokio::time::sleep(Duration::from_millis(4_995)).await;
        tokio::time::advance(SECOND / 2).await;
    };
    let run = simulate(plan(arrivals(1, 1, None), vec![think(10.0)]), Control::new(), |_| {});
    let (summary, ()) = tokio::join!(run, freeze);
    let hiccups = &summary.generator.hiccup_ms;
    assert!((1095..=1105).contains(&hiccups.count), "{hiccups:?}");
    assert!((480.0..=505.0).contains(&hiccups.max) && hiccups.p99 > 350.0, "{hiccups:?}");
    assert!(hiccups.p90 < 5.0, "{hiccups:?}");
}

#[tokio::test(start_paused = true)]
async fn a_population_iterates_until_its_time_is_over() {
    let stage = Stage { name: None, duration: 10 * SECOND, from: Some(3), users: 3 };
    let load = Load::Closed { stages: vec![stage] };
    let summary = simulate(plan(load, vec![think(1.0)]), Control::new(), |_| {}).await;
    // Simulated sleeps end on whole milliseconds, so an iteration takes 1.000 to 1.001 s.
    assert_eq!((summary.users.completed, summary.users.failed), (30, 0));
}

/// A place whose users fail at once stays empty for 0.1, 0.2, 0.4, 0.8 s and then a second each time; one that
/// completes ends that.
#[tokio::test(start_paused = true)]
async fn a_dead_service_is_not_met_by_user_after_user() {
    let closed = |seconds: u32| {
        let stage = Stage { name: None, duration: seconds * SECOND, from: Some(2), users: 2 };
        Load::Closed { stages: vec![stage] }
    };
    let dead = |stream| drop(stream);
    let summary = simulate(plan(closed(10), vec![get(SECOND)]), Control::new(), dead).await;
    // At 0, 0.1, 0.3, 0.7, 1.5, 2.5 … 9.5 s.
    assert_eq!((summary.users.failed, summary.users.completed), (2 * 13, 0));

    let start = Instant::now();
    let recovers = http_server(move |now| if now < 2 * SECOND { 2 * SECOND } else { SECOND / 2 });
    let summary = simulate(plan(closed(6), vec![get(SECOND)]), Control::new(), recovers).await;
    // Without an answer from 0, 1.1 s on; then every half second from 2.3 s on, with nothing between.
    assert_eq!((summary.users.failed, summary.users.completed), (2 * 2, 2 * 8));
    assert!(start.elapsed() < 8 * SECOND, "{:?}", start.elapsed());
}

/// The pause after a failure ends with the run.
#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_an_empty_place() {
    let stage = Stage { name: None, duration: 60 * SECOND, from: Some(1), users: 1 };
    let control = Control::new();
    let stop = control.clone();
    let start = Instant::now();
    let run = simulate(plan(Load::Closed { stages: vec![stage] }, vec![get(SECOND)]), control, drop);
    let stopper = async {
        tokio::time::sleep(Duration::from_millis(1_600)).await;
        stop.stop();
    };
    let (summary, ()) = tokio::join!(run, stopper);
    assert_eq!(summary.users.failed, 5);
    assert!(start.elapsed() < 1_700 * MILLISECOND, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_request_counts_as_long_as_its_limit() {
    let silent = |stream: DuplexStream| {
        tokio::task::spawn_local(async move {
            tokio::time::sleep(600 * SECOND).await;
            drop(stream);
        });
    };
    let summary = simulate(plan(arrivals(1, 1, None), vec![get(2 * SECOND)]), Control::new(), silent).await;
    assert_eq!((summary.users.completed, summary.users.failed), (0, 1));
    let operation = &summary.operations[0];
    assert_eq!((operation.count, operation.failed), (1, 1));
    assert!((operation.service_ms.max - 2000.0).abs() < 2.0, "{:?}", operation.service_ms);
    assert_eq!(summary.errors[0].code, "timeout");
}

/// Two users half a second apart, a pool of one connection, a server that does not answer: the first one holds the
/// connection until its limit of two seconds, the second one has half a second left.
#[tokio::test(start_paused = true)]
async fn a_request_that_waited_in_vain_for_the_pool_does_not_count_as_the_targets_silence() {
    let mut plan = plan(arrivals(2, 1, None), vec![get(2 * SECOND)]);
    plan.http.pool = Some(1);
    let summary = simulate(plan, Control::new(), http_server(|_| 100 * SECOND)).await;
    let mut codes: Vec<_> = summary.errors.iter().map(|error| (error.code.as_str(), error.count)).collect();
    codes.sort_unstable();
    assert_eq!(codes, [("pool_exhausted", 1), ("timeout", 1)]);
    let examples: Vec<_> = summary.errors.iter().map(|error| error.example.as_str()).collect();
    let told = "no response within 2000 ms, of which it waited 1500 ms for a connection of the pool";
    assert!(examples.iter().any(|example| example.ends_with(told)), "{examples:?}");
    assert_eq!((summary.operations[0].count, summary.operations[0].response_ms.count), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_ends_at_the_next_wait_and_keeps_what_it_measured() {
    let control = Control::new();
    let stop = control.clone();
    let server = http_server(|_| MILLISECOND);
    let flow = vec![get(SECOND), think(3600.0)];
    let start = Instant::now();
    let stopping = async {
        tokio::time::sleep(5 * SECOND).await;
        stop.stop();
    };
    let run = simulate(plan(arrivals(100, 100, None), flow), control, server);
    let (summary, ()) = tokio::join!(run, stopping);
    assert!(start.elapsed() < 6 * SECOND, "{:?}", start.elapsed());
    assert_eq!(summary.operations[0].count, summary.users.started);
    assert!((4..=5).contains(&summary.users.started), "{}", summary.users.started);
    assert_eq!((summary.users.completed, summary.users.failed), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_loop_without_pace_waits_from_each_answer_and_one_with_pace_from_its_start() {
    for (pace, expected) in [(None, 10 * (100 + 50)), (Some(Duration::from_millis(100)), 9 * 100 + 50)] {
        let server = http_server(|_| Duration::from_millis(50));
        let body = if pace.is_some() { vec![get(SECOND)] } else { vec![get(SECOND), think(0.1)] };
        let plan = plan(arrivals(1, 1, None), vec![again(body, 10, pace)]);
        let session = simulate(plan, Control::new(), server).await.users.session_ms.max;
        assert!((session - f64::from(expected)).abs() < 15.0, "{pace:?}: {session}");
    }
}

/// The first requests of users that begin at once are spread over the pace, the same way for the same seed; the later
/// ones keep each user's rhythm.
#[tokio::test(start_paused = true)]
async fn a_paced_loop_begins_at_a_random_part_of_its_pace_unless_it_has_a_phase() {
    let first_of = async |phase: Option<Duration>| {
        let pace = Some(Pace { every: SECOND, phase });
        let repeat = Repeat::Count { from: 0, to: 3 };
        let flow = vec![Step::Loop(Loop { body: vec![get(SECOND)], repeat, pace })];
        let server = http_server(|_| MILLISECOND);
        let summary = simulate(plan(arrivals(200, 1, None), flow), Control::new(), server).await;
        assert_eq!(summary.operations[0].count, 600);
        summary.users.session_ms
    };
    let random = first_of(None).await;
    assert!(random.min < 2_050.0 && random.max > 2_950.0 && random.max < 3_010.0, "{random:?}");
    assert!((2_400.0..2_600.0).contains(&random.p50), "{random:?}");
    assert_eq!(first_of(None).await, random, "the same seed draws the same phases");
    for (phase, least) in [(Duration::ZERO, 2_000.0), (SECOND / 2, 2_500.0)] {
        let fixed = first_of(Some(phase)).await;
        assert!(fixed.min >= least && fixed.max < least + 10.0, "{fixed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn users_the_end_of_their_time_cuts_off_are_counted_as_stopped() {
    let stage = Stage { name: None, duration: 10 * SECOND, from: Some(3), users: 3 };
    let load = Load::Closed { stages: vec![stage] };
    let silent = |stream: DuplexStream| {
        tokio::task::spawn_local(async move {
            tokio::time::sleep(600 * SECOND).await;
            drop(stream);
        });
    };
    let summary = simulate(plan(load, vec![get(300 * SECOND)]), Control::new(), silent).await;
    let users = &summary.users;
    assert_eq!((users.started, users.stopped, users.completed, users.failed), (3, 3, 0, 0));
    assert_eq!(users.operations_cut, 3);
}

/// The population ramps down over the last ten seconds: who has to go leaves its loop with its time, does what stands
/// behind it, and has completed.
#[tokio::test(start_paused = true)]
async fn a_loop_without_end_ends_in_order_with_a_closed_models_user() {
    let random = Pace { every: 3 * SECOND, phase: None };
    for pace in [Some(Pace::at_once(3 * SECOND)), Some(random), None] {
        let stages = vec![
            Stage { name: None, duration: 10 * SECOND, from: Some(10), users: 10 },
            Stage { name: None, duration: 10 * SECOND, from: None, users: 0 },
        ];
        let body = if pace.is_some() { vec![get(SECOND)] } else { vec![get(SECOND), think(3.0)] };
        let flow = vec![
            Step::Loop(Loop { body, repeat: Repeat::Forever, pace }),
            Step::Log(Template::constant("left")),
        ];
        let server = http_server(|_| MILLISECOND);
        let ran = simulate_closely(plan(Load::Closed { stages }, flow), Control::new(), server).await;
        let users = &ran.summary.users;
        assert_eq!((users.started, users.completed, users.stopped, users.failed), (10, 10, 0, 0), "{pace:?}");
        assert_eq!(ran.said, vec!["left"; 10]);
        // A user leaves when the plan says, and not a turn earlier; without a pace its last turn is walked to its end.
        let last = if pace.is_some() { 20_000.0..20_100.0 } else { 20_000.0..23_100.0 };
        assert!(last.contains(&users.session_ms.max), "{pace:?}: {:?}", users.session_ms);
        // A histogram's least is right to a thousandth.
        assert!((10_989.0..14_100.0).contains(&users.session_ms.min), "{pace:?}: {:?}", users.session_ms);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_answered_by_an_endless_stream_of_events_says_so_when_its_time_is_over() {
    let streaming = |kind: &'static str| {
        move |mut stream: DuplexStream| {
            tokio::task::spawn_local(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n\r\n: hello\n\n");
                stream.write_all(head.as_bytes()).await.unwrap();
                tokio::time::sleep(600 * SECOND).await;
            });
        }
    };
    for (kind, says) in [("text/event-stream;charset=utf-8", true), ("text/plain", false)] {
        let plan = plan(arrivals(1, 1, None), vec![get(SECOND)]);
        let summary = simulate(plan, Control::new(), streaming(kind)).await;
        let error = &summary.errors[0];
        assert_eq!((&*error.code, error.count), ("timeout", 1));
        let told = "; it was answered with text/event-stream, which never ends: use `engine: sse`";
        assert_eq!(error.example.ends_with(told), says, "{}", error.example);
    }
}

#[tokio::test(start_paused = true)]
async fn no_row_repeats_before_all_were_used_however_users_iterate() {
    let rows = (0..100).map(|n| vec![serde_json::json!(n)]).collect();
    let order = crate::plan::RowOrder::Sequence;
    let payload = crate::plan::Payload { fields: vec!["row".into()], rows, order, all_as: None };
    let stage = Stage { name: None, duration: 10 * SECOND, from: Some(10), users: 10 };
    let row = Expression::Path { variable: "row".into(), keys: Vec::new() };
    let say = Step::Log(Template { pieces: vec![crate::plan::template::Piece::Hole(row)] });
    let plan =
        Plan { payloads: vec![payload], ..plan(Load::Closed { stages: vec![stage] }, vec![say, think(2.0)]) };
    let mut said = simulate_closely(plan, Control::new(), |_| {}).await.said;
    said.sort_by_key(|row| row.parse::<u64>().unwrap());
    let expected: Vec<String> = (0..50).map(|row| row.to_string()).collect();
    assert_eq!(said, expected, "ten users, five iterations each");
}
