//! Why a run ended without its line. Every failure ends the run: the floor repairs nothing.

use rustix::io::Errno;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error("{what}: {errno}")]
    System { what: &'static str, errno: Errno },
    /// The peer broke the protocol, or left.
    #[error("{0}")]
    Peer(String),
    #[error("{0} did not end within its limit")]
    Overdue(&'static str),
    #[error("the kernel forbids io_uring here: {0}\nhint: leave --uring out; epoll works everywhere")]
    NoUring(std::io::Error),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::NoUring(_) => 3,
            _ => 1,
        }
    }

    /// For `map_err`: names the call that failed.
    pub(crate) fn system(what: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self::System { what, errno }
    }

    pub(crate) fn peer(what: impl Into<String>) -> Self {
        Self::Peer(what.into())
    }
}
