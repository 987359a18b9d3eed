//! The process's usage of the machine, named as in Prometheus' client libraries. Read from Linux's `/proc`; other
//! systems have none.

use std::fmt::Write;

/// The lines of `/metrics` about this process.
pub(crate) fn metrics() -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{name}")).ok();
    let usage = (|| {
        Usage::of(
            &read("self/stat")?,
            &read("self/status")?,
            &read("stat")?,
            rustix::param::clock_ticks_per_second() as f64,
            rustix::param::page_size() as u64,
        )
    })();
    usage.map_or_else(String::new, |usage| usage.render())
}

#[derive(Debug, PartialEq)]
struct Usage {
    cpu_seconds: f64,
    resident_bytes: u64,
    peak_bytes: u64,
    started_seconds: f64,
}

impl Usage {
    /// `None` when one of the texts is not as proc(5) has it.
    fn of(stat: &str, status: &str, system: &str, ticks: f64, page: u64) -> Option<Usage> {
        // The second field is the program's name, in which anything may stand.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let field = |number: usize| fields.get(number - 3)?.trim().parse::<u64>().ok();
        let line = |text: &str, name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split_whitespace().next()?.parse::<u64>().ok()
        };
        Some(Usage {
            cpu_seconds: (field(14)? + field(15)?) as f64 / ticks,
            resident_bytes: field(24)? * page,
            peak_bytes: line(status, "VmHWM:")? * 1024,
            started_seconds: line(system, "btime ")? as f64 + field(22)? as f64 / ticks,
        })
    }

    fn render(&self) -> String {
        let mut out = String::with_capacity(1024);
        let Usage { cpu_seconds, resident_bytes, peak_bytes, started_seconds } = self;
        for (name, kind, help, value) in [
            (
                "process_cpu_seconds_total",
                "counter",
                "User and system CPU time.",
                format!("{cpu_seconds:.2}"),
            ),
            ("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes.to_string()),
            (
                "process_peak_resident_memory_bytes",
                "gauge",
                "The most resident memory so far.",
                peak_bytes.to_string(),
            ),
            (
                "process_start_time_seconds",
                "gauge",
                "When the process was started, since the Unix epoch.",
                format!("{started_seconds:.2}"),
            ),
        ] {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_whatever_the_program_is_called() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 1000 9000000 42 184467 1";
        let status = "Name:\ta) b\nVmHWM:\t    2048 kB\nVmRSS:\t 168 kB\n";
        let usage = Usage::of(stat, status, "cpu 1 2\nbtime 1700000000\n", 100.0, 4096);
        let expected = Usage {
            cpu_seconds: 3.0,
            resident_bytes: 42 * 4096,
            peak_bytes: 2048 * 1024,
            started_seconds: 1_700_000_010.0,
        };
        assert_eq!(usage, Some(expected));
        assert_eq!(Usage::of("", status, "btime 1", 100.0, 4096), None);
    }

    #[test]
    fn every_metric_of_the_process_is_in_the_service_s_manual() {
        let manual = include_str!("../../../../docs/service.md");
        let metrics = metrics();
        assert_eq!(metrics.lines().count(), 12, "{metrics}");
        for line in metrics.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(' ').next().unwrap();
            assert!(manual.contains(name), "docs/service.md does not name {name}");
        }
    }
}
