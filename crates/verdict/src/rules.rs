//! The table of rules, in the order of how directly their signals name a cause: what the system counted itself comes
//! before what was merely full.

mod accept_queue;
mod cpu;
mod cpu_quota;
mod db_connections;
mod db_locks;
mod death;
mod dependency;
mod descriptors;
mod event_loop;
mod garbage;
mod generator;
mod loop_blocked;
mod memory;
mod neighbour;
mod network;
mod nginx_connections;
mod pool_large;
mod pool_small;
mod ports;
mod rate_limit;
mod redis;
mod slow_consumer;
mod slow_query;
mod steal;
mod syn_retries;
mod worker_threads;

use crate::case::Case;
use crate::diagnosis::{Evidence, Finding};
use crate::story::whole;
use sonagi_measure::figures::{bytes, figure};

/// What a rule says of a run.
pub enum Ruling {
    /// It is a cause.
    Fires(Finding),
    /// It is none, because of this.
    RuledOut(String),
    /// Nobody can say: this was not measured.
    Unmeasured(String),
}

/// A cause that can be found.
pub struct Rule {
    /// Its name in JSON and documentation.
    pub id: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Judges a run in trouble.
    pub judge: fn(&Case<'_>) -> Ruling,
}

/// All rules.
pub const TABLE: &[Rule] = &[
    Rule { id: "generator", about: "the load generator itself was too slow", judge: generator::judge },
    Rule { id: "ports", about: "the generator ran out of local ports", judge: ports::judge },
    Rule { id: "memory", about: "the target's memory ran out", judge: memory::judge },
    Rule { id: "death", about: "the target ended or was restarted", judge: death::judge },
    Rule { id: "descriptors", about: "the target's limit of open files", judge: descriptors::judge },
    Rule { id: "rate_limit", about: "a limit of requests, set on purpose", judge: rate_limit::judge },
    Rule { id: "nginx_connections", about: "nginx's limit of connections", judge: nginx_connections::judge },
    Rule { id: "db_locks", about: "locks of the database", judge: db_locks::judge },
    Rule { id: "db_connections", about: "the database's limit of connections", judge: db_connections::judge },
    Rule { id: "cpu_quota", about: "the CPU quota of the target's cgroup", judge: cpu_quota::judge },
    Rule { id: "steal", about: "CPU time that other virtual machines took", judge: steal::judge },
    Rule { id: "accept_queue", about: "the target's accept queue", judge: accept_queue::judge },
    Rule { id: "redis", about: "Redis: its thread, memory or limit of clients", judge: redis::judge },
    Rule {
        id: "pool_large",
        about: "more sessions than the database has cores for",
        judge: pool_large::judge,
    },
    Rule {
        id: "slow_query",
        about: "one statement that takes the database's time",
        judge: slow_query::judge,
    },
    Rule { id: "pool_small", about: "a pool with too few connections", judge: pool_small::judge },
    Rule { id: "garbage", about: "garbage collection", judge: garbage::judge },
    Rule { id: "worker_threads", about: "the target's worker threads", judge: worker_threads::judge },
    Rule { id: "event_loop", about: "a single thread or event loop", judge: event_loop::judge },
    Rule { id: "loop_blocked", about: "an event loop that is blocked at times", judge: loop_blocked::judge },
    Rule { id: "neighbour", about: "other processes on the target's machine", judge: neighbour::judge },
    Rule { id: "cpu", about: "the CPU of the target's machine", judge: cpu::judge },
    Rule {
        id: "slow_consumer",
        about: "clients that do not read what they are sent",
        judge: slow_consumer::judge,
    },
    Rule { id: "network", about: "the network", judge: network::judge },
    Rule { id: "syn_retries", about: "SYNs that somebody dropped", judge: syn_retries::judge },
    Rule { id: "dependency", about: "something that the target waits for", judge: dependency::judge },
];

/// A clause about a series.
fn evidence(series: &str, text: impl Into<String>) -> Evidence {
    Evidence { series: series.to_owned(), text: text.into() }
}

/// The ruling of a rule whose series are missing.
fn unmeasured(what: &str) -> Ruling {
    Ruling::Unmeasured(format!("nobody measured {what}"))
}

/// Bytes with their unit, none below zero.
fn size(of: f64) -> String {
    bytes(of.max(0.0) as u64)
}

/// A share in percent.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
