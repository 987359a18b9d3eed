//! Which addresses and hosts a test may call, where names lead, and from which addresses it calls.

use super::problem::Reading;
use serde_json::{Map, Value};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses, `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Net {
    first: IpAddr,
    bits: u8,
}

impl Net {
    /// Parses `10.1.2.3/8`; what the mask leaves out is dropped.
    pub fn parse(text: &str) -> Option<Net> {
        let (address, bits) = text.split_once('/')?;
        let (address, bits): (IpAddr, u8) = (address.parse().ok()?, bits.parse().ok()?);
        let first = match address {
            IpAddr::V4(v4) if bits <= 32 => {
                IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask(bits, 32) as u32))
            }
            IpAddr::V6(v6) if bits <= 128 => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask(bits, 128))),
            _ => return None,
        };
        Some(Net { first, bits })
    }

    /// Whether the address is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(it)) => {
                it.to_bits() & mask(self.bits, 32) as u32 == first.to_bits()
            }
            (IpAddr::V6(first), IpAddr::V6(it)) => it.to_bits() & mask(self.bits, 128) == first.to_bits(),
            _ => false,
        }
    }
}

impl std::fmt::Display for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

/// The `bits` upper of `width` bits.
fn mask(bits: u8, width: u8) -> u128 {
    let all = u128::MAX >> (128 - width);
    all & !all.checked_shr(u32::from(bits)).unwrap_or(0)
}

/// Names of hosts, with `*` at the beginning of some: an exact name before a wildcard, a longer wildcard before a
/// shorter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hostnames<T> {
    patterns: Vec<(String, T)>,
}

impl<T> Hostnames<T> {
    /// The value of the pattern that fits the host best.
    pub fn find(&self, host: &str) -> Option<&T> {
        let host = host.to_lowercase();
        let fits = |(pattern, _): &&(String, T)| match pattern.strip_prefix('*') {
            Some(end) => host.ends_with(end),
            None => host == *pattern,
        };
        let best = self.patterns.iter().filter(fits).max_by_key(|(p, _)| (!p.starts_with('*'), p.len()));
        best.map(|(_, found)| found)
    }

    /// Whether any pattern was given.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }
}

/// Where names lead instead of asking DNS.
pub type Hosts = Hostnames<Override>;

/// An address instead of a name, and a port instead of the URL's if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Override {
    /// The address to connect to.
    pub address: IpAddr,
    /// The port to connect to.
    pub port: Option<u16>,
}

impl Hostnames<Override> {
    /// Lets `host:port` lead to this address, whatever it led to before.
    pub(crate) fn set(&mut self, host: &str, port: u16, to: std::net::SocketAddr) {
        let pattern = format!("{host}:{port}");
        self.patterns.retain(|(known, _)| *known != pattern);
        self.patterns.push((pattern, Override { address: to.ip(), port: Some(to.port()) }));
    }

    /// Where `host:port` leads: what is said of the port goes before what is said of the host.
    pub fn lead(&self, host: &str, port: u16) -> Option<(IpAddr, u16)> {
        if self.is_empty() {
            return None;
        }
        let found = self.find(&format!("{host}:{port}")).or_else(|| self.find(host))?;
        Some((found.address, found.port.unwrap_or(port)))
    }
}

/// Whether the text is a pattern of hosts' names: labels of letters, digits and inner dashes, perhaps after `*` or
/// `*.`.
fn is_pattern(text: &str) -> bool {
    let rest = text.strip_prefix('*').map_or(text, |rest| rest.strip_prefix('.').unwrap_or(rest));
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    rest.is_empty() || rest.split('.').all(label)
}

pub(super) fn nets(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let texts = super::read::texts(value, reading)?;
    let mut nets = Vec::new();
    for text in texts.as_array()?.iter().filter_map(Value::as_str) {
        match Net::parse(text) {
            Some(net) => nets.push(Value::from(net.to_string())),
            None => reading.problem(format!("\"{text}\" is no range of addresses, as 10.0.0.0/8")),
        }
    }
    Some(Value::Array(nets))
}

pub(super) fn hostnames(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let texts = super::read::texts(value, reading)?;
    for text in texts.as_array()?.iter().filter_map(Value::as_str).filter(|text| !is_pattern(text)) {
        reading.problem(format!("\"{text}\" is no name of a host; `*` may only begin one"));
    }
    Some(texts)
}

pub(super) fn hosts(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let given = super::read::text_map(value, reading)?;
    let mut hosts = Map::new();
    for (name, target) in given.as_object()? {
        let port_is_right =
            |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
        let right = match name.rsplit_once(':') {
            Some((host, port)) => is_pattern(host) && port_is_right(port),
            None => is_pattern(name),
        };
        if !right {
            reading.problem(format!("\"{name}\" is no name of a host, as example.com or *.example.com:443"));
        }
        let target = target.as_str().unwrap_or_default();
        if right && lead(target).is_none() {
            reading.notice(format!("\"{name}\" leads to \"{target}\", which is no address: left out"));
        }
        hosts.insert(name.to_lowercase(), Value::from(target));
    }
    hosts.sort_keys();
    Some(Value::Object(hosts))
}

/// `127.0.0.1`, `127.0.0.1:8080`, `::1`, `[::1]:8080`.
fn lead(text: &str) -> Option<Override> {
    if let Ok(address) = text.parse() {
        return Some(Override { address, port: None });
    }
    let with_port: std::net::SocketAddr = text.parse().ok()?;
    Some(Override { address: with_port.ip(), port: Some(with_port.port()) })
}

pub(super) fn hosts_of(value: &Value) -> Hosts {
    let entry = |(name, target): (&String, &Value)| Some((name.clone(), lead(target.as_str()?)?));
    Hostnames { patterns: value.as_object().into_iter().flatten().filter_map(entry).collect() }
}

pub(super) fn hostnames_of(value: &Value) -> Hostnames<String> {
    let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    Hostnames { patterns: names.map(|name| (name.to_lowercase(), name.to_string())).collect() }
}

/// The addresses virtual users call from, in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalIps {
    /// First address and how many follow it.
    ranges: Vec<(IpAddr, u128)>,
}

impl LocalIps {
    /// Parses `192.168.0.1,192.168.0.10-192.168.0.25,10.0.0.0/24`.
    pub fn parse(text: &str) -> Result<LocalIps, String> {
        let ranges: Result<Vec<_>, String> = text.split(',').map(range).collect();
        Ok(LocalIps { ranges: ranges? })
    }

    /// The address of the `n`th user, counted from 0; they start anew when all are given out.
    pub fn of(&self, n: u64) -> IpAddr {
        let all: u128 = self.ranges.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count));
        let mut index = u128::from(n) % all.max(1);
        for (first, count) in &self.ranges {
            if index < *count {
                return match first {
                    IpAddr::V4(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() + index as u32)),
                    IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() + index)),
                };
            }
            index -= count;
        }
        self.ranges[0].0
    }
}

fn range(text: &str) -> Result<(IpAddr, u128), String> {
    let wrong = || format!("\"{text}\" is no address, range of addresses or CIDR");
    if let Some(net) = Net::parse(text) {
        let width = if net.first.is_ipv4() { 32 } else { 128 };
        let count = 1u128.checked_shl(u32::from(width - net.bits)).unwrap_or(u128::MAX);
        // The first and the last address of an IPv4 network are not a host's.
        return Ok(match net.first {
            IpAddr::V4(v4) if count > 2 => (IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() + 1)), count - 2),
            first => (first, count),
        });
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
    let count = match (first, last) {
        (IpAddr::V4(a), IpAddr::V4(b)) => u128::from(b.to_bits()).checked_sub(u128::from(a.to_bits())),
        (IpAddr::V6(a), IpAddr::V6(b)) => b.to_bits().checked_sub(a.to_bits()),
        _ => None,
    };
    Ok((first, count.ok_or_else(wrong)?.saturating_add(1)))
}

pub(super) fn local_ips(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let text = super::read::text(value, reading)?;
    if let Err(problem) = LocalIps::parse(text.as_str()?) {
        reading.problem(problem);
        return None;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_range_of_addresses_holds_what_its_mask_says() {
        let check = |net: &str, address: &str, expected: bool| {
            let net = Net::parse(net).unwrap();
            assert_eq!(net.contains(address.parse().unwrap()), expected, "{net} {address}");
        };
        check("10.1.2.3/8", "10.255.0.1", true);
        check("10.1.2.3/8", "11.0.0.1", false);
        check("0.0.0.0/0", "11.0.0.1", true);
        check("1.1.1.1/32", "1.1.1.1", true);
        check("1.1.1.1/32", "1.1.1.2", false);
        check("10.0.0.0/8", "::ffff:10.0.0.1", true);
        check("fd00::/8", "fd12::1", true);
        check("fd00::/8", "10.0.0.1", false);
        assert_eq!(Net::parse("10.1.2.3/8").unwrap().to_string(), "10.0.0.0/8");
        assert_eq!(Net::parse("10.1.2.3"), None);
        assert_eq!(Net::parse("10.1.2.3/33"), None);
    }

    #[test]
    fn the_pattern_that_fits_a_host_best_is_taken() {
        let hosts = hosts_of(&json!({
            "a.com": "1.0.0.1", "*a.com": "1.0.0.9", "*.a.com": "1.0.0.2:80", "*.b.a.com": "1.0.0.3",
            "a.com:444": "1.0.0.4:8443", "v6": "[::1]:81"
        }));
        let check = |host: &str, port: u16, expected: Option<&str>| {
            let found = hosts.lead(host, port).map(std::net::SocketAddr::from);
            assert_eq!(found, expected.map(|text| text.parse().unwrap()), "{host}:{port}");
        };
        check("A.com", 443, Some("1.0.0.1:443"));
        check("a.com", 444, Some("1.0.0.4:8443"));
        check("x.a.com", 443, Some("1.0.0.2:80"));
        check("x.b.a.com", 443, Some("1.0.0.3:443"));
        check("v6", 1, Some("[::1]:81"));
        check("xa.com", 443, Some("1.0.0.9:443"));
        check("a.org", 443, None);
        let blocked = hostnames_of(&json!(["*.X.com", "*y"]));
        assert_eq!(blocked.find("a.x.COM").map(String::as_str), Some("*.X.com"));
        assert_eq!(blocked.find("x.com"), None);
        assert_eq!(blocked.find("y").map(String::as_str), Some("*y"));
    }

    #[test]
    fn users_call_from_local_addresses_in_turn() {
        let ips = LocalIps::parse("10.0.0.9,10.0.1.1-10.0.1.2,10.0.2.0/30,fd::1").unwrap();
        let given: Vec<String> = (0..7).map(|n| ips.of(n).to_string()).collect();
        assert_eq!(given, ["10.0.0.9", "10.0.1.1", "10.0.1.2", "10.0.2.1", "10.0.2.2", "fd::1", "10.0.0.9"]);
        for wrong in ["x", "10.0.0.2-10.0.0.1", "10.0.0.1-fd::1", ""] {
            assert!(LocalIps::parse(wrong).is_err(), "{wrong}");
        }
    }
}
