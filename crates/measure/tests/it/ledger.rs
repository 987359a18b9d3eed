//! Each class of the ledger, on a timeline of its own. Times are milliseconds; settle is 100, the deadline 1,000.

use sonagi_measure::At;
use sonagi_measure::ledger::{Batch, Counts, Ledger, Move, Moved, Received, Rules, Sent, Settled};

const RULES: Rules = Rules { deadline_ns: 1_000 * MS, settle_ns: 100 * MS, echo: true };
const MS: i64 = 1_000_000;

/// Something that happened; times in ms, in the one room 0 unless told.
#[derive(Clone, Copy)]
enum Event {
    Ask(u32, i64),
    Join(u32, i64),
    /// A join that resumes.
    Resume(u32, i64),
    Leave(u32, i64),
    Gone(u32, i64),
    /// Left and gone at once, by one who means to come back.
    Cut(u32, i64),
    /// (sender, number, planned, started)
    Send(u32, u32, i64, i64),
    /// Like `Send`, with its outcome open.
    Try(u32, u32, i64),
    Ack(u32, bool),
    /// (receiver, number, at)
    Get(u32, u32, i64),
}
use Event::*;

fn batch(events: &[Event]) -> Batch {
    let room = 0;
    let moved = |member, at, what| Moved { member, room, at: At(at * MS), what };
    let mut batch = Batch::default();
    for event in events {
        match *event {
            Ask(member, at) => batch.moves.push(moved(member, at, Move::Ask)),
            Join(member, at) => batch.moves.push(moved(member, at, Move::Join)),
            Resume(member, at) => batch.moves.push(moved(member, at, Move::Resume)),
            Leave(member, at) => batch.moves.push(moved(member, at, Move::Leave)),
            Gone(member, at) => batch.moves.push(moved(member, at, Move::Go)),
            Cut(member, at) => {
                batch.moves.extend([Move::Interrupt, Move::Go].map(|what| moved(member, at, what)));
            }
            Send(sender, number, planned, started) => {
                let (planned, started) = (At(planned * MS), At(started * MS));
                batch.sent.push(Sent { room, number, sender, planned, started, acked: Some(true) });
            }
            Try(sender, number, at) => {
                let at = At(at * MS);
                batch.sent.push(Sent { room, number, sender, planned: at, started: at, acked: None });
            }
            Ack(number, acked) => batch.settled.push(Settled { room, number, acked }),
            Get(member, number, at) => {
                batch.received.push(Received { at: At(at * MS), member, room, number });
            }
        }
    }
    batch
}

#[track_caller]
fn check_with(rules: Rules, events: &[Event], expected: Counts) {
    let mut ledger = Ledger::new(rules);
    ledger.apply(&mut [batch(events)], At(100_000 * MS), |_| {});
    let counted = ledger.close(At(100_000 * MS), |_| {});
    assert_eq!(ledger.close(At(100_000 * MS), |_| {}), counted, "closing again changes nothing");
    assert_eq!(counted.lost, counted.lost_tail + counted.lost_gap + counted.never_accepted);
    let [lost_tail, lost_gap, never_accepted, lost_after_join] = [0; 4];
    assert_eq!(Counts { lost_tail, lost_gap, never_accepted, lost_after_join, ..counted }, expected);
}

/// At the end of what its receiver heard, in the middle, of messages that reached nobody, soon after a join.
#[track_caller]
fn check_lost(events: &[Event], expected: [u64; 4]) {
    let mut ledger = Ledger::new(RULES);
    ledger.apply(&mut [batch(events)], At(100_000 * MS), |_| {});
    let counts = ledger.close(At(100_000 * MS), |_| {});
    let lost = [counts.lost_tail, counts.lost_gap, counts.never_accepted, counts.lost_after_join];
    assert_eq!(lost, expected, "{counts:?}");
}

#[track_caller]
fn check(events: &[Event], expected: Counts) {
    check_with(RULES, events, expected);
}

fn counts() -> Counts {
    Counts { messages: 1, ..Counts::default() }
}

#[test]
fn a_copy_within_the_deadline_is_delivered_and_one_after_it_is_late() {
    let at = |received| [Join(1, 0), Send(0, 0, 1000, 1000), Get(1, 0, received)];
    check(&at(2000), Counts { owed: 1, delivered: 1, ..counts() });
    check(&at(2001), Counts { owed: 1, late: 1, ..counts() });
}

#[test]
fn the_deadline_runs_from_the_planned_send() {
    let events = [Join(1, 0), Send(0, 0, 1000, 1900), Get(1, 0, 2001)];
    check(&events, Counts { owed: 1, late: 1, ..counts() });
}

#[test]
fn membership_is_judged_when_the_message_really_left() {
    // Planned long before the member came, sent when it was there.
    let events = [Join(1, 5000), Send(0, 0, 1000, 6000), Get(1, 0, 6001)];
    check(&events, Counts { owed: 1, late: 1, ..counts() });
}

#[test]
fn what_never_comes_is_lost() {
    check(
        &[Join(1, 0), Join(2, 0), Send(1, 0, 500, 500), Get(1, 0, 510)],
        Counts { owed: 2, delivered: 1, lost: 1, ..counts() },
    );
}

#[test]
fn a_lost_copy_is_at_the_end_of_what_its_receiver_heard_or_in_the_middle_or_of_a_message_nobody_got() {
    let sent = [Join(1, 0), Join(2, 0), Send(1, 0, 500, 500), Send(1, 1, 600, 600), Send(1, 2, 700, 700)];
    let with = |more: &[Event]| [&sent[..], more].concat();
    let heard_all = [Get(1, 0, 510), Get(1, 1, 610), Get(1, 2, 710)];
    let and = |more: &[Event]| with(&[&heard_all[..], more].concat());
    check_lost(&and(&[Get(2, 0, 510)]), [2, 0, 0, 0]);
    check_lost(&and(&[Get(2, 0, 510), Get(2, 2, 710)]), [0, 1, 0, 0]);
    check_lost(&and(&[]), [3, 0, 0, 0]);
    check_lost(&with(&[Get(1, 0, 510), Get(2, 0, 510)]), [0, 0, 4, 0]);
    check_lost(&with(&[Get(1, 0, 510), Get(2, 2, 710)]), [1, 1, 2, 1]);
    // A copy that was late is one that came.
    check_lost(&and(&[Get(2, 0, 510), Get(2, 2, 60_000)]), [0, 1, 0, 0]);
}

#[test]
fn a_member_that_came_back_was_left_out_of_what_it_missed_before() {
    let stays = [Join(1, 0), Join(2, 0), Leave(2, 800), Gone(2, 900), Join(2, 1000)];
    let sent = [Send(1, 0, 500, 500), Get(1, 0, 510), Send(1, 1, 2000, 2000), Get(1, 1, 2010)];
    let all = |more: &[Event]| [&stays[..], &sent[..], more].concat();
    check_lost(&all(&[Get(2, 1, 2010)]), [0, 1, 0, 0]);
    check_lost(&all(&[]), [2, 0, 0, 0]);
}

#[test]
fn what_is_lost_within_a_second_of_a_join_and_before_anything_came_follows_the_join() {
    let sent = |at: i64| [Join(1, 0), Join(2, 0), Send(1, 0, at, at), Get(1, 0, at + 10)];
    let later = [Send(1, 1, 5000, 5000), Get(1, 1, 5010), Get(2, 1, 5010)];
    let with = |at: i64, more: &[Event]| [&sent(at)[..], more].concat();
    check_lost(&with(1000, &later), [0, 1, 0, 1]);
    check_lost(&with(1001, &later), [0, 1, 0, 0]);
    // One that never heard anything did not join too early.
    check_lost(&with(1000, &[]), [1, 0, 0, 0]);
    let before = [Send(1, 1, 400, 400), Get(1, 1, 410), Get(2, 1, 410)];
    check_lost(
        &with(
            500,
            &[
                &before[..],
                &later.map(|event| match event {
                    Send(..) => Send(1, 2, 5000, 5000),
                    Get(member, _, at) => Get(member, 2, at),
                    other => other,
                }),
            ]
            .concat(),
        ),
        [0, 1, 0, 0],
    );
}

#[test]
fn a_lost_copy_of_ones_own_message_is_told_from_the_others() {
    let sent = [Join(1, 0), Join(2, 0), Send(1, 0, 500, 500)];
    let with = |more: &[Event]| [&sent[..], more].concat();
    let one = Counts { owed: 2, delivered: 1, lost: 1, ..counts() };
    check(&with(&[Get(2, 0, 510)]), Counts { lost_own: 1, ..one });
    check(&with(&[Get(1, 0, 510)]), one);
    check(&with(&[]), Counts { owed: 2, lost: 2, lost_own: 1, ..counts() });
    // A copy that nobody may blame the target for is not lost.
    let tried = [Join(1, 0), Try(1, 0, 500)];
    check(&tried, Counts { unknown: 1, ..counts() });
}

#[test]
fn a_message_sent_within_settle_of_a_join_is_neither_owed_nor_leaked() {
    check(&[Join(1, 1000), Send(0, 0, 1099, 1099), Get(1, 0, 1101)], Counts { settling: 1, ..counts() });
    check(&[Join(1, 1000), Send(0, 0, 1099, 1099)], counts());
    check(&[Join(1, 1000), Send(0, 0, 1100, 1100)], Counts { owed: 1, lost: 1, ..counts() });
    // The target subscribed us before its confirmation came.
    check(&[Join(1, 1000), Send(0, 0, 890, 890), Get(1, 0, 900)], Counts { settling: 1, ..counts() });
    check(&[Join(1, 1000), Send(0, 0, 890, 890), Get(1, 0, 899)], Counts { leaked: 1, ..counts() });
}

#[test]
fn a_user_that_drains_is_owed_everything_sent_until_it_left() {
    let sent = |at| [Join(1, 0), Leave(1, 1000), Gone(1, 6000), Send(0, 0, at, at)];
    check(&sent(1000), Counts { owed: 1, lost: 1, ..counts() });
    check(&sent(1001), counts());
}

#[test]
fn a_connection_that_was_cut_is_owed_nothing_of_its_last_settle_window() {
    let sent = |at| [Join(1, 0), Leave(1, 1000), Gone(1, 1000), Send(0, 0, at, at)];
    check(&sent(900), Counts { owed: 1, lost: 1, ..counts() });
    check(&sent(901), counts());
}

#[test]
fn copies_between_leaving_and_the_end_of_the_connection_are_settling() {
    let got = |at| [Join(1, 0), Leave(1, 1000), Gone(1, 6000), Send(0, 0, 1500, 1500), Get(1, 0, at)];
    check(&got(6100), Counts { settling: 1, ..counts() });
    check(&got(6101), Counts { leaked: 1, ..counts() });
    let slow = [Join(1, 0), Leave(1, 1000), Gone(1, 6000), Send(0, 0, 900, 900), Get(1, 0, 1500)];
    check(&slow, Counts { owed: 1, delivered: 1, ..counts() });
}

#[test]
fn a_stranger_s_copy_is_leaked_and_each_copy_counts() {
    check(
        &[Join(1, 0), Send(1, 0, 500, 500), Get(1, 0, 501), Get(2, 0, 501), Get(2, 0, 502)],
        Counts { owed: 1, delivered: 1, leaked: 2, ..counts() },
    );
}

/// A target under load lets a user in and is seconds late in saying so, or too late.
#[test]
fn copies_between_a_request_to_join_and_its_confirmation_are_no_leak() {
    let asked = [Ask(1, 1000), Send(0, 0, 3000, 3000), Get(1, 0, 3001)];
    check(&asked, Counts { settling: 1, ..counts() });
    check(&[&asked[..], &[Join(1, 6000)]].concat(), Counts { settling: 1, ..counts() });
    check(&[&asked[..], &[Join(1, 2000)]].concat(), Counts { owed: 1, delivered: 1, ..counts() });
    let gave_up = |at| [Ask(1, 1000), Gone(1, 2000), Send(0, 0, 1500, 1500), Get(1, 0, at)];
    check(&gave_up(2100), Counts { settling: 1, ..counts() });
    check(&gave_up(2101), Counts { leaked: 1, ..counts() });
    check(&[Ask(1, 1000), Send(0, 0, 500, 500), Get(1, 0, 899)], Counts { leaked: 1, ..counts() });
}

/// A request that failed takes nothing from the stay that is taken up after it.
#[test]
fn an_unconfirmed_request_between_a_cut_and_its_resumption_changes_nothing() {
    let tried = [Join(1, 0), Cut(1, 700), Ask(1, 800), Gone(1, 900), Ask(1, 1900), Resume(1, 2000)];
    check(
        &[&tried[..], &[Send(0, 0, 1000, 1000), Get(1, 0, 2001)]].concat(),
        Counts { owed: 1, replayed: 1, ..counts() },
    );
}

#[test]
fn further_copies_are_duplicates() {
    check(
        &[Join(1, 0), Send(0, 0, 500, 500), Get(1, 0, 501), Get(1, 0, 501), Get(1, 0, 9000)],
        Counts { owed: 1, delivered: 1, duplicate: 2, ..counts() },
    );
}

#[test]
fn a_copy_over_a_later_connection_is_replayed() {
    let events = |received| {
        [Join(1, 0), Send(0, 0, 500, 500), Leave(1, 700), Gone(1, 700), Join(1, 900), Get(1, 0, received)]
    };
    check(&events(700), Counts { owed: 1, delivered: 1, ..counts() });
    // Replays may come before the new subscription is confirmed.
    check(&events(850), Counts { owed: 1, replayed: 1, ..counts() });
    check(&events(5000), Counts { owed: 1, replayed: 1, ..counts() });
}

#[test]
fn what_was_missed_between_two_stays_is_not_owed_and_not_leaked_when_it_is_caught_up() {
    check(
        &[Join(1, 0), Leave(1, 700), Gone(1, 700), Join(1, 2000), Send(0, 0, 1000, 1000), Get(1, 0, 2001)],
        Counts { settling: 1, ..counts() },
    );
}

/// A cut at 700 and a resumption at 2,000; settle before the cut begins at 600.
const CUT: [Event; 3] = [Join(1, 0), Cut(1, 700), Resume(1, 2000)];

fn after_the_cut(events: &[Event]) -> Vec<Event> {
    CUT.iter().chain(events).copied().collect()
}

#[test]
fn who_resumes_is_owed_everything_sent_since_its_stay_was_owed_nothing_more() {
    for sent in [601, 700, 1000, 1999, 2000, 2050] {
        check(&after_the_cut(&[Send(0, 0, sent, sent)]), Counts { owed: 1, lost: 1, ..counts() });
    }
    // Without resuming, the second stay begins with a settle window, and what was sent before is nobody's.
    for sent in [601, 700, 1000, 1999, 2000, 2050] {
        check(&[Join(1, 0), Cut(1, 700), Join(1, 2000), Send(0, 0, sent, sent)], counts());
    }
}

#[test]
fn what_comes_after_the_cut_is_replayed_and_what_came_before_it_is_not() {
    let got = |at| after_the_cut(&[Send(0, 0, 650, 650), Get(1, 0, at)]);
    check(&got(660), Counts { owed: 1, delivered: 1, ..counts() });
    check(&got(700), Counts { owed: 1, delivered: 1, ..counts() });
    // Replays may come before the subscription is confirmed again, however long that takes.
    for at in [701, 1500, 1999, 2000, 9000] {
        check(&got(at), Counts { owed: 1, replayed: 1, ..counts() });
    }
    let missed = after_the_cut(&[Send(0, 0, 1000, 1000), Get(1, 0, 2001)]);
    check(&missed, Counts { owed: 1, replayed: 1, ..counts() });
    let live = after_the_cut(&[Send(0, 0, 2000, 2000), Get(1, 0, 2001)]);
    check(&live, Counts { owed: 1, delivered: 1, ..counts() });
}

#[test]
fn a_copy_from_before_the_cut_that_is_replayed_is_a_duplicate() {
    for sent in [500, 650] {
        let twice = after_the_cut(&[Send(0, 0, sent, sent), Get(1, 0, sent + 1), Get(1, 0, 2001)]);
        check(&twice, Counts { owed: 1, delivered: 1, duplicate: 1, ..counts() });
    }
}

#[test]
fn who_never_comes_back_or_gives_up_is_owed_as_if_it_had_left() {
    let gone = |events: &[Event]| {
        let sent = [Send(0, 0, 650, 650), Send(0, 1, 1000, 1000), Get(1, 0, 660)];
        let events: Vec<Event> =
            [Join(1, 0), Cut(1, 700)].iter().chain(events).chain(&sent).copied().collect();
        check(&events, Counts { messages: 2, settling: 1, ..counts() });
    };
    gone(&[]);
    gone(&[Leave(1, 1500)]);
    gone(&[Leave(1, 1500), Resume(1, 2000)]);
    gone(&[Join(1, 2000)]);
}

#[test]
fn a_stay_too_short_to_be_owed_anything_is_resumed_from_where_it_would_have_been() {
    let sent = |at| [Join(1, 1000), Cut(1, 1050), Resume(1, 1060), Send(0, 0, at, at)];
    check(&sent(1099), counts());
    check(&sent(1100), Counts { owed: 1, lost: 1, ..counts() });
}

#[test]
fn what_is_owed_of_an_interruption_counts_from_the_resumption_on_and_its_copies_wait_for_it() {
    let mut ledger = Ledger::new(RULES);
    let mut arrivals = Vec::new();
    let mut apply = |ledger: &mut Ledger, events: &[Event], until: i64| {
        ledger.apply(&mut [batch(events)], At(until * MS), |arrival| arrivals.push(arrival));
        ledger.counts()
    };
    let events = [Join(1, 0), Cut(1, 700), Send(0, 0, 650, 650), Get(1, 0, 660), Send(0, 1, 900, 900)];
    let seen = Counts { messages: 2, ..counts() };
    assert_eq!(apply(&mut ledger, &events, 5_000), seen);
    // The replay comes before its confirmation, in another second.
    assert_eq!(apply(&mut ledger, &[Get(1, 1, 5_900)], 6_500), seen);
    let seen = Counts { owed: 2, delivered: 1, replayed: 1, ..seen };
    assert_eq!(apply(&mut ledger, &[Resume(1, 6_600)], 7_000), seen);
    // A second resumption finds the room's messages in order already.
    let events = [Cut(1, 7_500), Send(0, 2, 8_000, 8_000), Send(0, 3, 7_900, 7_900)];
    assert_eq!(apply(&mut ledger, &events, 9_000), Counts { messages: 4, ..seen });
    let seen = Counts { messages: 4, owed: 4, outstanding: 2, ..seen };
    assert_eq!(apply(&mut ledger, &[Resume(1, 9_500)], 10_000), seen);
    assert_eq!(
        ledger.close(At(10_000 * MS), |_| {}),
        Counts { outstanding: 0, lost: 2, never_accepted: 2, ..seen }
    );
    let replays: Vec<_> = arrivals.iter().map(|a| (a.latency_ns, a.replayed)).collect();
    assert_eq!(replays, [(10 * MS, false), (5_000 * MS, true)]);
}

#[test]
fn without_echo_who_resumes_is_owed_what_others_sent() {
    let rules = Rules { echo: false, ..RULES };
    let sent = after_the_cut(&[Send(1, 0, 1000, 1000), Send(0, 1, 1000, 1000)]);
    check_with(rules, &sent, Counts { messages: 2, owed: 1, lost: 1, ..counts() });
    let mut ledger = Ledger::new(rules);
    ledger.apply(&mut [batch(&sent[..2]), batch(&sent[3..])], At(1_500 * MS), |_| {});
    ledger.apply(&mut [batch(&sent[2..3])], At(3_000 * MS), |_| {});
    assert_eq!(ledger.counts(), Counts { messages: 2, owed: 1, outstanding: 1, ..counts() });
}

#[test]
fn a_first_copy_that_comes_after_a_later_message_of_its_sender_is_reordered() {
    let sent = [Join(1, 0), Send(0, 0, 500, 500), Send(0, 1, 510, 510)];
    let swapped = || sent.into_iter().chain([Get(1, 1, 520), Get(1, 0, 521)]).collect::<Vec<_>>();
    check(&swapped(), Counts { messages: 2, owed: 2, delivered: 2, reordered: 1, ..counts() });
    // Its second copy is a duplicate, not another reordering.
    let doubled: Vec<Event> = swapped().into_iter().chain([Get(1, 0, 522)]).collect();
    check(&doubled, Counts { messages: 2, owed: 2, delivered: 2, reordered: 1, duplicate: 1, ..counts() });
}

#[test]
fn messages_of_different_senders_may_come_in_any_order() {
    let events = [Join(1, 0), Send(0, 0, 500, 500), Send(2, 1, 510, 510), Get(1, 1, 520), Get(1, 0, 521)];
    check(&events, Counts { messages: 2, owed: 2, delivered: 2, ..counts() });
}

#[test]
fn a_message_never_acknowledged_owes_only_the_copies_that_came() {
    let with = |ack: Option<bool>| {
        let mut events = vec![Join(1, 0), Join(2, 0), Try(0, 0, 500), Get(1, 0, 510)];
        events.extend(ack.map(|acked| Ack(0, acked)));
        events
    };
    check(&with(Some(true)), Counts { owed: 2, delivered: 1, lost: 1, ..counts() });
    check(&with(Some(false)), Counts { owed: 1, delivered: 1, unknown: 1, ..counts() });
    check(&with(None), Counts { owed: 1, delivered: 1, unknown: 1, ..counts() });
}

#[test]
fn without_echo_the_sender_is_owed_nothing_of_its_own() {
    let rules = Rules { echo: false, ..RULES };
    check_with(
        rules,
        &[Join(1, 0), Join(2, 0), Send(1, 0, 500, 500), Get(1, 0, 501), Get(2, 0, 501)],
        Counts { owed: 1, delivered: 1, settling: 1, ..counts() },
    );
}

#[test]
fn numbers_nobody_sent_are_foreign() {
    let events = [Join(1, 0), Send(0, 0, 500, 500), Get(1, 0, 501), Get(1, 7, 502)];
    check(&events, Counts { owed: 1, delivered: 1, foreign: 1, ..counts() });
}

#[test]
fn a_copy_received_before_its_planned_send_is_counted_and_not_dropped() {
    check(
        &[Join(1, 0), Send(0, 0, 500, 400), Get(1, 0, 450)],
        Counts { owed: 1, delivered: 1, negative: 1, ..counts() },
    );
}

#[test]
fn leaving_and_rejoining_in_one_instant_goes_on_being_a_member() {
    let events = [Join(1, 0), Leave(1, 1000), Gone(1, 1000), Join(1, 1000), Send(0, 0, 3000, 3000)];
    check(&events, Counts { owed: 1, lost: 1, ..counts() });
}

#[test]
fn joining_and_leaving_in_one_instant_leaves_nobody_in_the_room() {
    check(&[Join(1, 1000), Leave(1, 1000), Gone(1, 1000), Send(0, 0, 3000, 3000)], counts());
    check(&[Join(1, 1000), Join(1, 1200), Leave(1, 1300), Send(0, 0, 3000, 3000)], counts());
}

#[test]
fn counts_of_a_running_ledger_lag_by_settle_and_no_more() {
    let mut ledger = Ledger::new(RULES);
    let mut latencies = Vec::new();
    let events = [Join(1, 0), Send(0, 0, 500, 500), Get(1, 0, 950), Send(0, 1, 950, 950)];
    ledger.apply(&mut [batch(&events)], At(1000 * MS), |arrival| latencies.push(arrival.latency_ns));
    assert_eq!(ledger.counts(), Counts { messages: 2, owed: 1, outstanding: 1, ..counts() });
    ledger.apply(&mut [], At(1050 * MS), |arrival| latencies.push(arrival.latency_ns));
    let expected = Counts { messages: 2, owed: 2, delivered: 1, outstanding: 1, ..counts() };
    assert_eq!(ledger.counts(), expected);
    assert_eq!(latencies, [450 * MS]);
}

#[test]
fn a_second_merged_late_is_counted_as_far_as_it_still_can_be() {
    for event in [Send(0, 0, 1000, 1000), Try(0, 0, 1000)] {
        let mut ledger = Ledger::new(RULES);
        ledger.apply(&mut [batch(&[event])], At(2000 * MS), |_| {});
        assert_eq!(ledger.counts(), counts(), "nobody was in when the message was judged");
        let late = batch(&[Join(1, 0), Get(1, 0, 1005)]);
        ledger.apply(&mut [late], At(3000 * MS), |_| {});
        let seen = Counts { delivered: 1, ..counts() };
        assert_eq!(ledger.counts(), seen, "a copy nobody was known to be owed leaves nothing outstanding");
        assert_eq!(ledger.close(At(3000 * MS), |_| {}), seen);
    }
}

#[test]
fn a_message_that_has_come_to_everybody_is_forgotten_and_its_further_copies_are_judged_as_before() {
    let ms = |at: i64| At(at * MS);
    let mut ledger = Ledger::remembering(RULES, 0);
    let mut batch = Batch::default();
    batch.moves.extend([(1, 0), (2, 0), (3, 9_000)].map(|(member, at)| Moved {
        member,
        room: 0,
        at: ms(at),
        what: Move::Join,
    }));
    let sent = |number: u32, at| Sent {
        room: 0,
        number,
        sender: 1,
        planned: ms(at),
        started: ms(at),
        acked: Some(true),
    };
    batch.sent.extend([sent(0, 1_000), sent(1, 1_500)]);
    let copy = |member, number, at| Received { at: ms(at), member, room: 0, number };
    batch.received.extend([copy(1, 0, 1_001), copy(2, 0, 1_002), copy(1, 1, 1_501)]);
    ledger.apply(&mut [batch], ms(5_000), |_| ());
    let mut later = Batch::default();
    // A copy again; one for who came later; one for nobody of this room; the one that was missing, out of order with
    // nothing.
    later.received.extend([copy(2, 0, 10_000), copy(3, 0, 10_000), copy(4, 0, 10_000), copy(2, 1, 10_001)]);
    ledger.apply(&mut [later], ms(20_000), |_| ());
    let counts = ledger.close(ms(30_000), |_| ());
    assert_eq!((counts.owed, counts.delivered + counts.late, counts.lost), (4, 4, 0));
    assert_eq!((counts.duplicate, counts.settling, counts.leaked, counts.reordered), (1, 1, 1, 0));
}
