//! Rules over made-up runs: each names what was planted, and is silent where it was not.

mod build;
mod host;
mod services;
mod story;

use build::Made;
use sonagi_measure::summary::Users;

/// A run that keeps up is not accused, whatever its resources look like.
#[test]
fn a_target_that_kept_up_is_not_accused() {
    let made = Made::of(20).gauge("host.cpu", |_| 0.99).gauge("host.cores", |_| 2.0).latency(|_| 20.0);
    let found = made.diagnosis();
    assert!(found.story.is_calm() && found.findings.is_empty(), "{found:?}");
}

#[test]
fn latency_that_rose_is_told_from_noise() {
    let noisy = Made::of(20).latency(|second| 20.0 + 15.0 * f64::from(second % 3));
    assert!(noisy.diagnosis().story.is_calm());
    let risen = Made::of(20).latency(|second| if second < 8 { 20.0 } else { 400.0 });
    let story = risen.diagnosis().story;
    assert_eq!(story.onset(), 8, "{story:?}");
}

#[test]
fn one_burst_in_flight_when_a_second_ends_is_no_backlog() {
    let outstanding = |of: fn(u32) -> f64| Made::of(20).gauge("delivery.outstanding", of).diagnosis().story;
    assert!(outstanding(|second| if second == 7 { 73.0 } else { 0.0 }).is_calm());
    assert!(outstanding(|second| f64::from(second) * 15.0).has(crate::SymptomKind::Backlog));
}

#[test]
fn a_tail_of_deliveries_is_noticed_however_steady_it_is() {
    let story = Made::of(20).delivered(250.0).diagnosis().story;
    assert!(story.has(crate::SymptomKind::Slow), "{story:?}");
    assert!(Made::of(20).delivered(150.0).diagnosis().story.is_calm());
}

#[test]
fn answers_that_refuse_are_noticed_and_those_a_script_asks_for_are_not() {
    let answered = |status: &str| {
        let codes = [("code", status)];
        let made = Made::of(20).latency(|_| 20.0).tagged_count("http.codes", &[("code", "200")], |_| 30.0);
        let mut made = made.tagged_count("http.codes", &codes, |second| if second < 8 { 0.0 } else { 3.0 });
        made.summary.http_codes = [(200, 600), (status.parse().unwrap(), 36)].into_iter().collect();
        made.diagnosis().story
    };
    for status in ["429", "500", "503"] {
        let story = answered(status);
        assert!(story.has(crate::SymptomKind::Refused), "{status}: {story:?}");
        let told = format!("36 of 636 answers were {status} (5.7 %)");
        assert_eq!((story.onset(), story.symptoms[0].text.as_str()), (8, told.as_str()));
    }
    assert!(answered("404").is_calm() && answered("401").is_calm());
}

#[test]
fn users_that_pile_up_are_a_backlog_and_a_ramp_is_none() {
    let ramp = Made::of(30)
        .count("arrivals.planned", f64::from)
        .gauge("users.active", |second| f64::from(second) * 10.0);
    assert!(ramp.diagnosis().story.is_calm());
    let piles = Made::of(30)
        .count("arrivals.planned", |_| 10.0)
        .gauge("users.active", |second| if second < 12 { 10.0 } else { f64::from(second) * 12.0 });
    assert!(piles.diagnosis().story.has(crate::SymptomKind::Backlog));
}

/// Eight users, each in a session of 200 ms all the time.
#[test]
fn users_sessions_and_their_lengths_agree_by_littles_law_or_are_doubted() {
    let closed = |completed: f64, failed: f64, wanted| {
        let mut made = Made::of(20)
            .gauge("users.active", |second| if second < 18 { 8.0 } else { 0.0 })
            .count("users.completed", move |_| completed)
            .count("users.failed", move |_| failed)
            .trend("session.length", |_| 200.0);
        made.summary.users.wanted = wanted;
        made.diagnosis().doubts
    };
    assert_eq!(closed(40.0, 0.0, Some(8)), []);
    assert_eq!(closed(38.5, 0.0, Some(8)), [], "within 5 %");
    let doubts = closed(30.0, 0.0, Some(8));
    let said = "8.00 users were active, but 30.0 sessions a second of 200 ms each are those of 6.00: events were lost, \
                or are counted wrong";
    assert_eq!(doubts.iter().map(|doubt| doubt.text.as_str()).collect::<Vec<_>>(), [said]);
    assert_eq!(closed(30.0, 10.0, Some(8)), [], "those that fail have no length");
    assert_eq!(closed(30.0, 0.0, None), [], "sessions of an open run that are too short to be seen in looks");
}

#[test]
fn virtual_users_of_k6_that_iterate_all_the_time_are_a_population() {
    let k6 = |completed: f64, vus: f64| {
        let made = Made::of(20)
            .gauge("users.active", |second| if second < 18 { 8.0 } else { 0.0 })
            .gauge("vus", move |second| if second < 18 { vus } else { 0.0 })
            .count("users.completed", move |_| completed)
            .trend("session.length", |_| 200.0);
        made.diagnosis().doubts.len()
    };
    assert_eq!((k6(40.0, 8.0), k6(30.0, 8.0)), (0, 1));
    assert_eq!(k6(30.0, 20.0), 0, "some of them wait for arrivals, and sessions are short");
}

/// Ten users arrive in each of forty seconds, and stay for ten.
#[test]
fn of_an_open_run_the_time_of_all_users_agrees_with_all_sessions_or_is_doubted() {
    let open = |completed: u64, length_ms: f64, change: fn(&mut Users)| {
        let mut made = Made::of(52)
            .gauge("users.active", |second| match second {
                0..10 => 10.0 * f64::from(second + 1),
                10..40 => 100.0,
                _ => (10.0 * (49.0 - f64::from(second))).max(0.0),
            })
            .trend("session.length", move |_| length_ms);
        made.summary.users.completed = completed;
        change(&mut made.summary.users);
        made.diagnosis().doubts
    };
    assert_eq!(open(400, 10_000.0, |_| {}), []);
    assert_eq!(open(350, 10_000.0, |_| {}), [], "5 %, and a second of each session");
    let said = "users were active for 4,000 s in all, but 300 sessions of 10,000 ms each are 3,000 s: events were lost, \
                or are counted wrong";
    let doubts = open(300, 10_000.0, |_| {});
    assert_eq!(doubts.iter().map(|doubt| doubt.text.as_str()).collect::<Vec<_>>(), [said]);
    assert_eq!(open(300, 10_000.0, |users| users.failed = 100), [], "those that fail have no length");
    assert_eq!(open(300, 10_000.0, |users| users.stopped = 100), [], "nor those that were stopped");
    assert_eq!(open(300, 10_000.0, |users| users.active = 100), [], "nor those that have not ended");
    assert_eq!(open(300, 1_000.0, |_| {}), [], "sessions that come and go between two looks");
}

#[test]
fn without_a_cause_the_gauges_that_changed_most_are_told() {
    let made = Made::of(20)
        .latency(|second| if second < 8 { 20.0 } else { 400.0 })
        .gauge("target.threads", |second| if second < 8 { 10.0 } else { 90.0 })
        .gauge("target.memory", |_| 1e8);
    let found = made.diagnosis();
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    let changed: Vec<&str> = found.changed.iter().map(|change| change.series.as_str()).collect();
    assert_eq!(changed, ["target.threads"]);
}

#[test]
fn a_generator_that_fell_behind_measured_itself() {
    let slow = || {
        Made::of(20)
            .latency(|second| if second < 8 { 20.0 } else { 400.0 })
            .gauge("target.cpu.main_thread", |second| if second < 8 { 0.3 } else { 0.99 })
            .gauge("host.cpu", |_| 0.5)
            .gauge("host.cores", |_| 4.0)
    };
    let mut made = slow();
    made.summary.generator.state = sonagi_measure::summary::Health::Invalid;
    let causes: Vec<&str> = made.diagnosis().findings.iter().map(|finding| finding.id).collect();
    assert_eq!(causes, ["generator"]);
    assert_eq!(slow().cause(), Some("event_loop"));
}
