//! How a test's threads reach its targets, by its options.

use sonagi_measure::outcome::Failure;
use sonagi_transport::net::{Cause, DialPolicy, Failed, Identity, NetOptions, ProtocolVersion, TlsOptions};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::options::tls::suites_named;
use crate::options::{DnsPolicy, DnsSelect, Options, TlsAuth};
use crate::shard::Common;

/// Addresses of `localIPs` that are called from at most: a range may hold more than there are.
const LOCAL_ADDRESSES: u64 = 4096;

impl Common {
    /// How a thread reaches the target whose first user has this number, and whose users are so many numbers apart.
    pub(super) fn net(&self, first: u64, apart: u64) -> NetOptions {
        let options = &self.options;
        let local = options.local_ips.iter();
        let all = local.flat_map(|local| (0..LOCAL_ADDRESSES).map(|at| local.of(first + at * apart)));
        let mut source_addresses: Vec<IpAddr> = Vec::new();
        for ip in all {
            // They start anew when all are given out.
            if source_addresses.first() == Some(&ip) {
                break;
            }
            source_addresses.push(ip);
        }
        NetOptions {
            verify_certificates: !options.insecure_skip_tls_verify,
            source_addresses,
            dial_policy: Rules::of(options).map(|rules| Arc::new(rules) as Arc<dyn DialPolicy>),
            tls: tls(options),
            ..NetOptions::default()
        }
    }
}

fn tls(options: &Options) -> TlsOptions {
    let number = |name: &Option<String>, other: usize| match name.as_deref() {
        Some("tls1.0" | "tls1.1") => 0,
        Some("tls1.2") => 1,
        Some("tls1.3") => 2,
        _ => other,
    };
    let (least, most) = &options.tls_version;
    let known = [ProtocolVersion::TLSv1_1, ProtocolVersion::TLSv1_2, ProtocolVersion::TLSv1_3];
    let is_limited = least.is_some() || most.is_some();
    let versions = is_limited.then(|| match known.get(number(least, 0)..=number(most, 2)) {
        Some(range) => range.to_vec(),
        None => Vec::new(),
    });
    TlsOptions {
        versions,
        suites: options.tls_cipher_suites.as_deref().map(suites_named),
        identities: options.tls_auth.iter().map(identity).collect(),
        authorities: None,
        // Go reads none.
        common_names: false,
    }
}

fn identity(own: &TlsAuth) -> Identity {
    Identity { certificates: own.cert.clone(), key: own.key.clone(), hosts: own.domains.clone() }
}

/// `hosts`, `blockHostnames`, `blacklistIPs` and `dns`.
#[derive(Debug)]
struct Rules {
    options: Options,
    next: AtomicUsize,
}

impl Rules {
    /// None: the test has none, and needs not be asked.
    fn of(options: &Options) -> Option<Rules> {
        let resolver_decides = options.dns.select == DnsSelect::First && options.dns.policy == DnsPolicy::Any;
        let is_free = options.hosts.is_empty()
            && options.block_hostnames.is_empty()
            && options.blacklist_ips.is_empty();
        (!is_free || !resolver_decides).then(|| Rules { options: options.clone(), next: AtomicUsize::new(0) })
    }
}

impl DialPolicy for Rules {
    fn fixed_address(&self, host: &str, port: u16) -> Result<Option<SocketAddr>, Failed> {
        if host.parse::<IpAddr>().is_err()
            && let Some(pattern) = self.options.block_hostnames.find(host)
        {
            let detail = format!("hostname ({host}) is in a blocked pattern ({pattern})");
            return Err(Failed::new(Failure::ConnectFailed, detail).caused(Cause::NameRefused));
        }
        Ok(self.options.hosts.lead(host, port).map(SocketAddr::from))
    }

    fn order(&self, found: &[SocketAddr]) -> Vec<SocketAddr> {
        let of = |is_four: bool| found.iter().copied().filter(move |it| it.is_ipv4() == is_four);
        let (four, six) = (|| of(true).collect::<Vec<_>>(), || of(false).collect::<Vec<_>>());
        let mut order = match self.options.dns.policy {
            DnsPolicy::Any => found.to_vec(),
            DnsPolicy::OnlyIpv4 => four(),
            DnsPolicy::OnlyIpv6 => six(),
            DnsPolicy::PreferIpv4 => Some(four()).filter(|four| !four.is_empty()).unwrap_or_else(six),
            DnsPolicy::PreferIpv6 => Some(six()).filter(|six| !six.is_empty()).unwrap_or_else(four),
        };
        if order.len() > 1 {
            let first = match self.options.dns.select {
                DnsSelect::First => 0,
                DnsSelect::Random => fastrand::usize(..order.len()),
                DnsSelect::RoundRobin => self.next.fetch_add(1, Ordering::Relaxed) % order.len(),
            };
            order.rotate_left(first);
        }
        order
    }

    fn allow(&self, address: IpAddr) -> Result<(), Failed> {
        match self.options.blacklist_ips.iter().find(|net| net.contains(address)) {
            Some(net) => {
                let detail = format!("IP ({address}) is in a blacklisted range ({net})");
                Err(Failed::new(Failure::ConnectFailed, detail).caused(Cause::AddressRefused))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Tiers, consolidate};
    use serde_json::{Value, json};

    fn options(script: Value) -> Options {
        let Value::Object(script) = script else { unreachable!("an object is written there") };
        consolidate(Tiers { script, ..Tiers::default() }).unwrap().options
    }

    #[test]
    fn names_and_addresses_are_refused_and_led_elsewhere() {
        let rules = Rules::of(&options(json!({
            "hosts": { "a.b": "127.0.0.2:81" }, "blockHostnames": ["*.c"], "blacklistIPs": ["10.0.0.0/8"]
        })))
        .unwrap();
        assert_eq!(rules.fixed_address("a.b", 80).unwrap(), Some("127.0.0.2:81".parse().unwrap()));
        assert_eq!(rules.fixed_address("x.c", 80).unwrap_err().cause, Cause::NameRefused);
        assert_eq!(rules.allow("10.1.1.1".parse().unwrap()).unwrap_err().cause, Cause::AddressRefused);
        assert_eq!(rules.allow("11.1.1.1".parse().unwrap()), Ok(()));
    }

    #[test]
    fn addresses_are_tried_as_dns_says() {
        let found: Vec<SocketAddr> =
            ["[::1]:1", "1.0.0.1:1", "1.0.0.2:1"].map(|text| text.parse().unwrap()).into();
        for (policy, first, count) in
            [("onlyIPv4", 1, 2), ("onlyIPv6", 0, 1), ("preferIPv6", 0, 1), ("any", 0, 3)]
        {
            let dns = json!({ "dns": { "policy": policy, "select": "roundRobin" } });
            let order = Rules::of(&options(dns)).unwrap().order(&found);
            assert_eq!((order[0], order.len()), (found[first], count), "{policy}");
        }
        let turns = Rules::of(&options(json!({ "dns": { "policy": "onlyIPv4", "select": "roundRobin" } })));
        let turns = turns.unwrap();
        assert_eq!([turns.order(&found)[0], turns.order(&found)[0]], [found[1], found[2]]);
    }

    #[test]
    fn tls_speaks_what_the_options_say() {
        let of = |script| tls(&options(script));
        assert_eq!(of(json!({})).versions, None);
        let only = of(json!({ "tlsVersion": "tls1.2" })).versions;
        assert_eq!(only, Some(vec![ProtocolVersion::TLSv1_2]));
        let suites =
            of(json!({ "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"] })).suites.unwrap();
        assert_eq!(suites.len(), 4);
        assert_eq!(suites[0], sonagi_transport::net::CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256);
    }
}
