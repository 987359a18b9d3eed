//! When arrivals are planned.

use sonagi_artillery::schedule::{Load, Phase, Shape, Spacing};
use std::hint::black_box;
use std::time::Duration;

pub(super) fn even(operations: u64) {
    arrivals(Spacing::Even, operations);
}

pub(super) fn poisson(operations: u64) {
    arrivals(Spacing::Poisson, operations);
}

/// The first arrivals of a ramp that is longer than anybody asks for.
fn arrivals(spacing: Spacing, operations: u64) {
    let duration = Duration::from_secs(100_000);
    let shape = Shape::Rate { from: 1_000.0, to: 100_000.0 };
    let load = Load::Open { phases: vec![Phase { name: None, duration, shape, max_users: None }], spacing };
    let arrivals = load.arrivals(1).take(operations as usize);
    let late = arrivals.fold(0, |late, arrival| late.max(black_box(arrival).at.0));
    assert!(late > 0);
}
