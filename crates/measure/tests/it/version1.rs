//! A folder of version 1 reads as the version that wrote it read it.

use sonagi_measure::folder;
use sonagi_measure::metrics::{Kind, Unit};
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::Naming;
use std::path::Path;
use std::sync::Arc;

#[test]
fn a_folder_of_the_first_version_reads_as_it_did() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/version1");
    let run = folder::read(&path, Naming::PATHS).unwrap();
    assert!(run.complete && !run.interrupted);
    assert_eq!((run.duration_s, run.users.completed, run.users.session_ms.p50), (2.011, 6, 2.659));
    assert_eq!(run.http_codes.into_iter().collect::<Vec<_>>(), [(404, 18)]);
    assert_eq!((run.traffic[Counter::BytesReceived], run.traffic[Counter::ConnectionsOpened]), (3_840, 6));
    let operations: Vec<_> = run.operations.iter().map(|one| (&*one.name, one.count, one.failed)).collect();
    assert_eq!(
        operations,
        [("count", 6, 0), ("GET /health, all", 6, 0), ("GET /nowhere", 6, 2), ("GET /health", 6, 0)]
    );
    assert_eq!(run.operations[1].response_ms.p90, 1.24);
    let errors: Vec<_> =
        run.errors.iter().map(|e| (&*e.code, &*e.called, e.operation.as_deref(), e.count)).collect();
    assert_eq!(errors, [("timeout", "my.name", Some("GET /nowhere"), 2), ("closed_1006", "", None, 1)]);
    assert_eq!(
        (run.expectations.failed, &*run.expectations.kinds["statusCode"].example),
        (6, "GET /health: expected status 418, got 404")
    );
    assert_eq!((run.generator.shards, run.generator.open_files_limit > 0), (2, true));

    let metric = |name: &str| (run.metrics[name].kind, run.metrics[name].unit, run.metrics[name].count);
    assert_eq!(metric("carts"), (Kind::Counter, Unit::Number, 6));
    assert_eq!(run.metrics["carts"].sum, Some(12.0));
    assert_eq!(metric("checkouts"), (Kind::Counter, Unit::Events, 6));
    assert!((run.metrics["checkouts"].per_second.unwrap() - 2.9835902536051715).abs() < 1e-9);
    assert_eq!(metric("basket"), (Kind::Trend, Unit::Number, 6));
    let basket = run.metrics["basket"].values.as_ref().unwrap();
    assert!((basket.p50 - 12.5).abs() < 0.02 && (basket.mean - 12.5).abs() < 0.02, "{basket:?}");
    assert_eq!(folder::Reader::open(&path).unwrap().seconds(&Arc::default()).count(), 4);
}
