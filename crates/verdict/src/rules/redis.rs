//! Redis: its one thread is full, it refuses clients, or it throws keys away for want of memory.

use super::{Ruling, evidence, percent, unmeasured, whole};
use crate::case::Case;
use crate::diagnosis::{Confidence, Finding};
use crate::remedy::remedy;

/// A thread that runs this much of the time has a queue in front of it.
const FULL: f64 = 0.9;

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if !case.has("redis.cpu") && !case.has("redis.clients") {
        return unmeasured("Redis");
    }
    // The gravest first: it gives the finding its title.
    let mut signs = [refused(case), full(case), evicted(case)].into_iter().flatten();
    let Some(mut first) = signs.next() else {
        let peak = case.peak("redis.cpu").unwrap_or(0.0);
        return Ruling::RuledOut(format!(
            "Redis used {} of a core at most, refused nobody and evicted nothing",
            percent(peak)
        ));
    };
    for other in signs {
        first.onset_s = first.onset_s.min(other.onset_s);
        first.evidence.extend(other.evidence);
        first.remedies.extend(other.remedies);
    }
    Ruling::Fires(first)
}

fn finding(title: &str, confidence: Confidence, onset_s: usize) -> Finding {
    let (evidence, remedies) = (Vec::new(), Vec::new());
    Finding { id: "redis", title: title.to_owned(), confidence, onset_s, evidence, remedies }
}

fn refused(case: &Case<'_>) -> Option<Finding> {
    let rejected = case.total("redis.rejected").filter(|count| *count > 0.0)?;
    let limit = case.peak("redis.clients.limit").unwrap_or(0.0);
    let text = format!(
        "{rejected} connections refused, for there may be {limit} clients (maxclients)",
        rejected = whole(rejected),
        limit = whole(limit)
    );
    Some(Finding {
        evidence: vec![evidence("redis.rejected", text)],
        remedies: vec![
            remedy(
                "share connections: one or a small pool for each process, not one for each user or subscription",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy("raise maxclients, and LimitNOFILE of Redis with it", [3, 3, 3, 3, 2, 3, 3]),
        ],
        ..finding("Redis refused connections.", Confidence::Certain, case.first("redis.rejected"))
    })
}

fn full(case: &Case<'_>) -> Option<Finding> {
    let full = case.saturated("redis.cpu", FULL)?;
    let text = format!("its thread used {} of a core, from {} s on", percent(full.level), full.onset_s);
    let mut found = vec![evidence("redis.cpu", text)];
    if let Some(operations) = case.level("redis.operations") {
        found.push(evidence(
            "redis.operations",
            format!("{operations} commands a second", operations = whole(operations)),
        ));
    }
    found.extend(case.told("` took ").map(|(at, text)| evidence("events", format!("{text} (at {at} s)"))));
    Some(Finding {
        evidence: found,
        remedies: vec![
            remedy(
                "take what is slow out of it: SLOWLOG GET, no KEYS, no HGETALL and LRANGE of what has grown large",
                [3, 2, 3, 3, 3, 3, 3],
            ),
            remedy(
                "fewer commands: pipelines, MGET, a cache in the process; publish once a room, not once a user",
                [3, 2, 3, 3, 3, 3, 2],
            ),
            remedy(
                "a second Redis (sharded pub/sub, a cluster), as one uses one core",
                [3, 1, 2, 2, 3, 3, 2],
            ),
        ],
        ..finding("Redis's only thread was full.", Confidence::Likely, full.onset_s)
    })
}

fn evicted(case: &Case<'_>) -> Option<Finding> {
    let evicted = case.total("redis.evicted").filter(|count| *count > 0.0)?;
    let text = format!("{evicted} keys evicted for want of memory (maxmemory)", evicted = whole(evicted));
    let title = "Redis evicted keys for want of memory.";
    Some(Finding {
        evidence: vec![evidence("redis.evicted", text)],
        remedies: vec![
            remedy("raise maxmemory, or let keys expire sooner", [2, 3, 2, 2, 2, 2, 3]),
            remedy(
                "keep sessions and queues in a Redis that evicts nothing (noeviction)",
                [2, 2, 2, 2, 3, 3, 3],
            ),
        ],
        ..finding(title, Confidence::Possible, case.first("redis.evicted"))
    })
}
