//! Plain WebSockets: the upgrade, the connection's task, and what is spoken on `/ws` and `/ws/echo`.

pub(crate) mod connection;
pub(crate) mod echo;
pub(crate) mod rooms;
pub(crate) mod upgrade;
