//! The address of a bus.

use std::fmt;
use std::str::FromStr;

use redis::{ConnectionAddr, IntoConnectionInfo};

/// A Redis over which services that share a store tell each other what is said: `redis://USER:PASSWORD@HOST:PORT`.
#[derive(Clone, PartialEq, Eq)]
pub struct BusAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
}

impl FromStr for BusAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<BusAddress, String> {
        // What the library says of an address may hold the password.
        let wrong = || {
            "a bus is redis://HOST:PORT, with USER:PASSWORD@ before the host if it asks for them".to_owned()
        };
        if text.starts_with("rediss://") {
            return Err(
                "the bus is spoken to without TLS, got rediss://\nhint: reach Redis over a private network, \
                        or a tunnel that ends on this machine"
                    .to_owned(),
            );
        }
        if !text.starts_with("redis://") {
            return Err(wrong());
        }
        let info = text.into_connection_info().map_err(|_| wrong())?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else { return Err(wrong()) };
        let settings = info.redis_settings();
        let [username, password] =
            [settings.username(), settings.password()].map(|text| text.map(str::to_owned));
        Ok(BusAddress { host: host.clone(), port: *port, username, password })
    }
}

/// Without user and password.
impl fmt::Display for BusAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BusAddress { host, port, .. } = self;
        // An IPv6 address has colons of its own.
        if host.contains(':') {
            write!(out, "redis://[{host}]:{port}")
        } else {
            write!(out, "redis://{host}:{port}")
        }
    }
}

impl fmt::Debug for BusAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "BusAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password_and_a_wrong_one_is_not_shown_at_all() {
        let bus: BusAddress = "redis://ann:s3cret@127.0.0.1:6380".parse().unwrap();
        assert_eq!((bus.username.as_deref(), bus.password.as_deref()), (Some("ann"), Some("s3cret")));
        assert_eq!(format!("{bus} {bus:?}"), "redis://127.0.0.1:6380 BusAddress(redis://127.0.0.1:6380)");
        assert_eq!(
            "redis://bus.example".parse::<BusAddress>().unwrap().to_string(),
            "redis://bus.example:6379"
        );
        for wrong in ["nats://s3cret@host", "redis://", "rediss://x:s3cret@host", "host:6379", ""] {
            let why = wrong.parse::<BusAddress>().unwrap_err();
            assert!(!why.contains("s3cret"), "{why}");
        }
    }
}
