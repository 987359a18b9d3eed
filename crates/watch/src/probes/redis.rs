//! Redis: what INFO and SLOWLOG say, once a second over one connection, without TLS. All commands run in one thread, so
//! its CPU is the ceiling of all of Redis.

use super::reach::Reach;
use crate::probe::{Probe, Readings, Unread};
use redis::{Client, Connection, ErrorKind, IntoConnectionInfo, RedisError, Value};
use sonagi_measure::secrets::without_tokens;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// An answer that takes longer is none.
const TIMEOUT: Duration = Duration::from_millis(900);
/// Entries of the slow log that are read at a time.
const ENTRIES: usize = 16;
/// Slow commands that are told, at most.
const TOLD_MAX: usize = 10;
/// Characters of a key that a note shows.
const KEY_SHOWN: usize = 60;

/// Gauges: fields of INFO, the metrics they are, and by how much they are multiplied.
const LEVELS: &[(&str, &str, f64)] = &[
    ("instantaneous_ops_per_sec", "redis.operations", 1.0),
    ("maxclients", "redis.clients.limit", 1.0),
    ("blocked_clients", "redis.clients.blocked", 1.0),
    ("used_memory", "redis.memory", 1.0),
    ("instantaneous_output_kbps", "redis.output", 1024.0),
    ("client_recent_max_output_buffer", "redis.client_buffer", 1.0),
];
const TOTALS: &[(&str, &str)] =
    &[("rejected_connections", "redis.rejected"), ("evicted_keys", "redis.evicted")];

/// A probe of the Redis at this address.
pub(super) fn of(address: &str) -> Result<Box<dyn Probe>, String> {
    let told = super::without_password(address);
    if address.starts_with("rediss://") {
        return Err(format!(
            "Redis is watched without TLS; got `{told}`\nhint: connect from where TLS is not asked for: its own \
             machine, a private network, or `ssh -L 6380:localhost:6379 HOST`"
        ));
    }
    // What the library says of an address may hold the password.
    let info = address.into_connection_info();
    let info = info.map_err(|_| format!("an address is redis://USER:PASSWORD@HOST:PORT; got `{told}`"))?;
    let at = info.addr().to_string();
    let client = Client::open(info).map_err(|error| error.to_string())?;
    Ok(Box::new(Redis {
        told,
        at,
        client,
        connection: None,
        reach: Reach::default(),
        last_entry: None,
        slow_told: HashSet::new(),
    }))
}

struct Redis {
    /// The address without user and password.
    told: String,
    at: String,
    client: Client,
    connection: Option<Connection>,
    reach: Reach,
    /// The newest entry of the slow log that was seen.
    last_entry: Option<i64>,
    slow_told: HashSet<String>,
}

impl Probe for Redis {
    fn subject(&self) -> String {
        self.told.clone()
    }

    fn tags(&self) -> Vec<(&'static str, String)> {
        vec![("at", self.at.clone())]
    }

    fn look(&mut self, readings: &mut Readings<'_>) -> Result<(), Unread> {
        if self.reach.is_waiting() {
            return Ok(());
        }
        let info = self.info();
        if info.is_err() {
            self.connection = None;
        }
        let info = self.reach.took(info, readings)?;
        figures(&info, readings);
        self.slow(readings);
        Ok(())
    }
}

impl Redis {
    fn info(&mut self) -> Result<String, Unread> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let opened =
                    self.client.get_connection_with_timeout(TIMEOUT).map_err(|error| unread(&error))?;
                let timeout = Some(TIMEOUT);
                let limited =
                    opened.set_read_timeout(timeout).and_then(|()| opened.set_write_timeout(timeout));
                limited.map_err(|error| unread(&error))?;
                // A Redis that was restarted counts its entries from 0 again.
                self.last_entry = None;
                self.connection.insert(opened)
            }
        };
        redis::cmd("INFO").query(connection).map_err(|error| unread(&error))
    }

    /// Counts and tells new entries of the slow log.
    fn slow(&mut self, readings: &mut Readings<'_>) {
        let Some(connection) = &mut self.connection else { return };
        let entries: Vec<Value> = match redis::cmd("SLOWLOG").arg("GET").arg(ENTRIES).query(connection) {
            Ok(entries) => entries,
            Err(error) => return readings.not_measured("its slow log is", &unread(&error)),
        };
        let entries: Vec<Entry> = entries.iter().filter_map(entry).collect();
        let newest = entries.iter().map(|entry| entry.id).max().unwrap_or(-1);
        // What was slow before is not told. A log that was reset goes on counting.
        let Some(last) = self.last_entry.replace(newest.max(self.last_entry.unwrap_or(-1))) else { return };
        readings.increase("redis.slow", &[], (newest - last).max(0) as f64);
        for entry in entries.iter().rev().filter(|entry| entry.id > last) {
            if self.slow_told.len() < TOLD_MAX && self.slow_told.insert(entry.command.clone()) {
                readings.happened(format_args!("`{}` took {:.0} ms", entry.shown, entry.took_ms));
            }
        }
    }
}

fn figures(info: &str, readings: &mut Readings<'_>) {
    let fields: HashMap<&str, f64> = info
        .lines()
        .filter_map(|line| line.trim_end().split_once(':'))
        .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
        .collect();
    let of = |name: &str| fields.get(name).copied();
    for (field, metric, factor) in LEVELS {
        if let Some(value) = of(field) {
            readings.level(metric, &[], value * factor);
        }
    }
    for (field, metric) in TOTALS {
        if let Some(total) = of(field) {
            readings.total(metric, &[], total);
        }
    }
    if let Some(clients) = of("connected_clients") {
        readings.level("redis.clients", &[], (clients - 1.0).max(0.0));
    }
    if let Some(limit) = of("maxmemory").filter(|limit| *limit > 0.0) {
        readings.level("redis.memory.limit", &[], limit);
    }
    // Since 6.2 that of the thread in which commands run is told apart from what saves and frees in the background.
    let cpu =
        |thread: &str| Some(of(&format!("used_cpu_sys{thread}"))? + of(&format!("used_cpu_user{thread}"))?);
    if let Some(seconds) = cpu("_main_thread").or_else(|| cpu("")) {
        readings.pace("redis.cpu", &[], seconds);
    }
}

/// A command that was slow.
#[derive(Debug)]
struct Entry {
    id: i64,
    took_ms: f64,
    command: String,
    /// With its key.
    shown: String,
}

/// Number, time, microseconds, the command with its arguments; what follows depends on the version.
fn entry(value: &Value) -> Option<Entry> {
    let Value::Array(parts) = value else { return None };
    let [Value::Int(id), _, Value::Int(took_us), Value::Array(words), ..] = parts.as_slice() else {
        return None;
    };
    let word = |at: usize| match words.get(at)? {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    };
    let command: String = word(0)?.to_uppercase();
    // A key, if it has one, says where to look; what is stored there is nobody's business.
    let key: String = word(1).unwrap_or_default().chars().take(KEY_SHOWN).collect();
    let rest = if words.len() > 2 { " …" } else { "" };
    let shown = match command.as_str() {
        "EVAL" | "AUTH" | "HELLO" | "CONFIG" | "ACL" => format!("{command} …"),
        _ => format!("{command} {}{rest}", without_tokens(&key)).trim_end().to_owned(),
    };
    Some(Entry { id: *id, took_ms: *took_us as f64 / 1e3, command, shown })
}

/// The reason in words that hold no password.
fn unread(error: &RedisError) -> Unread {
    if error.is_timeout() {
        return Unread::because("it does not answer within 0.9 s");
    }
    match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _) | (_, Some("WRONGPASS" | "NOAUTH")) => {
            Unread::because("it refuses the password, or wants one")
                .hint("give user and password in the address: redis://USER:PASSWORD@HOST:PORT")
        }
        (_, Some("NOPERM")) => {
            Unread::because("its user may not ask").hint("ACL SETUSER NAME +info +slowlog|get")
        }
        (_, Some(_)) => Unread::because(error.detail().unwrap_or("it refuses to say")),
        _ if error.is_connection_refusal() => Unread::because("nothing listens there"),
        _ if error.is_io_error() => Unread::because("the connection failed"),
        _ => Unread::because("what it answers is not Redis"),
    }
}
