//! Plain WebSockets: the connection's task, and what is spoken on `/ws`.

pub(crate) mod connection;
pub(crate) mod rooms;
