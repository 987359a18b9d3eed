//! The source address that limits per address count by.

use std::net::IpAddr;

/// An IPv4 address, or the /64 of an IPv6 address: whoever has one address of that has all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Source(u64);

impl From<IpAddr> for Source {
    fn from(address: IpAddr) -> Source {
        Source(match address.to_canonical() {
            // Of IPv6 no network begins with 32 zero bits but this machine's and those of addresses of IPv4.
            IpAddr::V4(address) => u32::from(address).into(),
            IpAddr::V6(address) => (u128::from(address) >> 64) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_source_and_every_address_of_ipv4_is_its_own() {
        let source = |address: &str| Source::from(address.parse::<IpAddr>().unwrap());
        assert_eq!(source("2001:db8:1:2::7"), source("2001:db8:1:2:ffff::"));
        assert_ne!(source("2001:db8:1:2::7"), source("2001:db8:1:3::7"));
        assert_ne!(source("192.0.2.1"), source("192.0.2.2"));
        assert_eq!(source("192.0.2.1"), source("::ffff:192.0.2.1"));
    }
}
