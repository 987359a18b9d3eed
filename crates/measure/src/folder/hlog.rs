//! `latency.hlog`: an HdrHistogram interval log (V2, compressed), one line per series and second that has data.
//!
//! Values are microseconds, as is the third column (the interval's highest value). Timestamps are seconds since the
//! run's start, which BaseTime gives. Tags are the series: `delivery`, `replay`, `session`, `lag`, `hiccup`, and per
//! operation `response.<name>`, `service.<name>`, `first_byte.<name>`, of those of its responses that were no 2xx
//! `3xx.<name>`, `4xx.<name>`, `5xx.<name>`, `other.<name>`, of those that were redirected all of their ways
//! `redirected.<name>` and each answer on them `answer.<name>`; the format allows no space, comma or line end in a tag,
//! so these and `%` are written as `%20` and so on.

use super::lines::WholeLines;
use super::version1;
use crate::answers::{Class, Way};
use crate::histogram::Histogram;
use crate::totals::{Header, Snapshot};

use base64::Engine as _;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// Where a tag's histogram belongs.
#[derive(Clone, Copy)]
enum Series {
    Delivery,
    Replay,
    Session,
    Lag,
    Hiccup,
    Response(usize),
    Service(usize),
    FirstByte(usize),
    Apart(usize, Class),
    Redirected(usize, Way),
}

/// The tags of a run, in the order they are written.
pub(super) struct Tags(Vec<(String, Series)>);

impl Tags {
    pub(super) fn new(header: &Header) -> Tags {
        let mut tags: Vec<(String, Series)> = vec![
            ("delivery".to_owned(), Series::Delivery),
            ("replay".to_owned(), Series::Replay),
            ("session".to_owned(), Series::Session),
            ("lag".to_owned(), Series::Lag),
            ("hiccup".to_owned(), Series::Hiccup),
        ];
        for (id, operation) in header.operations.iter().enumerate() {
            let name = tag_safe(&operation.name);
            tags.push((format!("response.{name}"), Series::Response(id)));
            tags.push((format!("service.{name}"), Series::Service(id)));
            tags.push((format!("first_byte.{name}"), Series::FirstByte(id)));
            let apart =
                Class::NAMED.map(|(class, word)| (format!("{word}.{name}"), Series::Apart(id, class)));
            tags.extend(apart);
            let ways = Way::NAMED.map(|(way, word)| (format!("{word}.{name}"), Series::Redirected(id, way)));
            tags.extend(ways);
        }
        Tags(tags)
    }
}

pub(super) fn tag_safe(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            ' ' | ',' | '\r' | '\n' | '%' => safe.push_str(&format!("%{:02X}", c as u32)),
            c => safe.push(c),
        }
    }
    safe
}

/// The head of the file.
pub(super) fn preamble(started: &str) -> Vec<u8> {
    let base = SystemTime::UNIX_EPOCH + Duration::from_millis(crate::at::unix_ms(started).unwrap_or(0));
    let mut head = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    // Writing to memory cannot fail.
    let _ = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("Sonagi latencies in microseconds, one line per series and second")
        .with_start_time(base)
        .with_base_time(base)
        .begin_log_with(&mut head, &mut serializer);
    head.extend_from_slice(
        b"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
    );
    head
}

/// The lines of one second.
pub(super) fn lines(snapshot: &Snapshot, tags: &Tags) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let start = Duration::from_secs(snapshot.second);
    let length = Duration::from_nanos(snapshot.interval_ns.max(0) as u64);
    let Ok(mut log) = IntervalLogWriterBuilder::new().begin_log_with(&mut lines, &mut serializer) else {
        return Vec::new();
    };
    for (tag, series) in &tags.0 {
        if let Some(histogram) = histogram(snapshot, *series).filter(|histogram| !histogram.is_empty()) {
            // Memory again; and every histogram of ours can be serialised.
            let _ = log.write_histogram(histogram.raw(), start, length, Tag::new(tag));
        }
    }
    lines
}

fn histogram(snapshot: &Snapshot, series: Series) -> Option<&Histogram> {
    let timings = |id: usize| snapshot.operations.get(id);
    match series {
        Series::Delivery => Some(&snapshot.delivery),
        Series::Replay => Some(&snapshot.replays),
        Series::Session => Some(&snapshot.sessions),
        Series::Lag => Some(&snapshot.lag),
        Series::Hiccup => Some(&snapshot.hiccups),
        Series::Response(id) => timings(id)?.response.as_deref(),
        Series::Service(id) => timings(id)?.service.as_deref(),
        Series::FirstByte(id) => timings(id)?.first_byte.as_deref(),
        Series::Apart(id, class) => timings(id)?.answers.apart(class),
        Series::Redirected(id, way) => timings(id)?.answers.way(way),
    }
}

/// Reads the log second by second. Torn lines, seconds that have no snapshot and series that are not ours are left out.
pub(super) struct Decoder {
    lines: WholeLines,
    series: HashMap<String, Series>,
    deserializer: Deserializer,
    /// The first line of a later second.
    ahead: Option<Vec<u8>>,
}

impl Decoder {
    pub(super) fn new(header: &Header, lines: WholeLines) -> Decoder {
        let series = Tags::new(header).0.into_iter().collect();
        Decoder { lines, series, deserializer: Deserializer::new(), ahead: None }
    }

    /// Enters the histograms of this second; those of the seconds before it have been asked for.
    pub(super) fn enter(&mut self, snapshot: &mut Snapshot) {
        while let Some(line) = self.ahead.take().or_else(|| self.lines.next()) {
            let Some(Ok(LogEntry::Interval(interval))) = IntervalLogIterator::new(&line).next() else {
                continue;
            };
            let second = interval.start_timestamp().as_secs();
            if second > snapshot.second {
                self.ahead = Some(line);
                return;
            }
            let Some(tag) = interval.tag().filter(|_| second == snapshot.second) else { continue };
            let Some(histogram) = decode(&interval, &mut self.deserializer) else { continue };
            match self.series.get(tag.as_str()) {
                Some(&series) => slot(snapshot, series).merge(&histogram),
                None => version1::enter_values(tag.as_str(), &histogram, snapshot),
            }
        }
    }
}

fn decode(interval: &IntervalLogHistogram<'_>, deserializer: &mut Deserializer) -> Option<Histogram> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).ok()?;
    deserializer.deserialize(&mut bytes.as_slice()).ok().map(Histogram::from_raw)
}

fn slot(snapshot: &mut Snapshot, series: Series) -> &mut Histogram {
    match series {
        Series::Delivery => &mut snapshot.delivery,
        Series::Replay => &mut snapshot.replays,
        Series::Session => &mut snapshot.sessions,
        Series::Lag => &mut snapshot.lag,
        Series::Hiccup => &mut snapshot.hiccups,
        Series::Response(id) => snapshot.operations[id].response.get_or_insert_default(),
        Series::Service(id) => snapshot.operations[id].service.get_or_insert_default(),
        Series::FirstByte(id) => snapshot.operations[id].first_byte.get_or_insert_default(),
        Series::Apart(id, class) => snapshot.operations[id].answers.apart_mut(class),
        Series::Redirected(id, way) => snapshot.operations[id].answers.way_mut(way),
    }
}
