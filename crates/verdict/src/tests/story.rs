//! What users noticed, in the words that it is told in.

use super::build::Made;
use crate::{Story, SymptomKind};
use sonagi_measure::ledger::Counts;

/// What is said of a symptom, and its hint.
#[track_caller]
fn told(story: &Story, kind: SymptomKind) -> (&str, Option<&str>) {
    let found = story.symptoms.iter().find(|symptom| symptom.kind == kind);
    let symptom = found.unwrap_or_else(|| panic!("{:?}", story.symptoms));
    (&symptom.text, symptom.hint.as_deref())
}

/// A target that sends 40,000 copies a second and is owed 85,000 from second 7 to 16; then it is drained for 5 s, in
/// which it gets slower.
fn backlog() -> Made {
    Made::of(22)
        .count("delivery.owed", |second| match second {
            0..7 => 30_000.0,
            7..17 => 85_000.0,
            _ => 0.0,
        })
        .count("delivery.delivered", |second| match second {
            0..7 => 30_000.0,
            7..10 => 40_000.0,
            _ => 0.0,
        })
        .count("delivery.late", |second| match second {
            10..17 => 40_000.0,
            17.. => 26_000.0,
            _ => 0.0,
        })
        .gauge("delivery.outstanding", |second| match second {
            0..7 => 500.0,
            7..17 => f64::from(second - 6) * 45_000.0,
            17..21 => 450_000.0 - f64::from(second - 16) * 26_000.0,
            _ => 0.0,
        })
}

#[test]
fn copies_that_still_came_when_the_drain_ended_are_a_backlog_with_a_rate_a_depth_and_a_beginning() {
    let counts = Counts { owed: 1_060_000, lost: 320_000, lost_tail: 320_000, ..Counts::default() };
    let story =
        backlog().count("delivery.lost", |second| f64::from(second / 21) * 320_000.0).delivery(counts);
    let story = story.diagnosis().story;
    let (text, hint) = told(&story, SymptomKind::Backlog);
    assert_eq!(
        text,
        "copies were still arriving at 26,000/s when the drain ended; about 12 s of backlog; capacity about 40,000 \
         copies/s, exceeded from second 7"
    );
    assert!(hint.unwrap().contains("with `drain: 25` or more"), "{hint:?}");
    let (text, _) = told(&story, SymptomKind::Lost);
    assert_eq!(text, "320,000 copies never arrived: 320,000 with nothing after them");
}

/// The receivers leave one after the other: what is left is still worth what the target could send.
#[test]
fn a_rate_that_falls_because_receivers_leave_is_not_the_targets() {
    let counts = Counts { owed: 150, lost: 45, lost_tail: 30, never_accepted: 15, ..Counts::default() };
    let story = Made::of(12)
        .count("delivery.owed", |second| if second < 6 { 25.0 } else { 0.0 })
        .count("delivery.late", |second| [10.0, 10.0, 2.0][second.saturating_sub(9) as usize])
        .gauge("delivery.outstanding", |second| 15.0 * f64::from(second.min(6)))
        .delivery(counts)
        .diagnosis()
        .story;
    let (text, _) = told(&story, SymptomKind::Backlog);
    assert!(
        text.starts_with("copies were still arriving at 10/s") && text.contains("about 5 s of"),
        "{text}"
    );
}

/// The drain ends for one receiver after the other, over six seconds: 100 copies a second, then ever fewer.
#[test]
fn a_depth_is_told_by_the_rate_before_receivers_leave_however_long_that_takes() {
    let counts = Counts { owed: 1_500, lost: 500, lost_tail: 500, ..Counts::default() };
    let story = Made::of(16)
        .count("delivery.owed", |second| if second < 10 { 150.0 } else { 0.0 })
        .count(
            "delivery.late",
            |second| if second < 11 { 100.0 } else { 100.0 - 16.0 * f64::from(second - 10) },
        )
        .gauge("delivery.outstanding", |second| 50.0 * f64::from(second.min(10)))
        .delivery(counts)
        .diagnosis()
        .story;
    let (text, _) = told(&story, SymptomKind::Backlog);
    assert!(
        text.starts_with("copies were still arriving at 52/s when the drain ended; about 5 s of"),
        "{text}"
    );
}

/// Receivers stay for ten seconds: what they have not had by then nobody waits for, and the ledger counts it to its
/// end.
#[test]
fn copies_of_receivers_who_have_left_are_no_part_of_a_backlogs_depth() {
    let churn = |made: Made| {
        made.count("delivery.owed", |second| if second < 60 { 120.0 } else { 0.0 })
            .count("delivery.late", |_| 100.0)
            .trend("delivery.latency", |second| 2_000.0 + 1_000.0 * f64::from(second / 60))
            .gauge("delivery.outstanding", |second| 20.0 * f64::from(second.min(60)))
    };
    let counts = Counts { owed: 7_200, lost: 1_200, lost_tail: 1_200, ..Counts::default() };
    let cut = churn(Made::of(62)).delivery(counts).diagnosis().story;
    let (text, hint) = told(&cut, SymptomKind::Backlog);
    assert!(text.contains("; about 1 s of backlog; capacity about 100 copies/s"), "{text}");
    assert!(hint.unwrap().contains("`drain: 10` or more"), "{hint:?}");
    let counts = Counts { owed: 7_200, late: 7_200, ..Counts::default() };
    let worked_off = churn(Made::of(62)).delivery(counts).diagnosis().story;
    let (text, _) = told(&worked_off, SymptomKind::Backlog);
    assert!(text.starts_with("copies piled up to 1,200, about 2 s of backlog"), "{text}");
}

#[test]
fn copies_that_are_on_their_way_are_no_backlog() {
    let piled = |most: f64| {
        Made::of(20)
            .count("delivery.owed", |_| 640.0)
            .count("delivery.delivered", |_| 640.0)
            .gauge("delivery.outstanding", move |second| most * f64::from(second.min(10)) / 10.0)
            .diagnosis()
            .story
    };
    assert!(!piled(24.0).has(SymptomKind::Backlog), "less than a tenth of a second of 640 a second");
    assert!(piled(240.0).has(SymptomKind::Backlog));
}

#[test]
fn a_backlog_that_was_worked_off_is_told_with_its_depth() {
    let counts = Counts { owed: 1_060_000, late: 500_000, ..Counts::default() };
    let story = backlog().delivery(counts).diagnosis().story;
    let (text, hint) = told(&story, SymptomKind::Backlog);
    assert_eq!(
        text,
        "copies piled up to 450,000, about 11 s of backlog; capacity about 40,000 copies/s, exceeded from second 7"
    );
    assert_eq!(hint, None);
}

#[test]
fn copies_under_way_are_no_backlog() {
    let made = Made::of(20)
        .count("delivery.owed", |_| 1_000.0)
        .count("delivery.delivered", |_| 1_000.0)
        .gauge("delivery.outstanding", |second| 40.0 + f64::from(second % 3));
    assert!(made.diagnosis().story.is_calm());
}

#[test]
fn losses_right_after_joins_are_told_with_the_setting_that_leaves_them_out() {
    let lost = |lost_after_join| {
        let counts = Counts { owed: 42_113, lost: 8, lost_gap: 8, lost_after_join, ..Counts::default() };
        Made::of(10).count("delivery.lost", |second| f64::from(second / 9)).delivery(counts).diagnosis().story
    };
    let story = lost(8);
    let (text, hint) = told(&story, SymptomKind::Lost);
    assert_eq!(text, "8 copies never arrived: 8 before others that arrived");
    let hint = hint.unwrap();
    assert!(
        hint.contains("within a second of the receiver's join") && hint.contains("`settle: 1`"),
        "{hint}"
    );
    assert_eq!(told(&lost(3), SymptomKind::Lost).1, None);
}

/// Twenty-two users whose connections are all gone in second 4.
fn killed() -> Made {
    let alive = |each: f64| move |second| if second < 4 { each } else { 0.0 };
    Made::of(12)
        .count("messages.received", alive(60.0))
        .gauge("connections.open", alive(22.0))
        .count("connections.closed", |second| if second == 4 { 22.0 } else { 0.0 })
        .count("connections.lost", |second| if second == 4 { 22.0 } else { 0.0 })
}

#[test]
fn a_target_that_died_is_told_with_the_instant_although_nobody_watched_it() {
    let made = killed().error("closed_1006", 22, 4.52).error("connect_refused", 40, 4.9);
    let found = made.diagnosis();
    assert_eq!(
        told(&found.story, SymptomKind::Died).0,
        "the target died at 4.5 s: all 22 connections closed in second 4, 40 attempts to connect were refused, \
         nothing was answered after"
    );
    assert_eq!(found.findings.first().map(|finding| finding.id), Some("death"), "{:?}", found.findings);
}

#[test]
fn a_target_that_answered_again_did_not_die_and_the_end_of_a_run_is_no_death() {
    let again = killed().count("http.responses", |second| f64::from(second / 9));
    assert!(!again.diagnosis().story.has(SymptomKind::Died));
    let ended = Made::of(8)
        .count("messages.received", |second| if second < 6 { 60.0 } else { 0.0 })
        .gauge("connections.open", |second| if second < 6 { 22.0 } else { 0.0 })
        .count("connections.closed", |second| if second == 6 { 22.0 } else { 0.0 });
    assert!(ended.diagnosis().story.is_calm());
}

#[test]
fn sessions_that_became_much_longer_are_told_beside_the_latency_that_made_them_so() {
    let sessions =
        |made: Made| made.trend("session.length", |second| if second < 8 { 500.0 } else { 13_200.0 });
    let slow = Made::of(24).latency(|second| if second < 8 { 108.0 } else { 2_736.0 });
    let story = sessions(slow).diagnosis().story;
    let (text, _) = told(&story, SymptomKind::LongSessions);
    assert!(text.starts_with("sessions took 13.") && text.ends_with("s instead of 0.5 s"), "{text}");
    let (text, _) = told(&story, SymptomKind::Slower);
    assert!(text.contains(" to 2,7"), "{text}");
    // Users who take their time.
    let calm = sessions(Made::of(24).latency(|_| 20.0));
    assert!(calm.diagnosis().story.is_calm());
}

#[test]
fn users_that_pile_up_are_told_with_how_many_came_and_finished() {
    let made = Made::of(30)
        .count("arrivals.planned", |_| 10.0)
        .count("arrivals.started", |_| 10.0)
        .count("users.completed", |second| if second < 12 { 10.0 } else { 4.0 })
        .gauge("users.active", |second| if second < 12 { 10.0 } else { f64::from(second) * 12.0 });
    let story = made.diagnosis().story;
    let (text, _) = told(&story, SymptomKind::Backlog);
    assert!(text.ends_with(": 10.0 a second came and 4.86 finished"), "{text}");
}

#[test]
fn handshakes_that_are_refused_with_429_are_a_rate_limit_over_a_websocket_too() {
    let made = Made::of(10)
        .count("connections.opened", |_| 20.0)
        .count("operations.failed", |second| if second < 4 { 0.0 } else { 8.0 })
        .error("handshake_refused_429", 48, 4.2);
    let found = made.diagnosis();
    let limit = found.findings.iter().find(|finding| finding.id == "rate_limit").unwrap();
    assert_eq!(limit.onset_s, 4);
    assert_eq!(limit.evidence[0].text, "48 answers were 429 (19 % of all); 20.0 a second were let through");
}

#[test]
fn error_statuses_are_told_by_their_share() {
    let answered = |codes: &[(u16, u64)], expected| {
        let mut made =
            Made::of(10).tagged_count("http.codes", &[("status", "500")], |second| f64::from(second / 6));
        made.summary.http_codes = codes.iter().copied().collect();
        made.summary.statuses.expected = expected;
        made.diagnosis().story
    };
    let story = answered(&[(200, 1_895), (429, 10), (500, 95)], 0);
    let text = told(&story, SymptomKind::Refused).0;
    assert_eq!(text, "95 of 2,000 answers were 500 (4.8 %), 10 were 429 (0.5 %)");
    assert_eq!(story.onset(), 6);
    assert!(answered(&[(200, 1_991), (500, 9)], 0).is_calm(), "under 0.5 %");
    assert!(answered(&[(200, 1_900), (404, 100)], 100).is_calm(), "the script asks for them");
}

/// A hundred users who poll every three seconds: copies come up to three seconds late, and as many are under way.
#[test]
fn copies_that_wait_for_their_receivers_polls_are_no_trouble_of_the_target() {
    let polled = |slowest: f64, polls_p95: f64, piled: f64| {
        Made::of(30)
            .gauge("users.active", |_| 100.0)
            .count("delivery.owed", |_| 1_000.0)
            .count("delivery.delivered", |_| 1_000.0)
            .gauge("delivery.outstanding", move |second| piled * f64::from(second.min(10)) / 10.0)
            .trend("delivery.latency", move |_| slowest)
            .polls(1_000, polls_p95)
            .diagnosis()
            .story
    };
    assert!(polled(2_960.0, 2.0, 2_900.0).is_calm(), "{:?}", polled(2_960.0, 2.0, 2_900.0));
    assert!(polled(9_000.0, 2.0, 0.0).has(SymptomKind::Slow), "three times what polling explains");
    assert!(polled(9_000.0, 2.0, 9_000.0).has(SymptomKind::Backlog), "nine seconds of backlog");
    assert!(polled(2_960.0, 1_500.0, 0.0).has(SymptomKind::Slow), "the polls are held back");
}
