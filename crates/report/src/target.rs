//! What probes saw of the target, in two lines of the summary: its own use, and the machine's.

use crate::figures::{bytes, count, counted, figure, percent};
use sonagi_measure::metrics::MetricSummary;
use sonagi_measure::summary::Summary;

/// A group's periods in which it was stopped for its quota are worth a word from this share on.
const THROTTLED: f64 = 0.01;
/// So is CPU time that other virtual machines took.
const STOLEN: f64 = 0.01;

/// The lines; none where nothing was watched.
pub(crate) fn lines(run: &Summary) -> Vec<Vec<String>> {
    [processes(run), machine(run)].into_iter().filter(|parts| !parts.is_empty()).collect()
}

fn processes(run: &Summary) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(processes) = most(run, "target.processes") {
        parts.push(match processes as u64 {
            1 => "1 process".to_owned(),
            several => format!("{} processes", count(several)),
        });
    }
    if let Some(cpu) = most(run, "target.cpu") {
        let main =
            most(run, "target.cpu.main_thread").map(|share| format!(" (a first thread {})", percent(share)));
        let quota = last(run, "target.quota").map(|cores| format!(" of {} allowed", figure(cores)));
        let of = quota.or_else(|| last(run, "host.cores").map(|cores| format!(" of {}", figure(cores))));
        let (of, main) = (of.unwrap_or_default(), main.unwrap_or_default());
        parts.push(format!("at most {} cores{of}{main}", figure(cpu)));
    }
    if let Some(share) = most(run, "target.throttled").filter(|share| *share >= THROTTLED) {
        parts.push(format!("stopped for its quota in up to {} of its periods", percent(share)));
    }
    if let Some(memory) = most(run, "target.memory") {
        let limit =
            last(run, "target.cgroup.memory.limit").map(|limit| format!(" of {}", bytes(limit as u64)));
        parts.push(format!("{}{}", bytes(memory as u64), limit.unwrap_or_default()));
    }
    if let Some(open) = most(run, "target.open_files") {
        let limit = last(run, "target.open_files.limit").map(|limit| format!(" of {}", count(limit as u64)));
        parts.push(format!("{}{} files open", count(open as u64), limit.unwrap_or_default()));
    }
    for (metric, what) in [("target.oom_kills", "killed for lack of memory"), ("target.ended", "ended")] {
        if let Some(ended) = total(run, metric).filter(|ended| *ended > 0.0) {
            parts.push(format!("{} {what}", counted(ended as u64, "process")));
        }
    }
    parts
}

fn machine(run: &Summary) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(busy) = most(run, "host.cpu") {
        parts.push(format!("its machine at most {} busy", percent(busy)));
    }
    if let Some(stolen) = most(run, "host.cpu.steal").filter(|share| *share >= STOLEN) {
        parts.push(format!("{} of it taken by other virtual machines", percent(stolen)));
    }
    if let (Some(free), Some(all)) = (least(run, "host.memory.available"), last(run, "host.memory")) {
        parts.push(format!("{} of {} free", bytes(free as u64), bytes(all as u64)));
    }
    if let Some(overflows) = total(run, "host.tcp.listen_overflows").filter(|count| *count > 0.0) {
        parts.push(format!("{} refused by a full accept queue", counted(overflows as u64, "connection")));
    }
    parts
}

fn of<'s>(run: &'s Summary, metric: &str) -> Option<&'s MetricSummary> {
    run.watched.get(metric)
}

fn most(run: &Summary, metric: &str) -> Option<f64> {
    Some(of(run, metric)?.level?.max)
}

fn least(run: &Summary, metric: &str) -> Option<f64> {
    Some(of(run, metric)?.level?.min)
}

fn last(run: &Summary, metric: &str) -> Option<f64> {
    Some(of(run, metric)?.level?.value)
}

fn total(run: &Summary, metric: &str) -> Option<f64> {
    let metric = of(run, metric)?;
    // Of events the summary has their number in a second of the run.
    metric.sum.or_else(|| Some(metric.per_second? * run.duration_s.max(1.0)))
}
