//! A run folder that is followed while it is written.

use crate::fixture::{header, record_second};
use sonagi_measure::At;
use sonagi_measure::folder::{Follower, RunState, Writer};
use sonagi_measure::ledger::{Move, Moved, ROOMS_MAX, Received, RoomId, Rules, Sent};
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::recorder::Recorder;
use sonagi_measure::summary::Naming;
use sonagi_measure::totals::{Follow, Header, ProcessGauges, Totals};
use std::fs;
use std::io::Write as _;
use std::path::Path;

const SECOND: i64 = 1_000_000_000;
const MS: i64 = 1_000_000;

fn follow(path: &Path) -> Follower {
    Follower::open(path, Naming::PATHS, |_| MetricStore::default(), |_, _, summary, _| summary).unwrap()
}

/// A run that is written second by second.
struct Run {
    header: Header,
    totals: Totals,
    shard: Recorder,
    writer: Writer,
    seconds: i64,
}

impl Run {
    fn begin(path: &Path) -> Run {
        let header = header();
        let totals = Totals::new(&header, Rules::default(), MetricStore::default());
        let shard = Recorder::new(header.operations.len(), header.scenarios.len());
        let writer = Writer::create(path, &header).unwrap();
        Run { header, totals, shard, writer, seconds: 0 }
    }

    fn second(&mut self) {
        let record = record_second(&mut self.shard, 0, self.seconds);
        self.seconds += 1;
        let snapshot = self.totals.absorb(vec![record], At(self.seconds * SECOND), ProcessGauges::default());
        self.writer.snapshot(&snapshot).unwrap();
    }
}

/// The seconds that have come.
fn come(follower: &mut Follower) -> Vec<u64> {
    std::iter::from_fn(|| follower.second()).map(|snapshot| snapshot.second).collect()
}

#[test]
fn a_folder_is_followed_as_it_grows_and_sums_up_as_it_does_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::begin(folder.path());
    let mut follower = follow(folder.path());
    assert_eq!((follower.state(), come(&mut follower)), (RunState::Running, vec![]));
    run.second();
    run.second();
    assert_eq!(come(&mut follower), [0, 1]);
    run.writer.event(At(2 * SECOND), "phase", serde_json::json!({ "name": "two" })).unwrap();
    run.second();
    assert_eq!(come(&mut follower), [2]);
    let events: Vec<_> = std::iter::from_fn(|| follower.event(At(i64::MAX))).collect();
    assert!(events.iter().any(|event| event["kind"] == "phase" && event["detail"]["name"] == "two"));
    assert_eq!(follower.summary().operations, run.totals.summary().operations);
    run.writer.snapshot(&run.totals.close(At(4 * SECOND))).unwrap();
    let mut summary = run.totals.summary();
    summary.run_folder = Some(folder.path().display().to_string());
    assert_eq!(follower.state(), RunState::Running);
    run.writer.finish(&summary).unwrap();
    assert_eq!((follower.state(), come(&mut follower)), (RunState::Complete, vec![3]));
    assert_eq!(follower.end().unwrap(), summary);
    assert_eq!(run.header.name, follower.header().name);
}

#[test]
fn a_torn_line_is_waited_for_and_a_writer_that_died_leaves_a_run_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::begin(folder.path());
    run.second();
    let mut follower = follow(folder.path());
    assert_eq!(come(&mut follower), [0]);
    let series = folder.path().join("series.jsonl");
    let whole = fs::read(&series).unwrap();
    run.second();
    let grown = fs::read(&series).unwrap();
    // As if the disk had taken only a part of the line yet.
    let (torn, rest) = grown[whole.len()..].split_at(40);
    let append =
        |text: &[u8]| fs::File::options().append(true).open(&series).unwrap().write_all(text).unwrap();
    fs::File::options().write(true).open(&series).unwrap().set_len(whole.len() as u64).unwrap();
    append(torn);
    assert_eq!((come(&mut follower), follower.state()), (vec![], RunState::Running));
    append(rest);
    assert_eq!(come(&mut follower), [1]);
    append(torn);
    drop(run);
    assert_eq!((follower.state(), come(&mut follower)), (RunState::CutOff, vec![]));
    assert!(!follower.end().unwrap().complete);
}

/// Knows the rooms' names.
struct Named;

impl Follow for Named {
    fn room(&self, room: RoomId) -> Option<String> {
        Some(format!("room {room}"))
    }
}

#[test]
fn the_worst_rooms_are_told_by_name_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let header = Header { tracked: true, ..header() };
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut writer = Writer::create(folder.path(), &header).unwrap();
    let mut shard = Recorder::new(header.operations.len(), header.scenarios.len());
    let mut record = shard.take();
    // Two members a room, messages as many as the room's number; of the odd rooms the copies of member 1 are lost.
    for room in 0..30u32 {
        let (zero, one) = (room * 2, room * 2 + 1);
        for member in [zero, one] {
            record.ledger.moves.push(Moved { member, room, at: At(0), what: Move::Join });
        }
        for number in 0..room {
            let at = At((500 + i64::from(number)) * MS);
            record.ledger.sent.push(Sent {
                room,
                number,
                sender: zero,
                planned: at,
                started: at,
                acked: Some(true),
            });
            let received = |member| Received { at: At(at.0 + MS), member, room, number };
            record.ledger.received.push(received(zero));
            if room % 2 == 0 {
                record.ledger.received.push(received(one));
            }
        }
    }
    for second in 1..4 {
        let records = vec![std::mem::take(&mut record)];
        let snapshot =
            totals.absorb_following(records, At(second * SECOND), ProcessGauges::default(), &mut Named);
        writer.snapshot(&snapshot).unwrap();
    }
    writer.snapshot(&totals.close_following(At(5 * SECOND), &mut Named)).unwrap();
    let mut summary = totals.summary();
    summary.run_folder = Some(folder.path().display().to_string());
    writer.finish(&summary).unwrap();
    let delivery = summary.delivery.as_ref().unwrap();
    let rooms: Vec<_> = delivery.rooms.iter().map(|fate| (fate.room.as_str(), fate.counts.lost)).collect();
    assert_eq!(rooms.len(), ROOMS_MAX);
    assert_eq!(rooms[..2], [("room 29", 29), ("room 27", 27)]);
    assert_eq!(rooms[9], ("room 11", 11));
    let counts = delivery.rooms[0].counts;
    assert_eq!((counts.messages, counts.owed, counts.delivered, counts.late), (29, 58, 29, 0));
    let lost: u64 = (0..30).filter(|room| room % 2 == 1).sum();
    assert_eq!(delivery.counts.lost, lost);
    assert_eq!(sonagi_measure::folder::read(folder.path(), Naming::PATHS).unwrap(), summary);
}
