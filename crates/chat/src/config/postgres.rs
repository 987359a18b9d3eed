//! Where a PostgreSQL store is, and how it may be used.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// The name of the service's sessions, unless the address has another.
const NAME: &str = "sonagi serve";
/// How long an address may take to be connected to, unless it says so itself.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a server may leave what was sent unacknowledged before its connection counts as lost.
const SILENCE: Duration = Duration::from_secs(10);

/// A PostgreSQL database, which several services may share.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresLocation {
    config: Config,
    /// Connections at most.
    pub pool: usize,
    /// How long one of them is waited for.
    pub pool_timeout: Duration,
}

/// Why a text is no address of a PostgreSQL database. It never has the address in it, which has a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresAddressProblem {
    /// It cannot be read.
    #[error("an address is postgres://USER:PASSWORD@HOST:PORT/DATABASE{why}")]
    Malformed {
        /// The part that cannot be read, with a colon before it, or nothing.
        why: String,
    },
    /// It asks for TLS.
    #[error(
        "PostgreSQL is connected to without TLS; got sslmode=require or higher\n\
         hint: leave sslmode out, and reach the server through its own machine, a private network or a tunnel"
    )]
    Tls,
}

impl PostgresLocation {
    /// The default of `pool`.
    pub const POOL: usize = 10;
    /// The default of `pool_timeout`.
    pub const POOL_TIMEOUT: Duration = Duration::from_secs(5);

    /// Whether the text is meant as such an address.
    pub fn is_meant(text: &str) -> bool {
        ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
    }

    /// Reads an address.
    pub fn new(address: &str) -> Result<PostgresLocation, PostgresAddressProblem> {
        let parsed: Result<Config, _> = address.parse();
        let wants_tls =
            ["verify-ca", "verify-full"].iter().any(|mode| address.contains(&format!("sslmode={mode}")));
        if wants_tls || parsed.as_ref().is_ok_and(|config| config.get_ssl_mode() == SslMode::Require) {
            return Err(PostgresAddressProblem::Tls);
        }
        let mut config = parsed.map_err(|error| {
            // Its cause names the option and not its value. An unknown one may be the rest of a password.
            let why = match error.source().map(ToString::to_string) {
                Some(cause) if cause.starts_with("unknown option") => ": unknown option".to_owned(),
                Some(cause) => format!(": {cause}"),
                None => String::new(),
            };
            PostgresAddressProblem::Malformed { why }
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host("localhost");
        }
        if config.get_application_name().is_none() {
            config.application_name(NAME);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        // Numbers are given by what a statement sees once it has its locks.
        let own = r"-c default_transaction_isolation=read\ committed -c default_transaction_read_only=off";
        let options = config.get_options().map_or_else(|| own.to_owned(), |given| format!("{given} {own}"));
        config.ssl_mode(SslMode::Disable).options(options);
        let (pool, pool_timeout) = (PostgresLocation::POOL, PostgresLocation::POOL_TIMEOUT);
        Ok(PostgresLocation { config, pool, pool_timeout })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}

/// The address without user, password and options.
impl fmt::Display for PostgresLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let between = if at == 0 { "" } else { "," };
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(host) => write!(f, "{between}{host}:{port}")?,
                Host::Unix(path) => write!(f, "{between}{}:{port}", path.display())?,
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for PostgresLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_without_its_secrets() {
        for (address, told) in [
            ("postgres://u:planted@h:1/db?application_name=planted", "postgres://h:1/db"),
            ("postgresql://u:pl%40anted@h/db?password=planted", "postgres://h:5432/db"),
            ("postgres://u:planted@a:1,b:2/db", "postgres://a:1,b:2/db"),
            ("postgres://u@%2Frun%2Fpg/db", "postgres:///run/pg:5432/db"),
        ] {
            let location = PostgresLocation::new(address).unwrap();
            assert_eq!((location.to_string(), format!("{location:?}")), (told.to_owned(), told.to_owned()));
        }
    }

    #[test]
    fn an_address_that_asks_for_tls_or_cannot_be_read_is_refused_without_its_secrets() {
        for (address, why) in [
            ("postgres://u:planted@h/db?sslmode=require", "without TLS"),
            ("postgres://u:planted@h/db?sslmode=verify-full", "without TLS"),
            ("postgres://u:planted@h:port/db", "DATABASE: invalid value for option `port`"),
            ("postgres://u@h/db?planted=1", "DATABASE: unknown option"),
        ] {
            let told = PostgresLocation::new(address).unwrap_err().to_string();
            assert!(told.contains(why), "{told}");
            assert!(!told.contains("planted"), "{told}");
        }
    }

    #[test]
    fn what_an_address_says_itself_is_left_to_it() {
        let location = PostgresLocation::new("postgres://h/db?options=-c%20work_mem%3D1MB&connect_timeout=2");
        let location = location.unwrap();
        let config = location.config();
        assert!(config.get_options().unwrap().starts_with("-c work_mem=1MB -c default_transaction_isolation"));
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(2)));
        assert_eq!(config.get_ssl_mode(), SslMode::Disable);
    }
}
