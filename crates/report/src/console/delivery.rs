//! The section on deliveries: what arrived of what was owed, where the lost copies were, what came besides.

use crate::figures::{count, counted, milliseconds, percent, share};
use crate::page::{Page, Tone, items};
use sonagi_measure::ledger::Counts;
use sonagi_measure::summary::Delivery;
use sonagi_measure::verdict::nothing_owed;

/// The section of a run that tracks delivery.
pub(super) fn section(page: &mut Page, delivery: &Delivery) {
    let counts = &delivery.counts;
    page.blank();
    let tone = if counts.lost == 0 { Tone::Good } else { Tone::Bad };
    if let Some(why) = nothing_owed(counts) {
        page.entry("delivery", Tone::Doubtful, &why);
        return beside(page, counts);
    }
    page.entry(
        "delivery",
        tone,
        &format!(
            "{} of {} expected {} of {} received",
            percent(delivery.ratio),
            count(counts.owed),
            if counts.owed == 1 { "delivery" } else { "deliveries" },
            counted(counts.messages, "message")
        ),
    );
    let mut owed = vec![format!("{} delivered", count(counts.delivered))];
    if counts.late > 0 {
        owed.push(format!("{} late (after {})", count(counts.late), milliseconds(delivery.deadline_ms)));
    }
    if counts.replayed > 0 {
        owed.push(format!("{} replayed", count(counts.replayed)));
    }
    owed.push(match counts.lost {
        0 => "0 lost".to_string(),
        lost => format!("{} lost ({})", count(lost), share(lost, counts.owed)),
    });
    if counts.outstanding > 0 {
        owed.push(format!("{} outstanding", count(counts.outstanding)));
    }
    page.more(&items(&owed));
    lost(page, counts);
    beside(page, counts);
}

/// Where the lost copies were.
fn lost(page: &mut Page, counts: &Counts) {
    let parts = [
        (counts.lost_tail, "with nothing after them"),
        (counts.lost_gap, "before others that arrived"),
        (counts.never_accepted, "of messages that reached nobody"),
    ];
    let parts: Vec<_> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, place)| format!("{} {place}", count(*n))).collect();
    if !parts.is_empty() {
        page.more(&format!("lost: {}", items(&parts)));
    }
}

/// Counts shown beside the owed copies: duplicates, out of order, leaked, …
fn beside(page: &mut Page, counts: &Counts) {
    let beside = [
        (counts.duplicate, if counts.duplicate == 1 { "duplicate" } else { "duplicates" }),
        (counts.reordered, "out of order"),
        (counts.leaked, "leaked"),
        (counts.unknown, "unknown (send not acknowledged)"),
        (counts.settling, "ignored (near a join or leave)"),
        (counts.foreign, "of other runs"),
        (counts.negative, "with a negative latency"),
    ];
    let beside: Vec<_> =
        beside.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(*n))).collect();
    if !beside.is_empty() {
        page.more(&items(&beside));
    }
}
