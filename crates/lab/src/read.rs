//! What a script says of its service, read from JSON: settings, or all that is wrong with them.
//!
//! Both script languages hand over the same document. A mistake has a JSON pointer; where that stands in a file is the
//! language's to know.

mod restart;

use crate::host;
use crate::settings::{Command, Credits, Launch, Limits, Network, Ready, Stop, StopBy};
use crate::units;
use rustix::process::Signal;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

/// A mistake in what is said of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is, as a JSON pointer: `/limits/cpu`.
    pub pointer: String,
    /// Whether it is the key at that place and not its value.
    pub is_key: bool,
    /// A lowercase fragment: the rule, and what was found.
    pub what: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// All keys, by the place they stand in.
pub const KEYS: &[(&str, &[&str])] = &[
    (
        "launch",
        &[
            "command", "folder", "env", "ready", "patience", "stop", "limits", "host", "before", "after",
            "restart", "apply", "read", "restore",
        ],
    ),
    ("ready", &["line"]),
    ("stop", &["signal", "grace"]),
    ("limits", &["cpu", "memory", "swap", "nofile", "credits", "network"]),
    ("network", &["latency", "bandwidth", "cut"]),
    ("cut", &["every"]),
    ("read", &["command", "equals"]),
];

/// A value of each key, as one would write it: the hint of a mistake that has no better one.
const EXAMPLES: &[(&str, &str)] = &[
    ("launch", "{ command: node dist/main.js }"),
    ("command", "node dist/main.js"),
    ("folder", "../service"),
    ("env", "{ DB_POOL: 10 }"),
    ("ready", "http://127.0.0.1:3000/healthz"),
    ("line", "listening"),
    ("patience", "30s"),
    ("stop", "{ signal: SIGTERM, grace: 10s }"),
    ("signal", "SIGTERM"),
    ("grace", "10s"),
    ("limits", "{ cpu: 1, memory: 1 GB }"),
    ("cpu", "0.5"),
    ("memory", "1 GB"),
    ("swap", "1 GB"),
    ("nofile", "1024"),
    ("credits", "0"),
    ("network", "{ latency: 20ms, bandwidth: 60mbit }"),
    ("latency", "20ms"),
    ("bandwidth", "60mbit"),
    ("cut", "{ every: 30s }"),
    ("every", "30s"),
    ("before", "psql -f reset.sql"),
    ("after", "./clean.sh"),
    ("apply", "./set-pool.sh 10"),
    ("restart", "systemctl restart chat"),
    ("read", "{ command: ./get-pool.sh, equals: 10 }"),
    ("equals", "10"),
    ("restore", "./set-pool.sh 5"),
];

/// The time limit for getting ready, when the script says none.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time between the stop signal and the end, when the script says none.
const GRACE: Duration = Duration::from_secs(10);
/// The longest grace: an end that takes longer holds up everything after it.
const LONGEST_GRACE: Duration = Duration::from_secs(600);

/// Reads what stands under `launch`.
///
/// # Errors
/// All mistakes in it.
pub fn read(value: &Value) -> Result<Launch, Vec<Mistake>> {
    let mut reading = Reading::default();
    match reading.launch(value) {
        Some(launch) if reading.mistakes.is_empty() => Ok(launch),
        _ => Err(reading.mistakes),
    }
}

#[derive(Default)]
struct Reading {
    mistakes: Vec<Mistake>,
}

impl Reading {
    fn wrong(&mut self, pointer: &str, what: String, hint: Option<String>) {
        let hint = hint.or_else(|| example(pointer));
        self.mistakes.push(Mistake { pointer: pointer.to_owned(), is_key: false, what, hint });
    }

    /// A mapping with no keys but the known ones of its place.
    fn mapping<'v>(
        &mut self,
        place: &str,
        pointer: &str,
        value: &'v Value,
    ) -> Option<&'v Map<String, Value>> {
        let Some(map) = value.as_object() else {
            self.wrong(pointer, format!("{place} wants a mapping; got {}", shown(value)), None);
            return None;
        };
        let known = KEYS.iter().find(|(name, _)| *name == place).map_or(&[][..], |(_, keys)| keys);
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let hint = match nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("known keys: {}", known.join(", ")),
            };
            let (pointer, what) = (within(pointer, key), format!("unknown key \"{key}\" in {place}"));
            self.mistakes.push(Mistake { pointer, is_key: true, what, hint: Some(hint) });
        }
        Some(map)
    }

    /// What a reader makes of a value; what it makes nothing of is a mistake.
    fn value<T>(
        &mut self,
        (map, pointer, key): (&Map<String, Value>, &str, &str),
        wants: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = given(map, key)?;
        let read = read(value);
        if read.is_none() {
            self.wrong(&within(pointer, key), format!("{key} wants {wants}; got {}", shown(value)), None);
        }
        read
    }

    fn time(&mut self, at: (&Map<String, Value>, &str, &str)) -> Option<Duration> {
        self.value(at, "a time: seconds, or a text like \"500ms\", \"30s\", \"5m\"", time)
    }

    fn launch(&mut self, value: &Value) -> Option<Launch> {
        let map = self.mapping("launch", "", value)?;
        let restarted = self.restart(map);
        let command = self.command(map, "command");
        let is_told = |mistake: &Mistake| {
            mistake.pointer == "/command" || mistake.hint.as_deref() == Some("did you mean \"command\"?")
        };
        if command.is_none() && given(map, "restart").is_none() && !self.mistakes.iter().any(is_told) {
            let hint =
                "e.g. `command: node dist/main.js`; for a service that runs already: `restart: systemctl \
                        restart chat`"
                    .to_owned();
            self.wrong("", "launch has no command".to_owned(), Some(hint));
        }
        let folder =
            self.value((map, "", "folder"), "a folder's name", |value| text(value).map(PathBuf::from));
        let env = self.env(map);
        let ready = given(map, "ready").and_then(|value| self.ready(value));
        if let (Some(_), Some(Ready::Line(_))) = (&restarted, &ready) {
            let what = "a service that runs already prints its lines elsewhere".to_owned();
            self.wrong("/ready", what, None);
        }
        let patience = self.time((map, "", "patience"));
        let stop = self.stop(map);
        let (limits, network) = self.limits(map);
        let (before, after) = (self.command(map, "before"), self.command(map, "after"));
        let patience = patience.unwrap_or(PATIENCE);
        let (restart, command) = match restarted {
            Some((command, restart)) => (Some(restart), Some(command)),
            None => (None, command),
        };
        let command = command?;
        Some(Launch {
            key: "launch",
            command,
            restart,
            folder,
            env,
            ready,
            patience,
            stop,
            limits,
            network,
            before,
            after,
        })
    }

    fn command(&mut self, map: &Map<String, Value>, key: &str) -> Option<Command> {
        self.value((map, "", key), "a text for `sh -c`, or a list of a program and its arguments", command)
    }

    fn env(&mut self, map: &Map<String, Value>) -> Vec<(String, String)> {
        let Some(given) = given(map, "env") else { return Vec::new() };
        let Some(given) = given.as_object() else {
            self.wrong("/env", format!("env wants a mapping of names to texts; got {}", shown(given)), None);
            return Vec::new();
        };
        let mut env = Vec::new();
        for (name, value) in given {
            let pointer = within("/env", name);
            if name.is_empty() || name.contains(['=', '\0']) {
                self.wrong(
                    &pointer,
                    format!("a variable's name has no `=` and is not empty; got \"{name}\""),
                    None,
                );
            }
            match scalar(value).filter(|text| !text.contains('\0')) {
                Some(text) => env.push((name.clone(), text)),
                None => {
                    self.wrong(&pointer, format!("{name} in env wants a text; got {}", shown(value)), None);
                }
            }
        }
        env
    }

    fn ready(&mut self, value: &Value) -> Option<Ready> {
        if value.is_object() {
            let map = self.mapping("ready", "/ready", value)?;
            let line = self.value((map, "/ready", "line"), "a text", |value| {
                text(value).filter(|line| !line.is_empty() && !line.contains('\n'))
            });
            if line.is_none() && map.is_empty() {
                self.wrong("/ready/line", "ready says nothing".to_owned(), None);
            }
            return line.map(Ready::Line);
        }
        let read = match value {
            Value::Number(number) => number.as_u64().and_then(port).map(Ready::Port),
            Value::String(text) => ready_of(text.trim()),
            _ => None,
        };
        if read.is_none() {
            let what =
                format!("ready wants http://HOST:PORT/PATH, a port or {{line: TEXT}}; got {}", shown(value));
            let is_tls = value.as_str().is_some_and(|text| text.trim().starts_with("https:"));
            let hint = is_tls.then(|| "name its port instead, e.g. `ready: port 3443`".to_owned());
            self.wrong("/ready", what, hint);
        }
        read
    }

    fn stop(&mut self, map: &Map<String, Value>) -> Stop {
        let usual = Stop { by: StopBy::Signal(Signal::TERM.as_raw()), grace: GRACE };
        let Some(value) = given(map, "stop") else { return usual };
        let Some(map) = self.mapping("stop", "/stop", value) else { return usual };
        let wants = format!("one of {}", units::signals());
        let signal = self.value((map, "/stop", "signal"), &wants, |value| {
            text(value).and_then(|text| units::signal(&text))
        });
        let grace = self.value((map, "/stop", "grace"), "a time of at most 10 minutes", |value| {
            time(value).filter(|grace| *grace <= LONGEST_GRACE)
        });
        Stop { by: signal.map_or(usual.by, StopBy::Signal), grace: grace.unwrap_or(usual.grace) }
    }

    /// The limits, those of `host` under those of `limits`. With `host: none` there are none, whatever `limits` says: a
    /// matrix of hosts has one `limits` for all of them.
    fn limits(&mut self, map: &Map<String, Value>) -> (Limits, Option<Network>) {
        let named = given(map, "host");
        let is_none = named.and_then(Value::as_str).is_some_and(|name| name.trim() == host::NONE);
        let mut limits = named.and_then(host_of).unwrap_or_default();
        if let Some(value) = named.filter(|value| host_of(value).is_none()) {
            let names: Vec<&str> = host::names().collect();
            let near = value.as_str().and_then(|given| nearest(given, names.iter().copied()));
            let hint = match near {
                Some(near) => format!("did you mean \"{near}\"? Known: {}", names.join(", ")),
                None => format!("known: {}", names.join(", ")),
            };
            self.wrong(
                "/host",
                format!("host wants the name of a known machine; got {}", shown(value)),
                Some(hint),
            );
        }
        let Some(value) = given(map, "limits") else { return (limits, None) };
        let Some(map) = self.mapping("limits", "/limits", value) else { return (limits, None) };
        let cpu = self.value((map, "/limits", "cpu"), "a number of cores, at least 0.01", |value| {
            number(value).filter(|cores| (0.01..=4096.0).contains(cores))
        });
        if cpu.is_some() {
            limits.cpu = cpu;
            limits.credits = None;
        }
        let memory =
            self.value((map, "/limits", "memory"), "a size of at least 1 MB, as 1 GB or 512 MiB", |value| {
                scalar(value).and_then(|text| units::bytes(&text)).filter(|bytes| *bytes >= 1_000_000)
            });
        limits.memory = memory.or(limits.memory);
        limits.swap = self.swap(map, &limits, is_none);
        limits.nofile = self.value((map, "/limits", "nofile"), "a number of files, at least 8", |value| {
            scalar(value)?.trim().parse().ok().filter(|files| (8..=1 << 30).contains(files))
        });
        let credits =
            self.value((map, "/limits", "credits"), "a number of CPU credits, 0 or more", |value| {
                number(value).filter(|credits| (0.0..=1e6).contains(credits))
            });
        match (credits, &mut limits.credits) {
            (Some(at_start), Some(Credits { most, .. })) if at_start > *most => {
                let what = format!("the host saves up at most {most} credits, got {at_start}");
                let hint = format!("e.g. `credits: {most}`");
                self.wrong("/limits/credits", what, Some(hint));
            }
            (Some(at_start), Some(credits)) => credits.at_start = at_start,
            (Some(_), None) if !is_none => {
                let what = "credits are those of a `host` that has some, and of its processor".to_owned();
                let hint = "e.g. `host: t2.micro`, without `limits.cpu`".to_owned();
                self.wrong("/limits/credits", what, Some(hint));
            }
            (Some(_), None) | (None, _) => {}
        }
        let network = given(map, "network");
        let network = network.and_then(|value| self.network(value));
        if is_none { (Limits::default(), None) } else { (limits, network) }
    }

    /// What may be swapped out beyond the limit of memory.
    fn swap(&mut self, map: &Map<String, Value>, limits: &Limits, is_none: bool) -> Option<u64> {
        let swap = self.value((map, "/limits", "swap"), "a size, as 1 GB, or 0", |value| {
            scalar(value).and_then(|text| if text.trim() == "0" { Some(0) } else { units::bytes(&text) })
        });
        let swap = swap.filter(|bytes| *bytes > 0)?;
        if limits.memory.is_none() && given(map, "memory").is_none() && !is_none {
            let what = "swap is beyond a limit of memory, and there is none".to_owned();
            self.wrong("/limits/swap", what, Some("e.g. `memory: 1 GB` beside it, or a `host`".to_owned()));
        }
        Some(swap)
    }

    fn network(&mut self, value: &Value) -> Option<Network> {
        let place = "/limits/network";
        let map = self.mapping("network", place, value)?;
        let latency = self.value((map, place, "latency"), "a time of at most a minute", |value| {
            time(value).filter(|time| *time <= Duration::from_secs(60))
        });
        let bandwidth = self.value((map, place, "bandwidth"), "bits a second, as 60mbit", |value| {
            text(value).and_then(|text| units::bits(&text)).filter(|bits| *bits >= 8_000)
        });
        let cut = given(map, "cut");
        let cut = cut.and_then(|value| {
            let place = "/limits/network/cut";
            let map = self.mapping("cut", place, value)?;
            self.value((map, place, "every"), "a time of at least 100ms", |value| {
                time(value).filter(|every| *every >= Duration::from_millis(100))
            })
        });
        Some(Network { latency: latency.unwrap_or_default(), bandwidth, cut })
    }
}

/// The value of a key; None where there is none, or nothing in its place.
fn given<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    map.get(key).filter(|value| !value.is_null())
}

fn host_of(value: &Value) -> Option<Limits> {
    value.as_str().and_then(|name| host::limits(name.trim()))
}

fn command(value: &Value) -> Option<Command> {
    let words: Vec<String> = match value {
        Value::String(line) if !line.trim().is_empty() => {
            return Some(Command {
                words: vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
                shown: line.trim().to_owned(),
            });
        }
        Value::Array(words) => words.iter().map(scalar).collect::<Option<_>>()?,
        _ => return None,
    };
    let is_fit = words.first().is_some_and(|program| !program.is_empty());
    is_fit.then(|| Command { shown: words.join(" "), words }).filter(|command| !command.shown.contains('\0'))
}

/// `port 3000`, `3000` or an address.
fn ready_of(text: &str) -> Option<Ready> {
    let number = text.strip_prefix("port ").or_else(|| text.strip_prefix("port:")).unwrap_or(text);
    if let Ok(number) = number.trim().parse() {
        return port(number).map(Ready::Port);
    }
    let rest = text.strip_prefix("http://")?;
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) if rest[at..].starts_with('?') => (&rest[..at], format!("/{}", &rest[at..])),
        Some(at) => (&rest[..at], rest[at..].to_owned()),
        None => (rest, "/".to_owned()),
    };
    if path.contains(|c: char| c.is_whitespace() || c.is_control()) || authority.contains('@') {
        return None;
    }
    let (host, given) = match authority.rsplit_once(':') {
        Some((host, given)) if !given.ends_with(']') => (host, port(given.parse().ok()?)?),
        _ => (authority, 80),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    (!host.is_empty()).then_some(Ready::Http { host, port: given, path })
}

fn port(number: u64) -> Option<u16> {
    u16::try_from(number).ok().filter(|port| *port > 0)
}

fn time(value: &Value) -> Option<Duration> {
    match value {
        Value::Number(number) => number.as_f64().and_then(units::seconds_of),
        Value::String(text) => units::time(text),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    scalar(value)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// A text, a number or a truth value as a text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "a mapping".to_owned(),
        other => other.to_string(),
    }
}

/// The hint that shows what may stand there.
fn example(pointer: &str) -> Option<String> {
    let of = |name: &str| EXAMPLES.iter().find(|(known, _)| *known == name);
    // Names in `env` are free.
    let (name, value) = pointer.rsplit('/').take(2).find_map(of).or_else(|| of("launch"))?;
    Some(format!("e.g. `{name}: {value}`"))
}

/// The pointer of a member; `~` and `/` in its name are written as RFC 6901 has it.
fn within(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The nearest of these words, if one is near enough to be meant.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = if lower.chars().count() < 6 { 1 } else { 2 };
    known
        .map(|candidate| (strsim::damerau_levenshtein(&lower, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        // `readd` is `read` and not `ready`.
        .min_by_key(|(distance, candidate)| (*distance, !lower.starts_with(candidate)))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests;
