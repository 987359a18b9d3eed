//! The target's processes: CPU by thread, memory, open files, and whether they live.

use super::target::stat;
use crate::machine::{Machine, Wanted, parsed};
use crate::probe::{Readings, Unread};
use procfs_core::process::{LimitValue, Limits, Schedstat, Stat, Status};
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

/// Threads that are told by name: the busiest ones.
const THREADS_TOLD: usize = 5;
/// Less of a core than this is not worth a series.
const BUSY: f64 = 0.05;
/// How often limits and names of threads are read.
const SLOWLY: Duration = Duration::from_secs(10);

/// What is known of the processes from look to look.
#[derive(Debug, Default)]
pub(super) struct Processes {
    known: HashMap<i32, Process>,
    has_looked: bool,
}

#[derive(Debug)]
struct Process {
    /// The name of its program.
    name: String,
    /// In ticks since the machine began: tells it from another one that got its number.
    began: u64,
    parent: i32,
    /// Whether this is the first look at it.
    is_new: bool,
    threads: HashMap<i32, Thread>,
    files_limit: Option<u64>,
    slow_at: Instant,
}

#[derive(Clone, Debug)]
struct Thread {
    name: String,
    /// Seconds on a core, and waiting for one; the instant of reading.
    ran: f64,
    waited: Option<f64>,
    at: Instant,
}

/// What a look at one process, or at all of them, comes to.
#[derive(Debug, Default)]
struct Sum {
    cpu: f64,
    main_thread: Option<f64>,
    main_threads: f64,
    waiting: Option<f64>,
    /// The busiest threads: share of a core and name.
    threads: Vec<(f64, String)>,
    thread_count: u64,
    memory: u64,
    swap: Option<u64>,
    major_faults: u64,
    /// Open files of the process with the most of its limit, and the limit.
    files: Option<(u64, u64)>,
    has_rates: bool,
}

impl Processes {
    /// Whether this process lived at the last look.
    pub(super) fn is_alive(&self, pid: i32) -> bool {
        self.known.contains_key(&pid)
    }

    /// Looks at these processes; those known before and not among them any more are told to have ended.
    pub(super) fn look(&mut self, machine: &mut dyn Machine, pids: &[i32], readings: &mut Readings<'_>) {
        let mut sum = Sum::default();
        let mut alive: HashMap<i32, Process> = HashMap::new();
        for &pid in pids {
            let Ok(stat) = stat(machine, pid) else { continue };
            let before = self.known.remove(&pid).filter(|process| process.began == stat.starttime);
            let is_new = before.is_none();
            let mut process = before.unwrap_or_else(|| Process::new(&stat));
            (process.parent, process.is_new) = (stat.ppid, is_new);
            if is_new && self.has_looked {
                readings.happened(format_args!("process {pid} ({}) began", process.name));
                readings.increase("target.started", &[], 1.0);
            }
            process.look(machine, &stat, &mut sum, readings);
            alive.insert(pid, process);
        }
        for (pid, process) in std::mem::replace(&mut self.known, alive) {
            readings.happened(format_args!("process {pid} ({}) ended", process.name));
            readings.increase("target.ended", &[], 1.0);
            if self.known.values().any(|other| process.is_one_of_several_with(other)) {
                readings.increase("target.ended.workers", &[], 1.0);
            }
        }
        self.has_looked |= !self.known.is_empty();
        if self.has_looked {
            readings.level("target.processes", &[], self.known.len() as f64);
        }
        if !self.known.is_empty() {
            sum.tell(readings);
        }
    }
}

impl Process {
    fn new(stat: &Stat) -> Process {
        Process {
            name: stat.comm.clone(),
            began: stat.starttime,
            parent: stat.ppid,
            is_new: true,
            threads: HashMap::new(),
            files_limit: None,
            slow_at: Instant::now(),
        }
    }

    /// Whether both are workers of one parent: the same program, and the other one was there before. A new one may be
    /// the one that replaces it.
    fn is_one_of_several_with(&self, other: &Process) -> bool {
        !other.is_new && other.parent == self.parent && other.name == self.name
    }

    fn look(&mut self, machine: &mut dyn Machine, stat: &Stat, sum: &mut Sum, readings: &mut Readings<'_>) {
        let (pid, page) = (stat.pid, machine.units().page);
        let is_slow = self.slow_at <= Instant::now();
        if is_slow {
            self.slow_at = Instant::now() + SLOWLY;
        }
        sum.memory += stat.rss * page;
        sum.major_faults += stat.majflt;
        sum.thread_count += stat.num_threads.max(0) as u64;
        if let Ok(status) = parsed::<Status>(machine, &format!("/proc/{pid}/status")) {
            let swap = status.vmswap.map(|kib| kib * 1024);
            sum.swap = swap.map(|swap| swap + sum.swap.unwrap_or(0)).or(sum.swap);
        }
        if let Err(error) = self.threads(machine, pid, is_slow, sum) {
            readings.not_measured("CPU of a process is", &Unread::because(error));
        }
        match self.files(machine, pid, is_slow) {
            Ok((open, limit)) => {
                let share = |(open, limit): (u64, u64)| open as f64 / limit as f64;
                if sum.files.is_none_or(|most| share((open, limit)) > share(most)) {
                    sum.files = Some((open, limit));
                }
            }
            Err(error) => {
                let why = format!("process {pid} ({}): {error}", self.name);
                let unread = Unread::because(why).hint("run as the user of the target, or as root");
                readings.not_measured("open files are", &unread);
            }
        }
    }

    fn files(&mut self, machine: &mut dyn Machine, pid: i32, is_slow: bool) -> io::Result<(u64, u64)> {
        let open = machine.count(&format!("/proc/{pid}/fd"))?;
        if is_slow || self.files_limit.is_none() {
            let limits: Limits = parsed(machine, &format!("/proc/{pid}/limits"))?;
            self.files_limit = Some(match limits.max_open_files.soft_limit {
                LimitValue::Value(limit) => limit.max(1),
                LimitValue::Unlimited => u64::MAX,
            });
        }
        Ok((open, self.files_limit.unwrap_or(u64::MAX)))
    }

    fn threads(
        &mut self,
        machine: &mut dyn Machine,
        pid: i32,
        is_slow: bool,
        sum: &mut Sum,
    ) -> io::Result<()> {
        let mut now = HashMap::new();
        let tids = machine.list(&format!("/proc/{pid}/task"))?;
        let wanted = tids.iter().map(|tid| Wanted::Read(format!("/proc/{pid}/task/{tid}/schedstat")));
        machine.ahead(wanted.collect(), true)?;
        for tid in tids {
            let Ok(tid) = tid.parse::<i32>() else { continue };
            let before = self.threads.remove(&tid);
            // A thread that has ended meanwhile.
            let Ok(thread) = Thread::read(machine, (pid, tid), before.as_ref().filter(|_| !is_slow)) else {
                continue;
            };
            if let Some(before) = before {
                sum.add(&before, &thread, pid == tid);
            }
            now.insert(tid, thread);
        }
        self.threads = now;
        Ok(())
    }
}

impl Thread {
    fn read(
        machine: &mut dyn Machine,
        (pid, tid): (i32, i32),
        before: Option<&Thread>,
    ) -> io::Result<Thread> {
        let at = Instant::now();
        let folder = format!("/proc/{pid}/task/{tid}");
        let scheduled = parsed::<Schedstat>(machine, &format!("{folder}/schedstat"))
            .ok()
            .map(|it| (it.sum_exec_runtime as f64 / 1e9, it.run_delay as f64 / 1e9));
        match (before, scheduled) {
            (Some(before), Some((ran, waited))) => {
                Ok(Thread { name: before.name.clone(), ran, waited: Some(waited), at })
            }
            (_, scheduled) => {
                let stat: Stat = parsed(machine, &format!("{folder}/stat"))?;
                let ticks = machine.units().seconds(stat.utime + stat.stime);
                let name = format!("{} {tid}", stat.comm);
                let (ran, waited) = scheduled.map_or((ticks, None), |(ran, waited)| (ran, Some(waited)));
                Ok(Thread { name, ran, waited, at })
            }
        }
    }
}

impl Sum {
    /// Adds what a thread did since it was read before.
    fn add(&mut self, before: &Thread, now: &Thread, is_main: bool) {
        let seconds = now.at.duration_since(before.at).as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        self.has_rates = true;
        let share = ((now.ran - before.ran) / seconds).max(0.0);
        self.cpu += share;
        if is_main {
            self.main_thread = Some(self.main_thread.unwrap_or(0.0).max(share));
            self.main_threads += share;
        }
        if let (Some(before), Some(now)) = (before.waited, now.waited) {
            *self.waiting.get_or_insert(0.0) += ((now - before) / seconds).max(0.0);
        }
        if share >= BUSY {
            self.threads.push((share, now.name.clone()));
        }
    }

    fn tell(mut self, readings: &mut Readings<'_>) {
        readings.level("target.memory", &[], self.memory as f64);
        readings.level("target.threads", &[], self.thread_count as f64);
        readings.total("target.major_faults", &[], self.major_faults as f64);
        match self.swap {
            Some(swap) => readings.level("target.swap", &[], swap as f64),
            None => {
                readings.not_measured("swap is", &Unread::because("the system does not say it of a process"));
            }
        }
        if let Some((open, limit)) = self.files {
            readings.level("target.open_files", &[], open as f64);
            if limit < u64::MAX {
                readings.level("target.open_files.limit", &[], limit as f64);
            }
        }
        if !self.has_rates {
            return;
        }
        readings.level("target.cpu", &[], self.cpu);
        if let Some(share) = self.main_thread {
            readings.level("target.cpu.main_thread", &[], share);
            readings.level("target.cpu.other_threads", &[], (self.cpu - self.main_threads).max(0.0));
        }
        match self.waiting {
            Some(waiting) => readings.level("target.cpu.waiting", &[], waiting),
            None => {
                let unread = Unread::because("the kernel keeps no /proc/PID/schedstat (CONFIG_SCHED_INFO)");
                readings.not_measured("waiting for a core is", &unread);
            }
        }
        self.threads.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (share, thread) in self.threads.iter().take(THREADS_TOLD) {
            readings.level("target.cpu.thread", &[("thread", thread)], *share);
        }
    }
}
