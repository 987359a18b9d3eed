//! The ledger against a reference that is obviously right: everything known at once, every copy against every stay.

use proptest::prelude::*;
use sonagi_measure::At;
use sonagi_measure::ledger::{
    Arrival, Batch, Counts, Departed, Ledger, Move, Moved, Received, Rules, Sent, Settled,
};

const MS: i64 = 1_000_000;

/// A membership in the model (ms).
#[derive(Clone, Copy, Debug)]
struct Stay {
    member: u32,
    room: u32,
    /// When it asked to be let in; `joined` where nobody said so.
    asked: i64,
    joined: i64,
    left: Option<i64>,
    gone: Option<i64>,
    /// Whether its member meant to come back, and when it gave up.
    interrupted: bool,
    gave_up: Option<i64>,
    /// Whether its member asked for what it had missed.
    resumes: bool,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    room: u32,
    number: u32,
    sender: u32,
    planned: i64,
    started: i64,
    /// When the sender's shard wrote it down.
    told: i64,
    acked: Option<bool>,
    settled: Option<(i64, bool)>,
}

#[derive(Clone, Copy, Debug)]
struct Copy {
    at: i64,
    member: u32,
    room: u32,
    number: u32,
}

#[derive(Clone, Debug)]
struct History {
    rules: Rules,
    stays: Vec<Stay>,
    /// (member, room, asked, gone) of requests that were never confirmed.
    refused: Vec<(u32, u32, i64, i64)>,
    /// (member, room, at) of every closed connection.
    gone: Vec<(u32, u32, i64)>,
    messages: Vec<Message>,
    /// In the order each member received them.
    copies: Vec<Copy>,
    members: u32,
}

impl Stay {
    fn last_owed(&self, settle: i64) -> i64 {
        match (self.left, self.gone) {
            (None, _) => i64::MAX,
            (Some(left), Some(gone)) if left == gone => left - settle,
            (Some(left), _) => left,
        }
    }

    fn takes_up(&self, before: &Stay) -> bool {
        self.resumes && before.interrupted && before.gave_up.is_none()
    }
}

/// The stay a message was sent to, if it is owed. Stays that take up one another owe as one: nothing between them is
/// missing.
fn owed(stays: &[Stay], started: i64, settle: i64) -> Option<Stay> {
    stays.chunk_by(|before, next| next.takes_up(before)).find_map(|chain| {
        let covering = chain.iter().position(|stay| started <= stay.last_owed(settle))?;
        let begun = |stay: &&Stay| stay.joined <= started;
        let is_owed = chain[0].joined + settle <= started;
        chain[..=covering].iter().rfind(begun).filter(|_| is_owed).copied()
    })
}

/// Whether the receiver was in the copy's room, was asking to be let in, or was within settle of either.
fn was_near(h: &History, copy: &Copy, settle: i64) -> bool {
    let stays = h.stays.iter().map(|s| (s.member, s.room, s.asked, s.gone.unwrap_or(i64::MAX - settle)));
    stays.chain(h.refused.iter().copied()).any(|(member, room, asked, gone)| {
        (member, room) == (copy.member, copy.room) && (asked - settle..=gone + settle).contains(&copy.at)
    })
}

fn reference(h: &History) -> (Counts, Vec<Arrival>) {
    let (settle, deadline) = (h.rules.settle_ns / MS, h.rules.deadline_ns / MS);
    let owed = |member: u32, m: &Message| {
        let own = m.sender == member && !h.rules.echo;
        let mine = |s: &&Stay| s.member == member && s.room == m.room;
        let stays: Vec<Stay> = h.stays.iter().filter(mine).copied().collect();
        if own { None } else { owed(&stays, m.started, settle) }
    };
    let mut c = Counts { messages: h.messages.len() as u64, ..Counts::default() };
    let mut arrivals = Vec::new();
    for (i, copy) in h.copies.iter().enumerate() {
        let same = |m: &&Message| m.room == copy.room && m.number == copy.number;
        let Some(message) = h.messages.iter().find(same) else {
            c.foreign += 1;
            continue;
        };
        if message.sender == copy.member && !h.rules.echo {
            c.settling += 1;
            continue;
        }
        let mine = |s: &&Stay| s.member == copy.member && s.room == copy.room;
        let Some(stay) = owed(copy.member, message) else {
            *if was_near(h, copy, settle) { &mut c.settling } else { &mut c.leaked } += 1;
            continue;
        };
        let before = || h.copies[..i].iter().filter(|b| b.member == copy.member && b.room == copy.room);
        if before().any(|b| b.number == copy.number) {
            c.duplicate += 1;
            continue;
        }
        let overtook = |b: &Copy| {
            let other = h.messages.iter().find(|m| m.room == b.room && m.number == b.number);
            other.is_some_and(|m| {
                m.sender == message.sender && m.number > message.number && owed(copy.member, m).is_some()
            })
        };
        c.reordered += u64::from(before().any(overtook));
        let latency = copy.at - message.planned;
        let later = h.stays.iter().filter(mine).any(|s| s.joined > stay.joined && copy.at >= s.joined);
        let replayed = later || stay.gone.is_some_and(|gone| copy.at > gone);
        let class = if replayed {
            &mut c.replayed
        } else if latency > deadline {
            &mut c.late
        } else {
            &mut c.delivered
        };
        *class += 1;
        arrivals.push(Arrival { at: At(copy.at * MS), latency_ns: latency * MS, replayed });
    }
    for message in &h.messages {
        let acked = message.settled.map_or(message.acked, |(_, acked)| Some(acked)) == Some(true);
        for member in (0..h.members).filter(|&member| owed(member, message).is_some()) {
            let came = h.copies.iter().any(|copy| {
                copy.member == member && copy.room == message.room && copy.number == message.number
            });
            if came || acked {
                c.owed += 1;
            }
            c.lost_own += u64::from(!came && acked && member == message.sender);
            if !came {
                *if acked { &mut c.lost } else { &mut c.unknown } += 1;
            }
            if !came && acked {
                where_lost(h, &owed, member, message, &mut c);
            }
        }
    }
    (c, arrivals)
}

/// Whether nothing came of a message, nothing after it to this member, or nothing before it since the member joined.
fn where_lost(
    h: &History,
    owed: &impl Fn(u32, &Message) -> Option<Stay>,
    member: u32,
    message: &Message,
    c: &mut Counts,
) {
    let reached = |member: u32, m: &Message| {
        let mut copies = h.copies.iter();
        owed(member, m).is_some()
            && copies.any(|copy| (copy.member, copy.room, copy.number) == (member, m.room, m.number))
    };
    if !(0..h.members).any(|member| reached(member, message)) {
        c.never_accepted += 1;
        return;
    }
    let here = || h.messages.iter().filter(|m| m.room == message.room && reached(member, m));
    if here().all(|m| m.started < message.started) {
        c.lost_tail += 1;
        return;
    }
    c.lost_gap += 1;
    let stays: Vec<Stay> =
        h.stays.iter().filter(|s| s.member == member && s.room == message.room).copied().collect();
    let settle = h.rules.settle_ns / MS;
    let begins = stays.chunk_by(|before, next| next.takes_up(before)).map(|chain| chain[0]);
    // What comes after the first stay of a chain is owed because that one was interrupted, not because somebody joined.
    let first_of = |at: i64| {
        begins.clone().find(|s| s.joined + settle <= at && at <= s.last_owed(settle)).map(|s| s.joined)
    };
    if let Some(joined) = first_of(message.started) {
        let mut of_stay = here().filter(|m| first_of(m.started) == Some(joined)).peekable();
        let is_early = of_stay.peek().is_some() && of_stay.all(|m| m.started > message.started);
        c.lost_after_join += u64::from(is_early);
    }
}

/// Feeds the history to a ledger in batches cut at `cuts`, members spread over `shards`. Some batches come too early,
/// as a shard that has ended hands over its last one, and all of them in any order.
fn ledger(h: &History, shards: u32, cuts: &[i64], rng: &mut fastrand::Rng) -> (Counts, Vec<Arrival>) {
    let ends: Vec<i64> = cuts.iter().copied().chain([i64::MAX]).collect();
    let mut given: Vec<Vec<Batch>> = ends.iter().map(|_| Vec::new()).collect();
    let mut from = i64::MIN;
    for (i, &until) in ends.iter().enumerate() {
        for shard in 0..shards {
            let early = [0, 0, rng.usize(0..3)][rng.usize(0..3)];
            given[i.saturating_sub(early)].push(batch(h, shard, shards, |at| from < at && at <= until));
        }
        from = until;
    }
    // The time of forgetting must not show: as soon as a message of then can no longer be reported, a little later, or
    // never.
    let remembered = [200 * MS, 300 * MS, 60_000 * MS][rng.usize(..3)];
    let mut ledger = Ledger::remembering(h.rules, remembered);
    let mut arrivals = Vec::new();
    for (mut batches, until) in given.into_iter().zip(ends) {
        rng.shuffle(&mut batches);
        ledger.apply(&mut batches, At(until.saturating_mul(MS)), |arrival| arrivals.push(arrival));
        let c = ledger.counts();
        assert_eq!(c.owed, c.delivered + c.late + c.replayed + c.lost + c.outstanding);
    }
    (ledger.close(At(i64::MAX), |arrival| arrivals.push(arrival)), arrivals)
}

fn batch(h: &History, shard: u32, shards: u32, now: impl Fn(i64) -> bool) -> Batch {
    let here = |member: u32| member % shards == shard;
    let at = |ms: i64| At(ms * MS);
    let mut batch = Batch::default();
    for s in h.stays.iter().filter(|s| here(s.member)) {
        let Stay { member, room, .. } = *s;
        let mut moved = |ms, what| batch.moves.push(Moved { member, room, at: at(ms), what });
        if s.asked < s.joined && now(s.asked) {
            moved(s.asked, Move::Ask);
        }
        if now(s.joined) {
            moved(s.joined, if s.resumes { Move::Resume } else { Move::Join });
        }
        if let Some(left) = s.left.filter(|&left| now(left)) {
            moved(left, if s.interrupted { Move::Interrupt } else { Move::Leave });
        }
        if let Some(gave_up) = s.gave_up.filter(|&gave_up| now(gave_up)) {
            moved(gave_up, Move::Leave);
        }
    }
    for &(member, room, asked, _) in h.refused.iter().filter(|r| here(r.0) && now(r.2)) {
        batch.moves.push(Moved { member, room, at: at(asked), what: Move::Ask });
    }
    for &(member, room, gone) in h.gone.iter().filter(|g| here(g.0) && now(g.2)) {
        batch.moves.push(Moved { member, room, at: at(gone), what: Move::Go });
    }
    for (member, last) in departures(h).filter(|&(member, last)| here(member) && now(last)) {
        batch.departed.push(Departed { member, at: at(last) });
    }
    for m in h.messages.iter().filter(|m| here(m.sender)) {
        if now(m.told) {
            let Message { room, number, sender, acked, .. } = *m;
            let (planned, started) = (at(m.planned), at(m.started));
            batch.sent.push(Sent { room, number, sender, planned, started, acked });
        }
        if let Some((_, acked)) = m.settled.filter(|&(when, _)| now(when)) {
            batch.settled.push(Settled { room: m.room, number: m.number, acked });
        }
    }
    for c in h.copies.iter().filter(|c| here(c.member) && now(c.at)) {
        batch.received.push(Received { at: at(c.at), member: c.member, room: c.room, number: c.number });
    }
    batch
}

/// Members that leave for good, at the last instant anything is heard of them: nobody that is in or may come back.
fn departures(h: &History) -> impl Iterator<Item = (u32, i64)> {
    (0..h.members).filter_map(|member| {
        let stays = || h.stays.iter().filter(|s| s.member == member);
        if stays().any(|s| s.gone.is_none()) {
            return None;
        }
        let moves = h.gone.iter().filter(|g| g.0 == member).map(|g| g.2);
        let gave_up = stays().filter_map(|s| s.gave_up);
        let copies = h.copies.iter().filter(|c| c.member == member).map(|c| c.at);
        let sent = h.messages.iter().filter(|m| m.sender == member).map(|m| m.told);
        let last = moves.chain(gave_up).chain(copies).chain(sent).max()?;
        // Some never say so.
        (last % 4 != 0).then_some((member, last))
    })
}

/// A random history from one seed: small numbers of everything, so that instants coincide and borders are hit.
fn history(seed: u64, rules: Rules) -> History {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (members, rooms) = (rng.u32(1..6), rng.u32(1..3));
    let mut h = History {
        rules,
        stays: vec![],
        refused: vec![],
        gone: vec![],
        messages: vec![],
        copies: vec![],
        members: members + 1,
    };
    for (member, room) in (0..members).flat_map(|m| (0..rooms).map(move |r| (m, r))) {
        connections(&mut h, &mut rng, member, room);
    }
    for room in 0..rooms {
        messages(&mut h, &mut rng, room);
    }
    // Where nothing is missing, messages are forgotten as the run goes on.
    let fewest = usize::from(rng.bool());
    for message in h.messages.clone() {
        for member in 0..h.members {
            for _ in 0..[0, 1, 1, 1, 1, 2, 3][rng.usize(fewest..7)] {
                let at = message.started + [rng.i64(0..3), rng.i64(0..40), rng.i64(0..250)][rng.usize(0..3)];
                h.copies.push(Copy { at, member, room: message.room, number: message.number });
            }
        }
    }
    for _ in 0..rng.usize(0..4) {
        let (at, member) = (rng.i64(0..400), rng.u32(0..h.members));
        h.copies.push(Copy { at, member, room: rng.u32(0..9), number: rng.u32(1000..2000) });
    }
    rng.shuffle(&mut h.copies);
    h.copies.sort_by_key(|copy| copy.at);
    h
}

fn connections(h: &mut History, rng: &mut fastrand::Rng, member: u32, room: u32) {
    let mut now = rng.i64(0..100);
    for _ in 0..rng.usize(0..4) {
        let first = h.stays.len();
        for _ in 0..rng.usize(1..3) {
            let asked = now;
            now += [0, rng.i64(0..30)][rng.usize(0..2)];
            let joined = now;
            now += rng.i64(1..120);
            let left = now;
            now += [0, rng.i64(0..40)][rng.usize(0..2)];
            // Only while it is out: what happens in one instant has an order of its own.
            let gave_up = (now > left + 1 && rng.u8(0..4) == 0).then_some(left + 1);
            let (interrupted, resumes) = (rng.bool(), rng.bool());
            h.stays.push(Stay {
                member,
                room,
                asked,
                joined,
                left: Some(left),
                gone: None,
                interrupted,
                gave_up,
                resumes,
            });
        }
        let last = h.stays.last_mut().unwrap();
        match rng.usize(0..4) {
            // Still in at the end, or left without ever closing: no further connection.
            0 => return (last.left, last.gave_up) = (None, None),
            1 => return,
            // Cut, or drained and closed.
            n => now = if n == 2 { last.left.unwrap() } else { now },
        }
        h.gone.push((member, room, now));
        h.stays[first..].iter_mut().for_each(|stay| stay.gone = Some(now));
        now += [0, rng.i64(0..60)][rng.usize(0..2)];
        let last = h.stays.last_mut().unwrap();
        last.gave_up = last.gave_up.filter(|&gave_up| gave_up < now);
        if rng.u8(0..4) == 0 {
            let asked = now;
            now += rng.i64(1..40);
            h.refused.push((member, room, asked, now));
            h.gone.push((member, room, now));
            // Events of one instant have an order of their own.
            now += 1;
        }
    }
}

fn messages(h: &mut History, rng: &mut fastrand::Rng, room: u32) {
    let mut starts: Vec<i64> = (0..rng.usize(0..25)).map(|_| rng.i64(0..350)).collect();
    starts.sort_unstable();
    // Numbers are drawn before sending: neighbours may overtake each other; some are drawn and never sent.
    for _ in 0..rng.usize(0..4) {
        if starts.len() > 1 {
            let i = rng.usize(1..starts.len());
            starts.swap(i - 1, i);
        }
    }
    for (number, started) in (0u32..).zip(starts) {
        if rng.u8(0..10) == 0 {
            continue;
        }
        let told = started + [0, rng.i64(0..200)][rng.usize(0..2)];
        let acked = [None, Some(true), Some(true), Some(false)][rng.usize(0..4)];
        let settled = (acked != Some(false) && rng.bool()).then(|| (told + rng.i64(0..100), rng.bool()));
        let (sender, planned) = (rng.u32(0..h.members), started - rng.i64(0..60));
        h.messages.push(Message { room, number, sender, planned, started, told, acked, settled });
    }
}

fn sorted(arrivals: Vec<Arrival>) -> Vec<(At, i64, bool)> {
    let mut all: Vec<_> = arrivals.iter().map(|a| (a.at, a.latency_ns, a.replayed)).collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_ledger_counts_as_the_reference_does_however_the_run_is_cut_into_batches(
        seed: u64,
        settle in 0i64..15,
        deadline in 0i64..80,
        echo: bool,
        shards in 1u32..4,
        mut cuts in proptest::collection::vec(-5i64..700, 0..12),
    ) {
        let rules = Rules { deadline_ns: deadline * MS, settle_ns: settle * MS, echo };
        let h = history(seed, rules);
        cuts.sort_unstable();
        let (expected, arrivals) = reference(&h);
        let (counted, judged) = ledger(&h, shards, &cuts, &mut fastrand::Rng::with_seed(seed));
        prop_assert_eq!(counted, expected, "{:#?}", h);
        prop_assert_eq!(sorted(judged), sorted(arrivals));
    }
}
