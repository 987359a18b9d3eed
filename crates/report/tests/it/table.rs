//! The table of a run says of every second what the folder says of it.

use sonagi_measure::At;
use sonagi_measure::folder::{Reader, Writer};
use sonagi_measure::ledger::Rules;
use sonagi_measure::metrics::{Kind, MetricStore, Registry, Unit};
use sonagi_measure::outcome::{Failure, Operation, OperationId, OperationKind, Outcome, Timing};
use sonagi_measure::recorder::{Counter, Gauges, Recorder};
use sonagi_measure::summary::Summary;
use sonagi_measure::totals::{Header, ProcessGauges, Totals};
use sonagi_report::table;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const SECOND: i64 = 1_000_000_000;

/// A run of this many seconds; in every third one nothing happens.
fn record(path: &Path, seconds: i64) -> Summary {
    let operation = |name: &str| Operation { name: name.to_owned(), kind: OperationKind::Http };
    let header = Header {
        started: "2026-08-30T23:59:58Z".to_owned(),
        operations: vec![operation("GET /a, all"), operation("never")],
        tracked: true,
        ..Header::default()
    };
    let registry = Arc::new(Registry::default());
    let mut totals = Totals::new(&header, Rules::default(), MetricStore::new(Arc::clone(&registry)));
    let mut writer = Writer::create(path, &header).unwrap();
    let mut recorder = Recorder::sharing(2, 0, registry);
    for second in 0..seconds {
        let now = second * SECOND;
        for n in (1..=20).filter(|_| second % 3 != 2) {
            let (planned, ended) = (At(now), At(now + n * n * 1_000_000 * (second + 1)));
            let timing = Timing { planned, started: planned, first_byte: None, ended };
            let failed = Outcome::Failed(Failure::Timeout);
            recorder.operation(OperationId(0), timing, if n == 7 { failed } else { Outcome::Status(200) });
            recorder.observe((Kind::Trend, Unit::Milliseconds), "took", n as f64 / 3.0, planned);
            recorder.observe((Kind::Counter, Unit::Bytes), "read", 0.1, planned);
            recorder.observe((Kind::Rate, Unit::Number), "share", (n % 4) as f64, planned);
            recorder.add(Counter::MessagesSent, 2);
        }
        let mut record = recorder.take();
        record.gauges = Gauges { users: 3 + second as u64, cpu_ns: 250_000_000, ..Gauges::default() };
        writer
            .snapshot(&totals.absorb(vec![record], At(now + SECOND + 2_000_000), ProcessGauges::default()))
            .unwrap();
    }
    writer.snapshot(&totals.close(At(seconds * SECOND + 500_000_000))).unwrap();
    let summary = totals.summary();
    writer.finish(&summary).unwrap();
    summary
}

fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut out = Vec::new();
    table::write(&Reader::open(path).unwrap(), &mut out).unwrap();
    let mut csv = csv::Reader::from_reader(out.as_slice());
    csv.deserialize().map(Result::unwrap).collect()
}

#[test]
fn every_cell_is_what_the_folder_says_of_its_second() {
    let folder = tempfile::tempdir().unwrap();
    let summary = record(folder.path(), 7);
    let rows = rows(folder.path());
    let reader = Reader::open(folder.path()).unwrap();
    let seconds: Vec<_> = reader.seconds(&Arc::default()).collect();
    assert_eq!((rows.len(), seconds.len()), (8, 8));
    for (row, second) in rows.iter().zip(&seconds) {
        let cell = |name: &str| row[name].parse::<f64>().ok();
        let timings = &second.operations[0];
        assert_eq!(cell("time_s"), Some(second.at.0 as f64 / 1e9));
        assert_eq!(cell("GET /a, all.count"), Some(timings.count() as f64));
        assert_eq!(cell("GET /a, all.failed"), Some(timings.failed as f64));
        let response = timings.response.as_deref().map(|response| response.quantiles());
        assert_eq!(cell("GET /a, all.response_p95_ms"), response.as_ref().map(|of| of.p95));
        assert_eq!(cell("GET /a, all.response_max_ms"), response.as_ref().map(|of| of.max));
        assert_eq!(cell("messages.sent"), Some(second.counters[Counter::MessagesSent] as f64));
        let mut store = MetricStore::default();
        store.absorb(&second.metrics);
        let metrics = store.summary(1.0);
        let values = metrics.get("took").and_then(|metric| metric.values.as_ref());
        assert_eq!(cell("took.p95_ms"), values.map(|of| of.p95));
        assert_eq!(cell("read.sum_bytes"), metrics.get("read").and_then(|metric| metric.sum));
        assert_eq!(cell("share.ratio"), metrics.get("share").and_then(|metric| metric.ratio));
        assert_eq!(cell("delivery.owed"), Some(second.ledger.owed as f64));
    }
    let sum = |name: &str| rows.iter().filter_map(|row| row[name].parse::<f64>().ok()).sum::<f64>();
    assert_eq!(sum("GET /a, all.count"), summary.operations[0].count as f64);
    assert_eq!(sum("errors.timeout"), summary.errors[0].count as f64);
    assert_eq!(sum("http.codes.200"), summary.http_codes[&200] as f64);
    assert!((sum("read.sum_bytes") - summary.metrics["read"].sum.unwrap()).abs() < 1e-9);
    let rated: f64 = rows
        .iter()
        .map(|row| {
            row["GET /a, all.rate_per_s"].parse::<f64>().unwrap() * row["interval_s"].parse::<f64>().unwrap()
        })
        .sum();
    assert_eq!(rated.round() as u64, summary.operations[0].count);
}

#[test]
fn columns_have_an_order_and_what_never_happened_has_none() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), 3);
    let mut out = Vec::new();
    table::write(&Reader::open(folder.path()).unwrap(), &mut out).unwrap();
    let mut csv = csv::Reader::from_reader(out.as_slice());
    let names: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
    let without_ledger: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !name.starts_with("delivery.")).collect();
    assert_eq!(
        without_ledger,
        [
            "time_s",
            "time_utc",
            "interval_s",
            "users",
            "connections",
            "messages.sent",
            "http.codes.200",
            "errors.timeout",
            "GET /a, all.count",
            "GET /a, all.rate_per_s",
            "GET /a, all.failed",
            "GET /a, all.response_p50_ms",
            "GET /a, all.response_p95_ms",
            "GET /a, all.response_p99_ms",
            "GET /a, all.response_max_ms",
            "generator.busiest_core",
            "generator.cpu_s",
            "generator.cpu_wait_s",
            "read.sum_bytes",
            "share.ratio",
            "took.p50_ms",
            "took.p95_ms",
            "took.max_ms",
        ]
    );
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let cells = |name: &str| {
        let at = names.iter().position(|known| known == name).unwrap();
        rows.iter().map(|row| row[at].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        cells("time_utc"),
        [
            "2026-08-30T23:59:59.002Z",
            "2026-08-31T00:00:00.002Z",
            "2026-08-31T00:00:01.002Z",
            "2026-08-31T00:00:01.500Z"
        ]
    );
    assert_eq!(cells("messages.sent"), ["40", "40", "0", "0"], "counted, and none");
    assert_eq!(cells("took.max_ms")[2..], ["", ""], "nothing was measured");
    assert_eq!(cells("users"), ["3", "4", "5", "5"]);
    assert_eq!(cells("generator.busiest_core")[3], "", "too short to tell");
}
