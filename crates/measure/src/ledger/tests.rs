//! Tests of the ledger's memory.

use super::*;

#[test]
fn a_member_that_came_once_is_remembered_as_one_seat_and_one_stay() {
    let mut ledger = Ledger::new(Rules::default());
    let moves = [(0, Move::Ask), (1, Move::Join), (2, Move::Leave), (2, Move::Go)];
    let moves = moves.map(|(at, what)| Moved { member: 0, room: 0, at: At(at), what }).to_vec();
    ledger.apply(&mut [Batch { moves, ..Batch::default() }], At(3), |_| {});
    assert_eq!(ledger.seats.sizes(), [1, 1, 1]);
    let seats = ledger.seats.of(0);
    assert_eq!(seats[0].stays_kept(), 1);
}

/// A hundred thousand people come, hear one of them and leave, a thousand at a time, and one is there from
/// the first to the last: what is kept is the same after ten thousand as after all, but for four bytes each.
#[test]
fn people_who_come_and_go_leave_nothing_behind() {
    const SECOND: i64 = 1_000_000_000;
    const CROWD: u32 = 1_000;
    let kept_after = |crowds: u32, stays_on: bool| {
        let mut ledger = Ledger::remembering(Rules::default(), 3 * SECOND);
        let come = Moved { member: 0, room: 0, at: At(0), what: Move::Join };
        let resident = Batch { moves: vec![come], ..Batch::default() };
        ledger.apply(&mut [resident], At(SECOND), |_| {});
        for crowd in 0..crowds {
            let begin = At(i64::from(crowd + 1) * SECOND);
            let mut batch = crowd_of(1 + crowd * CROWD..1 + (crowd + 1) * CROWD, crowd, begin);
            if stays_on {
                batch.received.push(Received {
                    at: begin.plus(SECOND / 2),
                    member: 0,
                    room: 0,
                    number: crowd,
                });
            }
            if crowd == 0 && !stays_on {
                let parts = [Move::Leave, Move::Go];
                batch.moves.extend(parts.map(|what| Moved { member: 0, room: 0, at: begin, what }));
                batch.departed.push(Departed { member: 0, at: begin });
            }
            ledger.apply(&mut [batch], begin.plus(SECOND), |_| {});
        }
        let [places, lists, seats] = ledger.seats.sizes();
        let counts = ledger.close(At(i64::MAX), |_| {});
        assert_eq!((counts.messages, counts.leaked, counts.foreign), (u64::from(crowds), 0, 0));
        let stays = ledger.rooms[0].stays_kept();
        (places, [lists, seats, stays, ledger.departed.len()])
    };
    let (few_places, few) = kept_after(10, false);
    let (places, many) = kept_after(100, false);
    assert_eq!((places, many), (few_places, few));
    assert!(places <= 2 * CROWD as usize && many[0] <= 3 * CROWD as usize, "{places} {many:?}");
    let (places, many) = kept_after(100, true);
    assert_eq!(places, 100 * CROWD as usize + 1, "of four bytes each");
    assert!(many.iter().all(|&kept| kept <= 7 * CROWD as usize), "{many:?}");
}

/// They are there for half a second; the last of them says something everybody hears.
fn crowd_of(members: std::ops::Range<u32>, number: u32, begin: At) -> Batch {
    let mut batch = Batch::default();
    let ms = |ms: i64| begin.plus(ms * 1_000_000);
    let sender = members.end - 1;
    let (planned, started) = (ms(300), ms(300));
    batch.sent.push(Sent { room: 0, number, sender, planned, started, acked: Some(true) });
    for member in members {
        batch.received.push(Received { at: ms(301), member, room: 0, number });
        let moves = [(begin, Move::Join), (ms(500), Move::Leave), (ms(500), Move::Go)];
        batch.moves.extend(moves.map(|(at, what)| Moved { member, room: 0, at, what }));
        batch.departed.push(Departed { member, at: ms(500) });
    }
    batch
}
