//! Redis: its one thread is full, it refuses clients, or it throws keys away for want of memory.

use super::{Ruling, evidence, percent, unmeasured};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::{Remedy, remedy};

/// A thread that runs this much of the time has a queue in front of it.
const FULL: f64 = 0.9;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.has("redis.cpu") && !case.has("redis.clients") {
        return unmeasured("Redis");
    }
    let full = case.saturated("redis.cpu", FULL);
    let rejected = case.total("redis.rejected").unwrap_or(0.0);
    let evicted = case.total("redis.evicted").unwrap_or(0.0);
    let mut found = Vec::new();
    let mut remedies: Vec<Remedy> = Vec::new();
    let mut onset_s = usize::MAX;
    if rejected > 0.0 {
        let limit = case.peak("redis.clients.limit").unwrap_or(0.0);
        let text =
            format!("{rejected:.0} connections refused, for there may be {limit:.0} clients (maxclients)");
        found.push(evidence("redis.rejected", text));
        onset_s = onset_s.min(case.first("redis.rejected"));
        remedies.extend([
            remedy(
                "share connections: one or a small pool for each process, not one for each user or subscription",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy("raise maxclients, and LimitNOFILE of Redis with it", [3, 3, 3, 3, 2, 3, 3]),
        ]);
    }
    if let Some(full) = full {
        let text = format!("its thread used {} of a core, from {} s on", percent(full.level), full.onset_s);
        found.push(evidence("redis.cpu", text));
        if let Some(operations) = case.level("redis.operations") {
            found.push(evidence("redis.operations", format!("{operations:.0} commands a second")));
        }
        found
            .extend(case.told("` took ").map(|(at, text)| evidence("events", format!("{text} (at {at} s)"))));
        onset_s = onset_s.min(full.onset_s);
        remedies.extend([
            remedy(
                "take what is slow out of it: SLOWLOG GET, no KEYS, no HGETALL and LRANGE of what has grown large",
                [3, 2, 3, 3, 3, 3, 3],
            ),
            remedy(
                "fewer commands: pipelines, MGET, a cache in the process; publish once a room, not once a user",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy("a second Redis (sharded pub/sub, a cluster), as one uses one core", [3, 1, 2, 2, 3, 3, 2]),
        ]);
    }
    if evicted > 0.0 {
        found.push(evidence(
            "redis.evicted",
            format!("{evicted:.0} keys evicted for want of memory (maxmemory)"),
        ));
        onset_s = onset_s.min(case.first("redis.evicted"));
        remedies.extend([
            remedy("raise maxmemory, or let keys expire sooner", [2, 3, 2, 2, 2, 2, 3]),
            remedy(
                "keep sessions and queues in a Redis that evicts nothing (noeviction)",
                [2, 2, 2, 2, 3, 3, 3],
            ),
        ]);
    }
    if found.is_empty() {
        let peak = case.peak("redis.cpu").unwrap_or(0.0);
        return Ruling::RuledOut(format!(
            "Redis used {} of a core at most, refused nobody and evicted nothing",
            percent(peak)
        ));
    }
    let (title, confidence) = match (rejected > 0.0, full.is_some()) {
        (true, _) => ("Redis refused connections.", Confidence::Certain),
        (_, true) => ("Redis's only thread was full.", Confidence::Likely),
        _ => ("Redis evicted keys for want of memory.", Confidence::Possible),
    };
    Ruling::Fires(Finding {
        id: "redis",
        title: title.to_owned(),
        confidence,
        onset_s,
        evidence: found,
        remedies,
    })
}
