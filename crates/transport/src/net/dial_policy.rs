//! A test's own rules for where names lead.

use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};

use super::Failed;

/// A test's rules for where names lead and which of their addresses may be called. Shared by all shards, asked once per
/// connection.
pub trait DialPolicy: Debug + Send + Sync {
    /// The address of a host, without asking the resolver; None: ask it.
    ///
    /// # Errors
    /// When the host must not be called.
    fn fixed_address(&self, host: &str, port: u16) -> Result<Option<SocketAddr>, Failed>;

    /// The addresses to try, in order, out of those the resolver found.
    fn order(&self, found: &[SocketAddr]) -> Vec<SocketAddr>;

    /// Checks that an address may be called.
    ///
    /// # Errors
    /// When it must not.
    fn allow(&self, address: IpAddr) -> Result<(), Failed>;
}
