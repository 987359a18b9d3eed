use super::*;
use crate::config::Limits;
use crate::rooms::peer::{Newcomer, Peers, Ping};

fn newcomer() -> Newcomer {
    Newcomer { ping: Ping::WebSocket, queue_bytes: 10_000, ..Newcomer::default() }
}

fn room(published: u64, recent_messages: usize) -> Arc<Room> {
    let keeping = Keeping { settle: None, recent_messages, recent_bytes: 100_000, is_shared: false };
    let row = RoomRow {
        key: 1,
        id: "lobby".into(),
        access: Access::Group,
        last: published,
        oldest: published + 1,
        is_used: false,
    };
    Arc::new(Room::new(row, 1, None, keeping))
}

fn message(seq: u64) -> Message {
    Message::new(seq, seq, 3, &seq.to_string(), 9)
}

/// The numbers and words that were queued, in order.
fn got(peer: &Peer) -> Vec<String> {
    let mut frames = std::collections::VecDeque::new();
    peer.outbox.take(&mut frames);
    let text = frames.iter().map(|frame| String::from_utf8_lossy(frame)).collect::<String>();
    let numbers = (1..=30).map(|seq| format!("\"seq\":{seq},"));
    let words: Vec<String> = numbers.chain(["left", "ack", "hello"].map(str::to_owned)).collect();
    let mut found: Vec<_> = words.iter().flat_map(|word| text.match_indices(word.as_str())).collect();
    found.sort_unstable();
    let bare = |word: &str| word.trim_start_matches("\"seq\":").trim_end_matches(',').to_owned();
    found.into_iter().map(|(_, word)| bare(word)).collect()
}

#[test]
fn who_joins_or_leaves_while_copies_are_written_does_not_wait_and_gets_what_it_was_told() {
    let (peers, metrics) = (Peers::default(), Metrics::default());
    let peer = || peers.add(newcomer(), 1, &Limits::default());
    let (stays, leaves, returns, joins) = (peer(), peer(), peer(), peer());
    let room = room(6, 0);
    let join = |peer: &Arc<Peer>| {
        let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
        let mut seq = 0;
        let greet = |joined: &Joined<'_>| {
            seq = joined.seq;
            None
        };
        assert_eq!(room.enter(&member, Start::Now, false, &mut { greet }, &metrics), Entered::Member);
        seq
    };
    for member in [&stays, &leaves, &returns] {
        assert_eq!(join(member), 6);
    }
    let publish = |seq| {
        let left = Bytes::from_static(b"ack");
        let ack = |peer: &Arc<Peer>| Ack { peer: peer.clone(), frame: left.clone(), given: false };
        // One sender is a member that leaves: it is not told by its copy.
        let mut acks = [ack(&leaves), ack(&stays)];
        let receivers = room.publish(&[message(seq)], &mut acks, &metrics);
        (receivers, acks.map(|ack| (ack.peer.id, ack.given)))
    };
    std::thread::scope(|scope| {
        let held = stays.outbox.held();
        let published = scope.spawn(|| publish(7));
        // The lock itself is tried: to wait for it would wait for the fan-out.
        let begun = (0..20_000_000).any(|_| {
            std::thread::yield_now();
            room.state.try_lock().is_ok_and(|state| state.published == 7)
        });
        assert!(begun, "the room can be asked while copies are written");
        for leaver in [&leaves, &returns] {
            leaver.leave(&room, &metrics);
            leaver.outbox.push(Bytes::from_static(b"left"));
        }
        assert_eq!((join(&joins), join(&returns)), (7, 7));
        drop(held);
        assert_eq!(published.join().unwrap(), (1, [(stays.id, true), (leaves.id, false)]));
    });
    assert_eq!(publish(8), (3, [(stays.id, true), (leaves.id, false)]));
    assert_eq!(got(&stays), ["7", "ack", "8", "ack"]);
    assert_eq!(got(&leaves), ["left"]);
    assert_eq!(got(&returns), ["left", "8"]);
    assert_eq!(got(&joins), ["8"]);
}

#[test]
fn whoever_comes_back_is_greeted_then_told_what_it_missed_and_is_a_member_in_one() {
    let (peers, metrics) = (Peers::default(), Metrics::default());
    let room = room(6, 4);
    for seq in 7..=12 {
        room.publish(&[message(seq)], &mut [], &metrics);
    }
    let check = |start: Start, entered: Entered, gap: Option<Gap>, expected: &[&str]| {
        let peer = peers.add(newcomer(), 1, &Limits::default());
        let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
        let greet = |joined: &Joined<'_>| {
            assert_eq!((joined.seq, joined.gap), (12, gap), "{start:?}");
            Some(Bytes::from_static(b"hello"))
        };
        assert_eq!(room.enter(&member, start, false, &mut { greet }, &metrics), entered, "{start:?}");
        assert_eq!(got(&peer), expected, "{start:?}");
        let is_member = lock(&room.state).members.iter().any(|there| Arc::ptr_eq(there, &member));
        assert_eq!(is_member, entered == Entered::Member, "{start:?}");
        peer.leave_all(&metrics);
    };
    check(Start::Now, Entered::Member, None, &["hello"]);
    check(Start::After(12), Entered::Member, None, &["hello"]);
    check(Start::After(10), Entered::Member, None, &["hello", "11", "12"]);
    check(Start::After(8), Entered::Member, None, &["hello", "9", "10", "11", "12"]);
    check(Start::After(7), Entered::Behind { after: 7, upto: 12 }, None, &["hello"]);
    // What came before this store was opened with 7 as its oldest.
    let gap = Gap { after: 3, from: 7 };
    check(Start::After(3), Entered::Behind { after: 6, upto: 12 }, Some(gap), &["hello"]);
    check(Start::Exactly(3), Entered::NotKept, None, &[]);
    let gap = Gap { after: 13, from: 7 };
    check(Start::After(13), Entered::Behind { after: 6, upto: 12 }, Some(gap), &["hello"]);
    check(Start::Last(2), Entered::Member, None, &["hello", "11", "12"]);
    check(Start::Last(99), Entered::Behind { after: 6, upto: 12 }, None, &["hello"]);
    assert_eq!(metrics.replayed.get(), 2 + 4 + 2);
}

#[test]
fn whoever_leaves_while_it_catches_up_never_becomes_a_member() {
    let (peers, metrics) = (Peers::default(), Metrics::default());
    let room = room(6, 4);
    let peer = peers.add(newcomer(), 1, &Limits::default());
    let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
    let entered = room.enter(&member, Start::After(0), false, &mut |_| None, &metrics);
    assert_eq!(entered, Entered::Member, "nothing lies behind 6 that is kept");
    peer.leave_all(&metrics);
    let member = peer.seat(&room, Form::Raw, &Limits::default()).ok().unwrap();
    assert!(peer.leave(&room, &metrics));
    assert_eq!(room.enter(&member, Start::Now, false, &mut |_| None, &metrics), Entered::Left);
    room.publish(&[message(7)], &mut [], &metrics);
    assert_eq!(got(&peer), [""; 0]);
}

#[test]
fn a_room_gives_back_its_memory_when_nobody_was_there_for_long() {
    let (metrics, start) = (Metrics::default(), Instant::now());
    let room = room(6, 4);
    room.publish(&[message(7)], &mut [], &metrics);
    let tidy = |seconds| room.tidy(start + Duration::from_secs(seconds)).unwrap().as_secs();
    let kept = || matches!(room.state.try_lock().map(|state| state.recent.is_empty()), Ok(false));
    assert_eq!((tidy(10), tidy(20), tidy(609)), (0, 10, 599));
    assert!(kept());
    // Somebody asks: it begins anew.
    assert!(matches!(room.look(Start::After(6), false, 1000), Some(Found::Excerpt(..))));
    assert_eq!((tidy(620), tidy(1219)), (0, 599));
    assert!(kept());
    assert_eq!(tidy(1220), 600);
    assert!(!kept());
    assert!(matches!(room.look(Start::After(6), false, 1000), Some(Found::Behind { after: 6, upto: 7, .. })));
}
