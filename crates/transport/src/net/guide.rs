//! A test's own rules for where names lead.

use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};

use super::Failed;

/// What has a say in where names lead and which of their addresses are called. Shared by all shards, asked once per connection.
pub trait Guide: Debug + Send + Sync {
    /// Where a host leads without asking the resolver.
    ///
    /// # Errors
    /// The host is not to be called.
    fn lead(&self, host: &str, port: u16) -> Result<Option<SocketAddr>, Failed>;

    /// The addresses to try, in this order, of those that were found.
    fn order(&self, found: &[SocketAddr]) -> Vec<SocketAddr>;

    /// Whether an address may be called.
    ///
    /// # Errors
    /// It may not.
    fn allow(&self, address: IpAddr) -> Result<(), Failed>;
}
