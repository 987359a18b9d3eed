//! Runs that are longer than a page has columns for.

use sonagi_measure::At;
use sonagi_measure::folder::Writer;
use sonagi_measure::frame::{Buckets, Frame, Value as Observed};
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::MetricStore;
use sonagi_measure::outcome::{Operation, OperationId, OperationKind, Outcome, Timing};
use sonagi_measure::recorder::{Counter, Recorder};
use sonagi_measure::summary::Naming;
use sonagi_measure::totals::{Header, ProcessGauges, Totals};
use sonagi_report::html;
use sonagi_report::lines::{Languages, Line, LineReader};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

const SECONDS: i64 = 1_500;
const SECOND: i64 = 1_000_000_000;

const LANGUAGES: Languages = Languages {
    name: |_| String::new(),
    naming: Naming::PATHS,
    about: |_| None,
    store: |_| MetricStore::default(),
    judge: |_, _, summary, _| summary,
};

/// Writes a run in which every second has as many requests as its number's last digit says, one slower than the other;
/// it is killed behind its last second.
fn write(folder: &Path) {
    let look = Operation { name: "look".to_owned(), kind: OperationKind::Http };
    let header = Header { operations: vec![look], shards: 1, ..Header::default() };
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::default());
    let mut writer = Writer::create(folder, &header).unwrap();
    let mut shard = Recorder::new(1, 0);
    for second in 0..SECONDS {
        for n in 0..second % 10 {
            let started = At(second * SECOND);
            let ended = started.plus(1_000_000 * (1 + n) + 7_000 * second);
            let timing = Timing { planned: started, started, first_byte: None, ended };
            shard.operation(OperationId(0), timing, Outcome::Status(200));
            shard.add(Counter::HttpRequests, 1);
        }
        let at = At((second + 1) * SECOND);
        writer.snapshot(&totals.absorb(vec![shard.take()], at, ProcessGauges::default())).unwrap();
    }
}

fn frames(lines: &[Line]) -> Vec<Frame> {
    let frame = |line: &Line| if let Line::Frame(frame) = line { Some(Frame::clone(frame)) } else { None };
    lines.iter().filter_map(frame).collect()
}

/// The response times of the run's one operation in the frames that begin within `seconds`.
fn response_times(frames: &[Frame], seconds: &RangeInclusive<u64>) -> Buckets {
    let mut names = frames.iter().flat_map(|frame| &frame.names);
    let (number, _) = names.find(|(_, name)| name.metric == "response_time").unwrap();
    let within = frames.iter().filter(|frame| seconds.contains(&frame.s));
    let mut all = Buckets::default();
    for (_, value) in within.flat_map(|frame| &frame.values).filter(|(told, _)| *told == number) {
        let Observed::Trend(buckets) = value else { panic!("{value:?} is no trend") };
        all.merge(buckets);
    }
    all
}

/// What every counter adds up to, by its series.
fn totals(frames: &[Frame]) -> BTreeMap<u32, f64> {
    let mut all = BTreeMap::new();
    for (number, value) in frames.iter().flat_map(|frame| &frame.values) {
        if let Observed::Counter(count) = value {
            *all.entry(*number).or_default() += count;
        }
    }
    all
}

#[test]
fn frames_of_a_run_of_25_minutes_are_merged_and_come_to_the_same() {
    let place = tempfile::tempdir().unwrap();
    write(place.path());
    let merged = html::lines(place.path(), "long", &LANGUAGES).unwrap();
    let Line::Head(head) = &merged[0] else { panic!("the head is the first line") };
    assert_eq!(head["merged"], 2);
    assert_eq!(merged.last().unwrap().to_json(), br#"{"end":{"state":"cut_off"}}"#);
    let mut each = Vec::new();
    LineReader::open(place.path(), &LANGUAGES).unwrap().advance(&mut |line| each.push(line)).unwrap();
    let (merged, each) = (frames(&merged), frames(&each));
    assert_eq!((merged.len(), each.len()), (750, SECONDS as usize));
    let told: f64 = merged.iter().map(|frame| frame.span).sum();
    assert_eq!((told, merged[749].at), (1_500.0, 1_500.0));
    assert_eq!(totals(&merged), totals(&each));
    for window in [0..=1_499, 600..=899] {
        let [merged, each] = [&merged, &each].map(|frames| response_times(frames, &window));
        // 45 in every ten seconds.
        let count = 45 * (window.end() + 1 - window.start()) / 10;
        assert_eq!((merged.count(), each.count()), (count, count), "{window:?}");
        assert_eq!((merged.min(), merged.max()), (each.min(), each.max()), "{window:?}");
        for share in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
            assert_eq!(merged.quantile(share), each.quantile(share), "{window:?} {share}");
        }
    }
}
