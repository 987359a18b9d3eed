//! The two ends of a connection.

/// Our end of the connection: a client reads server frames, a server client frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// We opened the connection.
    Client,
    /// We accepted the connection.
    Server,
}
