//! The table of probes: what can be watched, how it is written, and which file looks.

mod cgroup;
mod connections;
mod exposition;
mod host;
mod listeners;
mod metrics_page;
mod nginx;
mod node;
mod own;
mod page;
mod peer;
mod postgres;
mod postgres_statements;
mod processes;
mod reach;
mod redis;
mod relay;
mod sockets;
mod sql;
mod target;

pub use own::own_connections;
pub use relay::TOKEN;
pub use target::{Target, on_machine};

use crate::machine::{Local, Shell};
use crate::probe::Probe;

/// A kind of probe.
pub struct Kind {
    /// The way its subject is written: `port:3000`.
    pub form: &'static str,
    /// What it watches, for `--help` and the documentation.
    pub about: &'static str,
    /// Whether a text means this kind.
    is_meant: fn(&str) -> bool,
    /// A probe of the subject.
    make: fn(&str) -> Result<Box<dyn Probe>, String>,
}

/// All kinds, in the order in which they are asked.
pub const TABLE: &[Kind] = &[
    Kind {
        form: "port:NUMBER",
        about: "the processes that listen there, their children, cgroup and host",
        is_meant: |text| text.starts_with("port:"),
        make: |text| {
            let port = target::port(text.trim_start_matches("port:"));
            port.map(|port| on_machine(Local, Target::Port(port)))
        },
    },
    Kind {
        form: "pid:NUMBER",
        about: "this process, its children, cgroup and host",
        is_meant: |text| text.starts_with("pid:"),
        make: |text| {
            let pid = target::pid(text.trim_start_matches("pid:"));
            pid.map(|pid| on_machine(Local, Target::Pid(pid)))
        },
    },
    Kind {
        form: "ssh:[USER@]HOST[:PORT][/port:NUMBER or /pid:NUMBER]",
        about: "another machine by its shell, and the service or process there",
        is_meant: |text| text.starts_with("ssh:"),
        make: |text| {
            let (there, target) = text.trim_start_matches("ssh:").split_once('/').unzip();
            let there = there.unwrap_or(text.trim_start_matches("ssh:"));
            let target = match target.map(|target| (target.split_once(':'), target)) {
                None => Target::Machine,
                Some((Some(("port", port)), _)) => Target::Port(target::port(port)?),
                Some((Some(("pid", pid)), _)) => Target::Pid(target::pid(pid)?),
                Some((_, other)) => {
                    return Err(format!("there it is port:NUMBER or pid:NUMBER; got `{other}`"));
                }
            };
            Ok(on_machine(Shell::at(there)?, target))
        },
    },
    Kind {
        form: "http://HOST/metrics",
        about: "a Prometheus page: all its series; pools, event loops and garbage collection if their names are known",
        is_meant: |text| text.starts_with("http://") || text.starts_with("https://"),
        make: metrics_page::of,
    },
    Kind {
        form: "postgres://USER@HOST/DATABASE",
        about: "PostgreSQL: sessions, waits, locks with both statements, and which statement takes its time",
        is_meant: |text| text.starts_with("postgres://") || text.starts_with("postgresql://"),
        make: postgres::of,
    },
    Kind {
        form: "redis://HOST",
        about: "Redis: the CPU of its thread, clients, memory, evictions, refused connections, slow commands",
        is_meant: |text| text.starts_with("redis://") || text.starts_with("rediss://"),
        make: redis::of,
    },
    Kind {
        form: "nginx:http://HOST/STATUS[#log=/PATH]",
        about: "nginx: its stub_status page, and its error log if it is on this machine",
        is_meant: |text| text.starts_with("nginx:"),
        make: nginx::of,
    },
    Kind {
        form: "node:PID or node:port:NUMBER",
        about: "a Node process from inside, by its inspector: its event loop, garbage, heap, and what holds the loop",
        is_meant: |text| text.starts_with("node:"),
        make: |text| node::of(text.trim_start_matches("node:")),
    },
    Kind {
        form: "sonagi:http://HOST:PORT[#token=TOKEN]",
        about: "all that `sonagi watch --serve` sees there; its token may also stand in SONAGI_WATCH_TOKEN",
        is_meant: |text| text.starts_with("sonagi:"),
        make: |text| relay::of(text.trim_start_matches("sonagi:")),
    },
];

/// The probe that a text asks for.
///
/// # Errors
/// It is none of the [`TABLE`], or malformed: what the rule is and what we got.
pub fn probe(text: &str) -> Result<Box<dyn Probe>, String> {
    match TABLE.iter().find(|kind| (kind.is_meant)(text)) {
        Some(kind) => (kind.make)(text),
        None => {
            let forms: Vec<&str> = TABLE.iter().map(|kind| kind.form).collect();
            Err(format!("what to watch is one of {}; got `{}`", forms.join(", "), without_password(text)))
        }
    }
}

/// A text that may be an address, without the user and password in it, and without its query. A password may have
/// anything in it, so whatever stands before the last `@` goes.
fn without_password(text: &str) -> String {
    let scheme = text.split_once("//").map_or("", |(scheme, _)| scheme);
    let scheme = if scheme.ends_with(':') && !scheme.contains('@') { scheme } else { "" };
    let rest = match text.rsplit_once('@') {
        Some((_, host)) if scheme.is_empty() => host.to_owned(),
        Some((_, host)) => format!("{scheme}//{host}"),
        None => text.to_owned(),
    };
    rest.split(['?', '#']).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_without_its_password() {
        for (text, told) in [
            ("postgres://u:planted@h:1/db?password=planted", "postgres://h:1/db"),
            ("nginx:http://u:p@planted@h/status#log=/x", "nginx:http://h/status"),
            ("postgres://u:pl?an#ted/@h/db", "postgres://h/db"),
            ("u:planted@h", "h"),
            ("u:planted@h//x", "h//x"),
            ("u:plan//ted@h", "h"),
            ("sun", "sun"),
        ] {
            assert_eq!(without_password(text), told);
        }
    }
}
