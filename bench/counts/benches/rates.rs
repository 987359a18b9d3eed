//! How fast this machine does the workloads now: `cargo bench -p sonagi-counts [-- PART-OF-A-NAME]`.
//!
//! The best of several rounds, because what else the machine does can only slow a round down; the difference between a
//! round and one of twice as many operations, as with instructions. Nothing passes or fails by it.
#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use sonagi_counts::workload::{WORKLOADS, Workload};
use std::time::{Duration, Instant};

const ROUNDS: usize = 10;
/// A round should last this long, so that the clock's and the scheduler's grain are small in it.
const ROUND: Duration = Duration::from_millis(20);

fn main() {
    // Cargo adds `--bench` to what follows `--`.
    let parts: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted =
        |workload: &&Workload| parts.is_empty() || parts.iter().any(|p| workload.name.contains(p));
    for workload in WORKLOADS.iter().filter(is_wanted) {
        let ns = per_operation(workload);
        println!("{:<26} {:>10.2} M/s {:>12.1} ns", workload.name, 1e3 / ns, ns);
    }
}

/// Nanoseconds.
fn per_operation(workload: &Workload) -> f64 {
    let first = time(workload, workload.operations).max(Duration::from_micros(1));
    let n = workload.operations * (ROUND.as_nanos() / first.as_nanos()).clamp(1, 1_000) as u64;
    let best = |operations| (0..ROUNDS).map(|_| time(workload, operations)).min().unwrap_or_default();
    let (once, twice) = (best(n), best(2 * n));
    // On a busy machine the shorter round may have been held up longer: then its share is all there is to say.
    twice.checked_sub(once).filter(|more| !more.is_zero()).unwrap_or(once).as_nanos() as f64 / n as f64
}

fn time(workload: &Workload, operations: u64) -> Duration {
    let started = Instant::now();
    (workload.run)(operations);
    started.elapsed()
}
