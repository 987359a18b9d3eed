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
use crate::histogram::Histogram;
use crate::totals::{Header, Snapshot};

use base64::Engine as _;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// The operations of a run as tags name them, in their order.
pub(super) fn operations(header: &Header) -> Vec<String> {
    header.operations.iter().map(|operation| tag_safe(&operation.name)).collect()
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

/// The lines of one second; `operations` are the run's [`operations`].
pub(super) fn lines(snapshot: &Snapshot, operations: &[String]) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let start = Duration::from_secs(snapshot.second);
    let length = Duration::from_nanos(snapshot.interval_ns.max(0) as u64);
    let Ok(mut log) = IntervalLogWriterBuilder::new().begin_log_with(&mut lines, &mut serializer) else {
        return Vec::new();
    };
    let mut write = |tag: &str, histogram: &Histogram| {
        if !histogram.is_empty() {
            // Memory again; and every histogram of ours can be serialised.
            let _ = log.write_histogram(histogram.raw(), start, length, Tag::new(tag));
        }
    };
    snapshot.each_latency().for_each(|((tag, _), histogram)| write(tag, histogram));
    for (operation, timings) in operations.iter().zip(&snapshot.operations) {
        timings.each_latency().for_each(|(latency, times)| write(&format!("{latency}.{operation}"), times));
    }
    lines
}

/// Reads the log second by second. Torn lines, seconds that have no snapshot and series that are not ours are left out.
pub(super) struct Decoder {
    lines: WholeLines,
    /// The places of operations, by their names in tags.
    operations: HashMap<String, usize>,
    deserializer: Deserializer,
    /// The first line of a later second.
    ahead: Option<Vec<u8>>,
}

impl Decoder {
    pub(super) fn new(header: &Header, lines: WholeLines) -> Decoder {
        let operations = operations(header).into_iter().zip(0..).collect();
        Decoder { lines, operations, deserializer: Deserializer::new(), ahead: None }
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
            match latency(snapshot, tag.as_str(), &self.operations) {
                Some(latency) => latency.merge(&histogram),
                None => version1::enter_values(tag.as_str(), &histogram, snapshot),
            }
        }
    }
}

fn decode(interval: &IntervalLogHistogram<'_>, deserializer: &mut Deserializer) -> Option<Histogram> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).ok()?;
    deserializer.deserialize(&mut bytes.as_slice()).ok().map(Histogram::from_raw)
}

/// The latency that a tag is of; None: it is not ours.
fn latency<'s>(
    snapshot: &'s mut Snapshot,
    tag: &str,
    operations: &HashMap<String, usize>,
) -> Option<&'s mut Histogram> {
    match tag.split_once('.') {
        None => snapshot.latency_mut(tag),
        Some((latency, operation)) => snapshot.operations[*operations.get(operation)?].latency_mut(latency),
    }
}
