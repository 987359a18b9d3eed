//! Watching the target of a run: what was asked for, the target itself where it runs on this machine, and the network
//! that the run puts before it.

mod network;

pub(crate) use network::NetworkLateness;

use clap::{Arg, ArgAction, ArgMatches};
use network::NetworkProbe;
use serde_json::json;
use sonagi_engine::{self as engine, Sightings, Watcher};
use sonagi_measure::metrics::Registry;
use sonagi_measure::watched;
use sonagi_watch::probes::{self, Target};
use sonagi_watch::{Note, Probe, Watch, machine};
use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// What a command line says of watching.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchWish {
    /// What to watch, as `--watch` has it.
    pub(crate) texts: Vec<String>,
    /// Whether a target on this machine is watched without being asked.
    pub(crate) is_automatic: bool,
}

/// The flags for watching.
pub(crate) fn arguments() -> [Arg; 2] {
    [
        Arg::new("watch")
            .long("watch")
            .value_name("WHAT")
            .action(ArgAction::Append)
            // Judged by `runs::all`: what the parser says of a value holds its password.
            .help(
                "Watch this as well while the load goes on, e.g. port:3001 or postgres://…; may be repeated",
            ),
        Arg::new("no-watch")
            .long("no-watch")
            .action(ArgAction::SetTrue)
            .help("Do not watch a target on this machine without being asked"),
    ]
}

impl WatchWish {
    /// The wish of the flags of [`arguments`].
    pub(crate) fn of(matches: &ArgMatches) -> WatchWish {
        let texts = matches.get_many::<String>("watch").into_iter().flatten().cloned();
        WatchWish { texts: texts.collect(), is_automatic: !matches.get_flag("no-watch") }
    }
}

/// What is wrong with a text that says what to watch, without what may be a password in it.
pub(crate) fn refused(text: &str) -> Option<String> {
    probes::probe(text).err()
}

/// Judges what a command line asks to watch.
///
/// # Errors
/// What is wrong with the first text that asks for nothing that can be watched.
pub(crate) fn judge(texts: &[String]) -> Result<(), String> {
    texts.iter().find_map(|text| refused(text)).map_or(Ok(()), Err)
}

/// Probes of one run.
pub(crate) struct TargetWatch {
    /// Before the load begins.
    probes: Mutex<Vec<Box<dyn Probe>>>,
    /// Of the network before the service; None, or not there by then: there is no such network.
    network: Option<NetworkLateness>,
    /// While it goes on.
    watch: Mutex<Option<Watch>>,
}

impl fmt::Debug for TargetWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(locked(&self.probes).iter().map(|probe| probe.subject())).finish()
    }
}

impl TargetWatch {
    /// Watches what these texts ask for, and the target itself where it is known; of one that is elsewhere, our
    /// connections to it. A network before the service is watched besides. None: nothing is to be watched.
    ///
    /// # Errors
    /// A text asks for nothing that can be watched.
    pub(crate) fn of(
        texts: &[String],
        own: Option<Whereabouts>,
        network: Option<NetworkLateness>,
    ) -> Result<Option<Arc<TargetWatch>>, String> {
        let mut probes = texts.iter().map(|text| probes::probe(text)).collect::<Result<Vec<_>, _>>()?;
        // It is watched once, however it is named.
        let is_named = |target: &Target| {
            let target = match target {
                Target::Started { port, .. } => Target::Port(*port),
                other => *other,
            };
            texts.iter().any(|text| Target::named(text) == Some(target))
        };
        match own {
            Some(Whereabouts::Here(target)) if !is_named(&target) => {
                probes.insert(0, probes::on_machine(machine::Local, target));
            }
            Some(Whereabouts::There(name, address)) => {
                probes.insert(0, probes::own_connections(name, address));
            }
            Some(Whereabouts::Here(_)) | None => {}
        }
        let is_any = !probes.is_empty() || network.is_some();
        let watch = TargetWatch { probes: Mutex::new(probes), network, watch: Mutex::new(None) };
        Ok(is_any.then(|| Arc::new(watch)))
    }
}

impl Watcher for TargetWatch {
    fn begin(&self, metrics: &Arc<Registry>, epoch: Instant) {
        let mut probes = std::mem::take(&mut *locked(&self.probes));
        if let Some(lateness) = self.network.as_ref().and_then(|network| network.get()) {
            probes.push(Box::new(NetworkProbe::new(lateness.clone())));
        }
        // Without a thread to be had the load would not go on either.
        *locked(&self.watch) = Watch::start(probes, metrics, epoch.into_std()).ok();
    }

    fn take(&self) -> Sightings {
        let taken = locked(&self.watch).as_ref().map(Watch::take).unwrap_or_default();
        Sightings { interval: taken.interval, notes: taken.notes.into_iter().map(as_recorded).collect() }
    }

    fn end(&self) {
        *locked(&self.watch) = None;
    }
}

/// A note as a run's record has it.
pub(crate) fn as_recorded(note: Note) -> engine::Note {
    let Note { at, subject, text, hint, is_event } = note;
    let kind = if is_event { watched::TARGET } else { watched::UNMEASURED };
    engine::Note { at, kind, detail: json!({ "subject": subject, "text": text, "hint": hint }) }
}

/// Where the load goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// To this machine.
    Here(Target),
    /// To another one, by this name and address.
    There(String, SocketAddr),
}

impl Whereabouts {
    /// The same of a service that was started by us, with this process first.
    pub(crate) fn started_as(self, first: Option<i32>) -> Whereabouts {
        match (self, first) {
            (Whereabouts::Here(Target::Port(port)), Some(first)) => {
                Whereabouts::Here(Target::Started { first, port })
            }
            (other, _) => other,
        }
    }
}

/// Where an address leads; None: nowhere.
pub(crate) fn whereabouts(address: &str) -> Option<Whereabouts> {
    let url = url::Url::parse(address).ok()?;
    let port = url.port().or_else(|| match url.scheme() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    })?;
    let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']');
    let is_here = |ip: IpAddr| ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok();
    let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().ok()?.collect();
    if addresses.iter().any(|address| is_here(address.ip())) {
        return Some(Whereabouts::Here(Target::Port(port)));
    }
    Some(Whereabouts::There(format!("{host}:{port}"), *addresses.first()?))
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_on_this_machine_is_known_by_its_address() {
        let here = |port| Some(Whereabouts::Here(Target::Port(port)));
        assert_eq!(whereabouts("http://127.0.0.1:3000/chat"), here(3000));
        assert_eq!(whereabouts("ws://localhost"), here(80));
        assert_eq!(whereabouts("wss://[::1]:8443"), here(8443));
        // An address for documentation (RFC 5737), which no machine has.
        let there = "192.0.2.1:3000".parse().unwrap();
        let away = Whereabouts::There("192.0.2.1:3000".to_owned(), there);
        assert_eq!(whereabouts("http://192.0.2.1:3000"), Some(away));
        assert_eq!(whereabouts("not an address"), None);
    }

    #[test]
    fn the_target_is_watched_once_however_it_is_named() {
        let subjects = |texts: &[&str], address: Option<&str>| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let watch = TargetWatch::of(&texts, address.and_then(whereabouts), None).unwrap();
            watch.map(|watch| format!("{watch:?}"))
        };
        let here = Some("http://127.0.0.1:3000");
        assert_eq!(subjects(&[], None), None);
        assert_eq!(subjects(&[], here).unwrap(), r#"["port 3000"]"#);
        assert_eq!(subjects(&["port:3000"], here).unwrap(), r#"["port 3000"]"#);
        let away = Some("http://192.0.2.1:3000");
        assert_eq!(subjects(&[], away).unwrap(), r#"["connections to 192.0.2.1:3000"]"#);
        assert_eq!(subjects(&["port:3001"], here).unwrap(), r#"["port 3000", "port 3001"]"#);
        assert!(TargetWatch::of(&["sun".to_owned()], None, None).is_err());
    }
}
