use crate::fixture;
use insta::assert_snapshot;
use sonagi_measure::At;
use sonagi_measure::ledger::Counts;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Naming, Summary};
use sonagi_measure::totals::{Header, Progress, Snapshot};
use sonagi_report::sink::{Folder, Live, Trouble};
use sonagi_report::{Sink, SinkEvent, Sinks};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

fn second(n: u64) -> SinkEvent {
    of(snapshot(n))
}

fn of(snapshot: Snapshot) -> SinkEvent {
    SinkEvent::Second(Arc::new(snapshot))
}

fn began(header: Header) -> SinkEvent {
    SinkEvent::Began(Arc::new(header))
}

fn phase(name: &str) -> SinkEvent {
    SinkEvent::Phase { at: At(0), name: name.into() }
}

fn ended(summary: Summary) -> SinkEvent {
    SinkEvent::Ended(Arc::new(summary))
}

fn snapshot(n: u64) -> Snapshot {
    let mut snapshot = Snapshot {
        at: At(1_000_000_000 * (n as i64 + 1)),
        second: n,
        interval_ns: 1_000_000_000,
        ledger: Counts { outstanding: 12, ..Counts::default() },
        ..Snapshot::default()
    };
    snapshot.counters.add(Counter::MessagesReceived, 9_000);
    snapshot.counters.add(Counter::HttpResponses, 1_000);
    let mut progress = Progress { arrivals: Some(50), users: 45, p99_ms: Some(4.2), ..Progress::default() };
    progress.counters.add(Counter::ArrivalsStarted, 45);
    snapshot.progress = progress;
    snapshot
}

/// The output of a live line on a terminal of 60 columns, or in a file.
fn written(terminal: bool, tell: impl Fn(&mut Live<&mut Vec<u8>>)) -> String {
    let mut out = Vec::new();
    let mut live = if terminal { Live::redrawn(&mut out, 60) } else { Live::plain(&mut out) };
    tell(&mut live);
    String::from_utf8(out).unwrap()
}

#[test]
fn on_a_terminal_one_line_is_redrawn_and_what_is_said_stands_above_it() {
    let text = written(true, |live| {
        let text = "hello\x1b[2J".into();
        let mut last = snapshot(2);
        last.progress.users = 0;
        live.event(&second(0)).unwrap();
        live.event(&SinkEvent::Line { at: At(0), user: Some(7), text, is_printed: false }).unwrap();
        live.event(&SinkEvent::Draining { at: At(0) }).unwrap();
        live.event(&second(1)).unwrap();
        live.event(&of(last)).unwrap();
        live.event(&ended(fixture::minimal())).unwrap();
    });
    assert_snapshot!(text.escape_debug(), @r"0:01  started 45/50  users 45  in 10.0k/s  p99 4.20 ms\r\u{1b}[Kuser 7: hello [2J\n0:02  finishing  started 45/50  in 10.0k/s  p99 4.20 ms\r\u{1b}[K0:03  draining  started 45/50  in 10.0k/s  p99 4.20 ms\r\u{1b}[K");
}

#[test]
fn elsewhere_a_plain_line_is_written_now_and_then() {
    let text = written(false, |live| {
        live.event(&began(Header { load_s: Some(50.0), ..Header::default() })).unwrap();
        (0..10).for_each(|n| live.event(&second(n)).unwrap());
        live.event(&second(9)).unwrap();
        live.event(&phase("peak")).unwrap();
    });
    assert_snapshot!(text, @"
    0:01/0:50  started 45/50  users 45  out 0/s  in 10.0k/s  outstanding 12  p99 4.20 ms
    0:05/0:50  started 45/50  users 45  out 0/s  in 10.0k/s  outstanding 12  p99 4.20 ms
    0:10/0:50  started 45/50  users 45  out 0/s  in 10.0k/s  outstanding 12  p99 4.20 ms
    phase peak
    ");
}

#[test]
fn one_of_several_runs_says_which_before_every_line_and_still_fits() {
    for (title, shown) in
        [("3/18 longpoll 10000", "3/18 longpoll 10000  0:01  "), (&"x".repeat(99), "xxxxxx")]
    {
        let mut out = Vec::new();
        Live::redrawn(&mut out, 60).titled(title).event(&second(0)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with(shown) && text.contains("0:01") && text.chars().count() < 60, "{text}");
    }
}

/// Fails in every second call, and counts all of them.
struct Flaky(Rc<RefCell<u32>>);
impl Sink for Flaky {
    fn event(&mut self, _: &SinkEvent) -> io::Result<()> {
        *self.0.borrow_mut() += 1;
        if self.0.borrow().is_multiple_of(2) { Err(io::Error::other("disk full")) } else { Ok(()) }
    }
}

#[test]
fn a_sink_that_fails_is_reported_once_and_called_on() {
    let calls = Rc::new(RefCell::new(0));
    let mut sinks = Sinks::default();
    sinks.add(Flaky(calls.clone()));
    sinks.add(Live::plain(Vec::new()));
    let mut troubles = Vec::new();
    for n in 0..6 {
        sinks.tell(&second(n), |Trouble { sink, error }| troubles.push(format!("{sink}: {error}")));
    }
    assert_eq!(*calls.borrow(), 6);
    assert_eq!(troubles, ["an output: disk full"]);
}

#[test]
fn a_run_folders_name_is_made_unique_and_its_place_is_proved_writable() {
    let place = tempfile::tempdir().unwrap();
    let runs = place.path().join("runs");
    let first = Folder::reserve(&runs, "chat").unwrap();
    let second = Folder::reserve(&runs, "chat").unwrap();
    assert_eq!(first.path(), runs.join("chat"));
    assert_eq!(second.path(), runs.join("chat-2"));
    assert_eq!(std::fs::read_dir(first.path()).unwrap().count(), 0, "the probe is gone");
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(Folder::reserve(&file, "chat").is_err());
}

#[test]
fn a_folder_whose_run_never_began_says_so_to_its_end() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = Folder::reserve(place.path(), "chat").unwrap();
    assert!(folder.event(&second(0)).is_err());
    assert!(folder.event(&ended(fixture::minimal())).is_err());
}

#[test]
fn a_record_that_could_not_be_brought_to_its_end_is_told_of_after_it() {
    let place = tempfile::tempdir().unwrap();
    let incomplete = |spoil: fn(&std::path::Path)| {
        let folder = Folder::reserve(place.path(), "chat").unwrap();
        let path = folder.path().to_owned();
        let mut sinks = Sinks::default();
        sinks.add(folder);
        let header = Header { name: "chat".into(), shards: 1, ..Header::default() };
        let mut told = Vec::new();
        sinks.tell(&began(header), |trouble| told.push(trouble));
        sinks.tell(&second(0), |trouble| told.push(trouble));
        spoil(&path);
        sinks.tell(&second(1), |trouble| told.push(trouble));
        sinks.tell(&ended(fixture::minimal()), |trouble| told.push(trouble));
        let incomplete = sinks.incomplete();
        assert_eq!(incomplete.is_some(), !told.is_empty());
        incomplete.map(|Trouble { sink, error }| format!("{sink}: {error}"))
    };
    assert_eq!(incomplete(|_| {}), None);
    let removed = incomplete(|path| std::fs::remove_dir_all(path).unwrap()).unwrap();
    assert_eq!(removed, "the run folder: No such file or directory (os error 2)");
    let replaced = incomplete(|path| {
        std::fs::remove_file(path.join("series.jsonl")).unwrap();
        std::fs::write(path.join("series.jsonl"), "").unwrap();
    });
    assert_eq!(
        replaced.as_deref(),
        Some("the run folder: its files were removed or replaced during the run")
    );
}

#[test]
fn what_a_sink_wrote_is_read_back_as_the_same_summary() {
    use sonagi_measure::ledger::Rules;
    use sonagi_measure::totals::Totals;
    let place = tempfile::tempdir().unwrap();
    let mut folder = Folder::reserve(place.path(), "chat").unwrap();
    let header = Header {
        name: "chat".into(),
        shards: 1,
        started: "2026-11-20T10:00:00Z".into(),
        ..Header::default()
    };
    let rules = Rules { deadline_ns: 1_000_000_000, settle_ns: 100_000_000, echo: true };
    let mut totals = Totals::new(&header, rules, MetricStore::default());
    folder.event(&began(header)).unwrap();
    folder.event(&phase("peak")).unwrap();
    folder.event(&of(totals.absorb(Vec::new(), At(1_000_000_000), Default::default()))).unwrap();
    folder.event(&SinkEvent::Draining { at: At(1_000_000_000) }).unwrap();
    folder.event(&of(totals.close(At(2_000_000_000)))).unwrap();
    let summary = totals.summary();
    folder.event(&ended(summary.clone())).unwrap();
    let path = place.path().join("chat");
    let read = sonagi_measure::folder::read(&path, Naming::PATHS).unwrap();
    assert_eq!(read, Summary { run_folder: Some(path.display().to_string()), ..summary });
}
