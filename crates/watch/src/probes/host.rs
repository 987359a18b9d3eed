//! The machine that the target runs on: CPU, pressure, memory, disks and network.

use crate::machine::{Machine, parsed, parsed_there, text};
use crate::probe::{Readings, Unread};
use procfs_core::net::InterfaceDeviceStatus;
use procfs_core::{
    CpuPressure, CpuTime, DiskStats, IoPressure, KernelStats, LoadAverage, Meminfo, MemoryPressure,
};
use std::io;

/// Bytes of a sector, in which disks are counted whatever their own are (Documentation/admin-guide/iostats.rst).
const SECTOR: f64 = 512.0;
/// Fields of /proc/net/netstat and /proc/net/snmp that are told, with their metrics.
const TCP_COUNTS: &[(&str, &str, &str, &str)] = &[
    ("snmp", "Tcp", "OutSegs", "host.tcp.sent"),
    ("snmp", "Tcp", "RetransSegs", "host.tcp.retransmitted"),
    ("netstat", "TcpExt", "ListenOverflows", "host.tcp.listen_overflows"),
    ("netstat", "TcpExt", "ListenDrops", "host.tcp.listen_drops"),
];

/// What is known of the machine from look to look.
#[derive(Debug, Default)]
pub(super) struct Host {
    before: Option<CpuTime>,
}

impl Host {
    /// Looks at the machine; `net` has the files of the network that the target is in.
    pub(super) fn look(&mut self, machine: &mut dyn Machine, net: &str, readings: &mut Readings<'_>) {
        let looks: [(&str, io::Result<()>); 7] = [
            ("the machine's CPU is", self.cpu(machine, readings)),
            ("pressure is", pressure(machine, readings)),
            ("the machine's memory is", memory(machine, readings)),
            ("disks are", disks(machine, readings)),
            ("network interfaces are", interfaces(machine, net, readings)),
            ("TCP of the machine is", tcp(machine, net, readings)),
            ("packet queues are", softnet(machine, net, readings)),
        ];
        for (thing, looked) in looks {
            if let Err(error) = looked {
                readings.not_measured(thing, &Unread::because(error));
            }
        }
    }

    fn cpu(&mut self, machine: &mut dyn Machine, readings: &mut Readings<'_>) -> io::Result<()> {
        let stats: KernelStats = parsed_there(machine, "/proc/stat")?;
        readings.level("host.cores", &[], stats.cpu_time.len() as f64);
        if let Some(running) = stats.procs_running {
            readings.level("host.runnable", &[], f64::from(running));
        }
        let now = stats.total;
        if let Some(before) = &self.before {
            let kinds = kinds(before, &now);
            let all: u64 = kinds.iter().map(|(_, ticks)| ticks).sum();
            if all > 0 {
                let share = |ticks: u64| ticks as f64 / all as f64;
                for (kind, ticks) in kinds.iter().filter(|(kind, _)| *kind != "idle") {
                    readings.level("host.cpu.kind", &[("kind", kind)], share(*ticks));
                }
                let of =
                    |name: &str| kinds.iter().filter(|(kind, _)| *kind == name).map(|it| it.1).sum::<u64>();
                readings.level("host.cpu", &[], 1.0 - share(of("idle") + of("iowait")));
                readings.level("host.cpu.steal", &[], share(of("steal")));
            }
        }
        self.before = Some(now);
        let load: LoadAverage = parsed(machine, "/proc/loadavg")?;
        readings.level("host.load", &[], f64::from(load.one));
        Ok(())
    }
}

/// Ticks by kind between two looks. Time of guests is part of user and nice already.
fn kinds(before: &CpuTime, now: &CpuTime) -> [(&'static str, u64); 7] {
    let more = |of: fn(&CpuTime) -> Option<u64>| of(now).unwrap_or(0).saturating_sub(of(before).unwrap_or(0));
    [
        ("user", more(|it| Some(it.user + it.nice))),
        ("system", more(|it| Some(it.system))),
        ("idle", more(|it| Some(it.idle))),
        ("iowait", more(|it| it.iowait)),
        ("irq", more(|it| it.irq)),
        ("softirq", more(|it| it.softirq)),
        ("steal", more(|it| it.steal)),
    ]
}

fn pressure(machine: &mut dyn Machine, readings: &mut Readings<'_>) -> io::Result<()> {
    let seconds = |us: u64| us as f64 / 1e6;
    let cpu = match parsed::<CpuPressure>(machine, "/proc/pressure/cpu") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(io::Error::other(
                "the kernel keeps no /proc/pressure (it may need psi=1 to boot with)",
            ));
        }
        cpu => cpu?,
    };
    readings.pace("host.pressure.cpu", &[], seconds(cpu.some.total));
    let memory: MemoryPressure = parsed(machine, "/proc/pressure/memory")?;
    readings.pace("host.pressure.memory", &[], seconds(memory.some.total));
    readings.pace("host.pressure.memory.full", &[], seconds(memory.full.total));
    let io: IoPressure = parsed(machine, "/proc/pressure/io")?;
    readings.pace("host.pressure.io", &[], seconds(io.some.total));
    Ok(())
}

fn memory(machine: &mut dyn Machine, readings: &mut Readings<'_>) -> io::Result<()> {
    let memory: Meminfo = parsed(machine, "/proc/meminfo")?;
    readings.level("host.memory", &[], memory.mem_total as f64);
    if let Some(available) = memory.mem_available {
        readings.level("host.memory.available", &[], available as f64);
    }
    readings.level("host.swap", &[], memory.swap_total.saturating_sub(memory.swap_free) as f64);
    for (metric, total) in paging(&text(machine, "/proc/vmstat")?, machine.units().page) {
        readings.total(metric, &[], total as f64);
    }
    Ok(())
}

/// What is told of /proc/vmstat: a few of some two hundred lines.
fn paging(vmstat: &str, page: u64) -> impl Iterator<Item = (&'static str, u64)> {
    vmstat.lines().filter_map(|line| line.split_once(' ')).filter_map(move |(name, count)| {
        let (metric, unit) = match name {
            "pswpin" => ("host.swap.in", page),
            "pswpout" => ("host.swap.out", page),
            "oom_kill" => ("host.oom_kills", 1),
            _ => return None,
        };
        Some((metric, count.parse::<u64>().ok()? * unit))
    })
}

fn disks(machine: &mut dyn Machine, readings: &mut Readings<'_>) -> io::Result<()> {
    let DiskStats(disks) = parsed(machine, "/proc/diskstats")?;
    // Partitions, loops and memory disks only repeat the disks, or are none.
    let is_disk = |name: &str| {
        let is_partition = disks.iter().any(|other| {
            name.strip_prefix(other.name.as_str())
                .is_some_and(|rest| !rest.is_empty() && rest.trim_start_matches('p').parse::<u32>().is_ok())
        });
        !is_partition && !["loop", "ram", "zram", "sr", "fd"].iter().any(|kind| name.starts_with(kind))
    };
    for disk in disks.iter().filter(|disk| is_disk(&disk.name) && disk.reads + disk.writes > 0) {
        let tags: &[(&str, &str)] = &[("disk", &disk.name)];
        readings.pace("host.disk.busy", tags, disk.time_in_progress as f64 / 1e3);
        readings.total("host.disk.read", tags, disk.sectors_read as f64 * SECTOR);
        readings.total("host.disk.written", tags, disk.sectors_written as f64 * SECTOR);
    }
    Ok(())
}

fn interfaces(machine: &mut dyn Machine, net: &str, readings: &mut Readings<'_>) -> io::Result<()> {
    let InterfaceDeviceStatus(interfaces) = parsed(machine, &format!("{net}/dev"))?;
    for interface in interfaces.values().filter(|it| it.recv_packets + it.sent_packets > 0) {
        let tags: &[(&str, &str)] = &[("interface", &interface.name)];
        readings.total("host.network.received", tags, interface.recv_bytes as f64);
        readings.total("host.network.sent", tags, interface.sent_bytes as f64);
        readings.total("host.network.dropped", tags, (interface.recv_drop + interface.sent_drop) as f64);
    }
    Ok(())
}

fn tcp(machine: &mut dyn Machine, net: &str, readings: &mut Readings<'_>) -> io::Result<()> {
    for file in ["snmp", "netstat"] {
        let counts = text(machine, &format!("{net}/{file}"))?;
        for (_, group, field, metric) in TCP_COUNTS.iter().filter(|row| row.0 == file) {
            if let Some(count) = paired(&counts, group, field) {
                readings.total(metric, &[], count as f64);
            }
        }
    }
    let sockets = text(machine, &format!("{net}/sockstat"))?;
    // TCP: inuse 5 orphan 0 tw 2 alloc 9 mem 1
    let tcp = sockets.lines().find_map(|line| line.strip_prefix("TCP:")).unwrap_or_default();
    let words: Vec<&str> = tcp.split_whitespace().collect();
    for (field, state) in [("inuse", "in_use"), ("tw", "time_wait"), ("orphan", "orphaned")] {
        let count =
            words.iter().position(|word| *word == field).and_then(|at| words.get(at + 1)?.parse().ok());
        if let Some(count) = count {
            readings.level("host.tcp.sockets", &[("state", state)], count);
        }
    }
    Ok(())
}

/// A number of a file of which each group is a line of names and one of numbers, both headed by the group.
fn paired(text: &str, group: &str, field: &str) -> Option<i64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':')).filter(|(head, _)| *head == group);
    let ((_, names), (_, numbers)) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|name| name == field)?;
    numbers.split_whitespace().nth(at)?.parse().ok()
}

fn softnet(machine: &mut dyn Machine, net: &str, readings: &mut Readings<'_>) -> io::Result<()> {
    // A line a core, in hexadecimal: processed, dropped, squeezed, …
    let (mut dropped, mut squeezed) = (0.0, 0.0);
    for line in text(machine, &format!("{net}/softnet_stat"))?.lines() {
        let mut fields = line.split_whitespace().map(|field| u32::from_str_radix(field, 16).unwrap_or(0));
        dropped += f64::from(fields.nth(1).unwrap_or(0));
        squeezed += f64::from(fields.next().unwrap_or(0));
    }
    readings.total("host.softnet.dropped", &[], dropped);
    readings.total("host.softnet.squeezed", &[], squeezed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_in_bytes_and_what_the_kernel_does_not_count_not_at_all() {
        let told: Vec<_> = paging("nr_free_pages 7\npswpin 3\npswpout_x 1\npswpout 0\n", 4096).collect();
        assert_eq!(told, [("host.swap.in", 12_288), ("host.swap.out", 0)]);
        assert_eq!(paging("oom_kill 2\n", 4096).collect::<Vec<_>>(), [("host.oom_kills", 2)]);
    }

    #[test]
    fn names_and_numbers_stand_in_two_lines() {
        let text = "TcpExt: A ListenOverflows\nTcpExt: 1 -2\nIpExt: A\nIpExt: 3\n";
        assert_eq!(paired(text, "TcpExt", "ListenOverflows"), Some(-2));
        assert_eq!(paired(text, "IpExt", "A"), Some(3));
        assert_eq!(paired(text, "IpExt", "ListenOverflows"), None);
    }
}
