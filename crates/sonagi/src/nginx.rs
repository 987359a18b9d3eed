//! The configuration of an nginx in front of instances of `sonagi serve`.
//!
//! It is a template beside this file, so that it can be read as what it is; here are the parts that depend on how many
//! instances there are and on the service's limits. The decision a reader would question, how sessions that are polled
//! find their instance, is explained in it.

use sonagi_chat::{Config, Limits, TlsFiles};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

const TEMPLATE: &str = include_str!("nginx.conf");

/// The most instances: one has a group and a line for its sessions of its own.
const MOST: usize = 64;

/// Room for the slowest timer between what the service notices and what nginx does.
const SLACK: Duration = Duration::from_secs(15);

/// The value of `--instances`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instances {
    /// So many, at the ports behind nginx's own.
    Count(u16),
    /// At these addresses, as nginx reads them.
    At(Vec<String>),
}

impl Instances {
    pub(crate) fn parse(text: &str) -> Result<Instances, String> {
        let wrong = || {
            format!(
                "instances are a number from 1 to {MOST}, or addresses such as 10.0.0.1:8080,10.0.0.2:8080"
            )
        };
        if let Ok(count) = text.parse() {
            return if (1..=MOST as u16).contains(&count) {
                Ok(Instances::Count(count))
            } else {
                Err(wrong())
            };
        }
        let addresses: Vec<_> = text.split(',').map(str::to_owned).collect();
        let are_valid = addresses.iter().all(|address| is_address(address)) && addresses.len() <= MOST;
        if are_valid { Ok(Instances::At(addresses)) } else { Err(wrong()) }
    }

    fn addresses(&self, listen: SocketAddr) -> Result<Vec<String>, String> {
        match self {
            Instances::At(addresses) => Ok(addresses.clone()),
            Instances::Count(count) => {
                let last = listen.port().checked_add(*count).filter(|_| listen.port() > 0);
                let last = last.ok_or_else(|| {
                    format!(
                        "the ports behind nginx's own are the instances', and port {} has none",
                        listen.port()
                    )
                })?;
                let at = |port| SocketAddr::new(reached(listen.ip()), port).to_string();
                Ok((listen.port() + 1..=last).map(at).collect())
            }
        }
    }
}

/// A host and a port, without anything that would end the line of a configuration.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_host = |host: &str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte))
    };
    is_host(host) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Where somebody on this machine reaches who listens there.
fn reached(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    }
}

/// The configuration: nginx listens where the service of this configuration would, with its certificate.
pub(crate) fn configuration(service: &Config, instances: &Instances) -> Result<String, String> {
    let addresses = instances.addresses(service.listen)?;
    let numbered = || addresses.iter().enumerate().map(|(at, address)| (at + 1, address));
    let lines = |line: &dyn Fn(usize, &str) -> String| {
        numbered().map(|(number, address)| line(number, address)).collect::<Vec<_>>().join("\n")
    };
    let (count, limits) = (addresses.len(), &service.limits);
    let read = longest_silence(limits).max(dead(limits)) + SLACK;
    let replacements = [
        ("@INSTANCES@", if count == 1 { "one instance".to_owned() } else { format!("{count} instances") }),
        ("@STARTS@", lines(&|number, at| format!("#   {}", start(number, at, count)))),
        ("@TOGETHER@", TOGETHER.to_owned()),
        (
            "@SIDS@",
            format!(
                "    map $arg_sid $sonagi_engineio {{\n        default sonagi;\n{}\n    }}",
                lines(&|number, _| { format!("        \"~^{number}\\.\" sonagi_{number};") })
            ),
        ),
        ("@SERVERS@", lines(&|_, at| format!("        server {at} max_fails=1 fail_timeout=5s;"))),
        ("@SINGLE@", lines(&single)),
        ("@LISTEN@", service.listen.to_string()),
        ("@SSL@", if service.tls.is_some() { " ssl" } else { "" }.to_owned()),
        ("@CERTIFICATE@", service.tls.as_ref().map_or_else(plain, certificate)),
        ("@PAYLOAD@", limits.max_payload.to_string()),
        ("@BODY@", (limits.max_payload / 1024 + 1).to_string()),
        ("@HEADER_TIMEOUT@", seconds(limits.header_timeout)),
        ("@KEPT@", seconds(limits.header_timeout * 2 / 3)),
        ("@SILENCE@", seconds(longest_silence(limits))),
        ("@DEAD@", seconds(dead(limits))),
        ("@READ@", seconds(read)),
        ("@TRIES@", count.to_string()),
    ];
    Ok(replacements.iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(name, value)))
}

/// Why the instances' command lines have more than an address.
const TOGETHER: &str = "\
# Several instances are one service when they have a store and a bus in common; --instance is for polled sessions.
# When nginx runs elsewhere than the instances, their addresses here are those it reaches them by (--instances A,B,C).";

fn start(number: usize, address: &str, count: usize) -> String {
    let shared = if count > 1 { " --store postgres://… --bus redis://…" } else { "" };
    format!("sonagi serve --listen {address} --instance {number}{shared}")
}

/// The group of one instance, for the sessions that live in it.
fn single(number: usize, address: &str) -> String {
    format!(
        "    upstream sonagi_{number} {{\n        server {address} max_fails=0;\n        keepalive 64;\n        \
         keepalive_requests 100000;\n        keepalive_timeout @KEPT@;\n    }}"
    )
}

fn certificate(files: &TlsFiles) -> String {
    let quoted =
        |path: &std::path::Path| path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "        ssl_certificate \"{}\";\n        ssl_certificate_key \"{}\";\n        \
         ssl_protocols TLSv1.2 TLSv1.3;\n        ssl_session_cache shared:sonagi:10m;\n        \
         # TLS ends here: the instances speak without.",
        quoted(&files.certificate),
        quoted(&files.key)
    )
}

fn plain() -> String {
    "        # For TLS here, print this with --tls CERT.pem,KEY.pem.".to_owned()
}

/// How long nothing may come from an instance on a connection that is well.
fn longest_silence(limits: &Limits) -> Duration {
    let Limits { ping_interval, long_hold, sse_heartbeat, sockjs_heartbeat, .. } = limits;
    [long_hold, sse_heartbeat, sockjs_heartbeat]
        .into_iter()
        .fold(*ping_interval, |most, each| most.max(*each))
}

/// After how long the service itself closes a connection whose client is gone.
fn dead(limits: &Limits) -> Duration {
    limits.ping_interval + limits.ping_timeout
}

/// In whole seconds, rounded up: nginx reads both, people read these.
fn seconds(time: Duration) -> String {
    format!("{}s", time.as_millis().div_ceil(1000).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(instances: &str, change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config { listen: "0.0.0.0:8080".parse().unwrap(), ..Config::default() };
        change(&mut config);
        configuration(&config, &Instances::parse(instances).unwrap()).unwrap()
    }

    #[test]
    fn instances_are_a_number_or_addresses() {
        assert_eq!(Instances::parse("3"), Ok(Instances::Count(3)));
        let two = ["a.example:80", "[::1]:8080"].map(str::to_owned).to_vec();
        assert_eq!(Instances::parse("a.example:80,[::1]:8080"), Ok(Instances::At(two)));
        for wrong in ["0", "65", "", "a", "a:0", "a:1;", "a:1, b:1", "a:1,", "-1"] {
            assert!(Instances::parse(wrong).unwrap_err().contains("a number from 1 to 64"), "{wrong}");
        }
    }

    #[test]
    fn instances_have_the_ports_behind_nginxs_and_each_its_number() {
        let text = of("2", |_| {});
        assert!(text.contains("listen 0.0.0.0:8080 reuseport"), "{text}");
        let starts: Vec<_> = text.lines().filter(|line| line.starts_with("#   sonagi serve")).collect();
        assert_eq!(
            starts,
            [
                "#   sonagi serve --listen 127.0.0.1:8081 --instance 1 --store postgres://… --bus redis://…",
                "#   sonagi serve --listen 127.0.0.1:8082 --instance 2 --store postgres://… --bus redis://…",
            ]
        );
        assert!(
            text.contains("\"~^2\\.\" sonagi_2;")
                && text.contains("upstream sonagi_2 {\n        server 127.0.0.1:8082 ")
        );
        assert_eq!(text.matches("server 127.0.0.1:8082 ").count(), 3);
        assert!(!text.contains('@'), "{text}");
    }

    #[test]
    fn a_port_with_none_behind_it_is_refused() {
        for listen in ["127.0.0.1:0", "127.0.0.1:65534"] {
            let config = Config { listen: listen.parse().unwrap(), ..Config::default() };
            assert!(configuration(&config, &Instances::Count(2)).is_err(), "{listen}");
        }
    }

    #[test]
    fn nginx_waits_longer_than_the_service_is_silent_or_waits_itself() {
        assert!(of("1", |_| {}).contains("proxy_read_timeout 60s;"));
        let patient = of("1", |config| config.limits.long_hold = Duration::from_secs(120));
        assert!(patient.contains("proxy_read_timeout 135s;"));
        let quick = of("1", |config| config.limits.header_timeout = Duration::from_millis(1500));
        assert!(quick.contains("keepalive_timeout 1s;"));
    }

    #[test]
    fn with_a_certificate_nginx_speaks_tls() {
        let files = TlsFiles { certificate: "/etc/a \"b\".pem".into(), key: "/etc/key.pem".into() };
        let text = of("1", |config| config.tls = Some(files));
        assert!(text.contains("listen 0.0.0.0:8080 ssl reuseport"), "{text}");
        assert!(text.contains("ssl_certificate \"/etc/a \\\"b\\\".pem\";"), "{text}");
    }
}
