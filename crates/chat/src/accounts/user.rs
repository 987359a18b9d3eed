//! A user.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub(crate) struct User {
    pub(crate) id: u64,
    pub(crate) email: String,
    pub(crate) username: String,
    pub(super) password: Arc<str>,
    pub(crate) friends: Vec<u64>,
    /// The users who sponsor this one, and those it sponsors.
    pub(crate) sponsors: Vec<u64>,
    pub(crate) sponsored: Vec<u64>,
    /// Messages of this user: those kept when the service started, and those said since.
    pub(crate) posts: AtomicU64,
}

impl User {
    /// The public part of a user, as JSON.
    pub(crate) fn public(&self) -> serde_json::Value {
        serde_json::json!({"id": self.id, "email": self.email, "username": self.username})
    }
}
