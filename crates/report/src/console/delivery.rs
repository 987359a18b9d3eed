//! The section on deliveries: what arrived of what was owed, where the lost copies were, what came besides.

use super::some;
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
    let deliveries = if counts.owed == 1 { "delivery" } else { "deliveries" };
    let expected = format!("{} of {} expected {deliveries}", percent(delivery.ratio), count(counts.owed));
    let messages = counted(counts.messages, "message");
    page.entry("delivery", tone, &format!("{expected} of {messages} received"));
    let mut owed = vec![format!("{} delivered", count(counts.delivered))];
    if counts.late > 0 {
        owed.push(format!("{} late (after {})", count(counts.late), milliseconds(delivery.deadline_ms)));
    }
    owed.extend(some(&[(counts.replayed, "replayed")]));
    owed.push(match counts.lost {
        0 => "0 lost".to_string(),
        lost => format!("{} lost ({})", count(lost), share(lost, counts.owed)),
    });
    owed.extend(some(&[(counts.outstanding, "outstanding")]));
    page.more(&items(&owed));
    lost(page, counts);
    beside(page, counts);
}

/// Where the lost copies were.
fn lost(page: &mut Page, counts: &Counts) {
    let parts = some(&[
        (counts.lost_tail, "with nothing after them"),
        (counts.lost_gap, "before others that arrived"),
        (counts.never_accepted, "of messages that reached nobody"),
    ]);
    if !parts.is_empty() {
        page.more(&format!("lost: {}", items(&parts)));
    }
}

/// Counts shown beside the owed copies: duplicates, out of order, leaked, …
fn beside(page: &mut Page, counts: &Counts) {
    let beside = some(&[
        (counts.duplicate, if counts.duplicate == 1 { "duplicate" } else { "duplicates" }),
        (counts.reordered, "out of order"),
        (counts.leaked, "leaked"),
        (counts.unknown, "unknown (send not acknowledged)"),
        (counts.settling, "ignored (near a join or leave)"),
        (counts.foreign, "of other runs"),
        (counts.negative, "with a negative latency"),
    ]);
    if !beside.is_empty() {
        page.more(&items(&beside));
    }
}
