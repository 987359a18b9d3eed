//! The command line: a URL on the loopback and `--name value` pairs. Each mode takes its own options; what none
//! took is refused.

use crate::clock::SECOND;
use crate::failure::Failure;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

pub(crate) struct Arguments {
    url: String,
    options: Vec<(String, String)>,
}

/// Where the load goes.
#[derive(Debug, PartialEq)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// As the URL says it: for the `Host` header.
    pub(crate) host: String,
    pub(crate) path: String,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut parsed = Self { url: String::new(), options: Vec::new() };
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some("uring") => parsed.options.push(("uring".to_owned(), String::new())),
                Some(name) => {
                    let value = words.next().ok_or_else(|| usage(format!("--{name} needs a value")))?;
                    parsed.options.push((name.to_owned(), value));
                }
                None if parsed.url.is_empty() => parsed.url = word,
                None => return Err(usage(format!("one URL is wanted, got {word:?} too"))),
            }
        }
        Ok(parsed)
    }

    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.take(name).is_some()
    }

    /// A whole number from 1 to ten million.
    pub(crate) fn count(&mut self, name: &str, default: usize) -> Result<usize, Failure> {
        let Some(value) = self.take(name) else { return Ok(default) };
        let number = value.parse().ok().filter(|number| (1..=10_000_000).contains(number));
        number.ok_or_else(|| usage(format!("--{name} wants a number from 1 to 10000000, got {value:?}")))
    }

    /// A whole number of microseconds, 0 allowed; in nanoseconds.
    pub(crate) fn microseconds(&mut self, name: &str) -> Result<u64, Failure> {
        let Some(value) = self.take(name) else { return Ok(0) };
        let number = value.parse().ok().filter(|number| *number <= 1_000_000);
        let number: u64 =
            number.ok_or_else(|| usage(format!("--{name} wants 0 to 1000000 us, got {value:?}")))?;
        Ok(number * 1_000)
    }

    /// Seconds, a fraction allowed; in nanoseconds.
    pub(crate) fn seconds(&mut self, name: &str, default: u64) -> Result<u64, Failure> {
        let Some(value) = self.take(name) else { return Ok(default * SECOND) };
        let number = value.parse().ok().filter(|number| (0.001..=86_400.0).contains(number));
        let number: f64 = number.ok_or_else(|| usage(format!("--{name} wants seconds, got {value:?}")))?;
        Ok((number * SECOND as f64) as u64)
    }

    /// The target, when no option is left that no mode knows.
    pub(crate) fn target(&mut self) -> Result<Target, Failure> {
        match self.options.first() {
            Some((name, _)) => Err(usage(format!("this mode has no option --{name}"))),
            None => Target::parse(&self.url),
        }
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.options.iter().position(|(given, _)| given == name)?;
        Some(self.options.remove(at).1)
    }
}

impl Target {
    fn parse(url: &str) -> Result<Self, Failure> {
        let rest = url.strip_prefix("http://").or(url.strip_prefix("ws://"));
        let rest = rest.ok_or_else(|| usage(format!("the URL begins with http:// or ws://, got {url:?}")))?;
        let (host, path) = rest.find('/').map_or((rest, "/"), |slash| rest.split_at(slash));
        let address = match host.strip_prefix("localhost:") {
            Some(port) => port.parse().ok().map(|port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)),
            None => host.parse().ok(),
        };
        let address =
            address.ok_or_else(|| usage(format!("an address and a port are wanted, got {host:?}")))?;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => {}
            _ => return Err(usage(format!("only 127.0.0.0/8 is loaded, got {host}"))),
        }
        Ok(Self { address, host: host.to_owned(), path: path.to_owned() })
    }
}

fn usage(what: String) -> Failure {
    Failure::Usage(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Result<Arguments, Failure> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn only_the_loopback_is_loaded() {
        let check = |url: &str, allowed: bool| {
            assert_eq!(arguments(url).unwrap().target().is_ok(), allowed, "{url}");
        };
        check("http://127.0.0.1:8080/x?y=1", true);
        check("ws://127.9.9.9:1", true);
        check("http://localhost:80/", true);
        check("http://10.0.0.1:80/", false);
        check("http://example.com:80/", false);
        check("https://127.0.0.1:80/", false);
        check("http://127.0.0.1/", false);
    }

    #[test]
    fn a_target_without_a_path_has_the_root() {
        let target = arguments("ws://127.0.0.1:81").unwrap().target().unwrap();
        assert_eq!((target.host.as_str(), target.path.as_str()), ("127.0.0.1:81", "/"));
    }

    #[test]
    fn an_option_that_no_mode_took_is_refused() {
        let mut given = arguments("http://127.0.0.1:1/ --connections 7 --colour 3").unwrap();
        assert_eq!(given.count("connections", 50).unwrap(), 7);
        assert_eq!(given.target().unwrap_err().to_string(), "this mode has no option --colour");
        assert!(given.flag("colour"));
        assert!(given.target().is_ok());
    }

    #[test]
    fn a_value_that_is_no_number_is_refused_with_what_was_wanted() {
        let mut given = arguments("--users no --seconds 0 --gather-us -1").unwrap();
        assert_eq!(
            given.count("users", 1).unwrap_err().to_string(),
            "--users wants a number from 1 to 10000000, got \"no\""
        );
        assert!(given.seconds("seconds", 5).is_err());
        assert!(given.microseconds("gather-us").is_err());
        assert!(arguments("--users").is_err());
    }
}
