//! Counting instructions: each workload under `valgrind --tool=cachegrind` with N and with 2 N operations.
//!
//! The difference over N is what an operation costs; what a process, a runtime or a workload's preparation costs is in
//! both and cancels. Without its simulated caches cachegrind is the cheapest of valgrind's tools that counts exactly.

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::table::Table;
use crate::workload::Workload;

/// glibc chooses its copy loops by CPU and cache sizes, and valgrind counts `rep movsb` once per byte: with these limits
/// out of reach, a long copy counts as the vector moves it is everywhere.
const TUNABLES: &str = "glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000:\
                        glibc.cpu.x86_non_temporal_threshold=1000000000";

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Valgrind is not there, or cannot be run.
    #[error("valgrind cannot be run: {0}\n  hint: make setup installs it")]
    Valgrind(#[source] io::Error),
    /// The workload ended in an error, or valgrind did.
    #[error("{name} must run to its end under valgrind, it said:\n{said}")]
    Broken {
        /// The workload.
        name: &'static str,
        /// The last lines of it.
        said: String,
    },
}

/// What counts: architecture and compiler.
pub fn machine() -> String {
    let version = Command::new("rustc").arg("--version").output().map(|output| output.stdout);
    let version = String::from_utf8(version.unwrap_or_default()).unwrap_or_default();
    let version = version.split_whitespace().nth(1).unwrap_or("unknown");
    format!("{}, rustc {version}", std::env::consts::ARCH)
}

/// Counts workloads, as many at a time as there are cores: counts do not care who else computes.
///
/// # Errors
/// The first workload that could not be counted.
pub fn all(workloads: &[&'static Workload]) -> Result<Table, Error> {
    let next = AtomicUsize::new(0);
    let counted = || {
        let mut counted = Vec::new();
        while let Some(workload) = workloads.get(next.fetch_add(1, Ordering::Relaxed)) {
            counted.push((workload.name, per_operation(workload)));
        }
        counted
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<(&str, Result<f64, Error>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(counted)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("counting does not panic")).collect()
    });
    let place = |name: &str| workloads.iter().position(|workload| workload.name == name);
    counts.sort_by_key(|(name, _)| place(name));
    let rows = counts.into_iter().map(|(name, count)| Ok((name.to_owned(), count?)));
    Ok(Table { machine: machine(), rows: rows.collect::<Result<_, Error>>()? })
}

fn per_operation(workload: &'static Workload) -> Result<f64, Error> {
    let n = workload.operations;
    Ok(difference(instructions(workload, n)?, instructions(workload, 2 * n)?, n))
}

/// What each of the `n` operations cost by which the second run was longer.
fn difference(once: u64, twice: u64, n: u64) -> f64 {
    (twice as f64 - once as f64) / n as f64
}

/// All instructions of a process that does so many operations.
fn instructions(workload: &'static Workload, operations: u64) -> Result<u64, Error> {
    let this = std::env::current_exe().map_err(Error::Valgrind)?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--branch-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(&this)
        .args(["run", workload.name, &operations.to_string()])
        // What stands in the environment lies on the stack and moves everything above it.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GLIBC_TUNABLES", TUNABLES)
        // Where the scripts are found by a path that is the same in every clone.
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .map_err(Error::Valgrind)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let counted = read(&said).filter(|_| output.status.success());
    counted.ok_or_else(|| Error::Broken { name: workload.name, said: last_lines(&said) })
}

/// The figure in cachegrind's line `I refs: 1,234`.
fn read(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("I ") && line.contains("refs:"))?;
    let digits: String = line.rsplit(':').next()?.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_runs_cost_cancels() {
        let start_up = 5_000_000;
        assert_eq!(difference(start_up + 100 * 37, start_up + 200 * 37, 100), 37.0);
    }

    #[test]
    fn the_count_is_read_from_what_cachegrind_says_whatever_else_is_said() {
        let said = "==9== Cachegrind, a cache profiler\npipe: 5\n==9== \n==9== I   refs:      67,021,933\n";
        assert_eq!(read(said), Some(67_021_933));
        assert_eq!(read("==9== I refs:        144,207"), Some(144_207));
        assert_eq!(read("valgrind: no such file"), None);
    }
}
