//! What this process may use.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one: each connection is a socket, and the usual soft limit of 1,024 is
/// meant for programs that still use `select`. A refusal changes nothing. (The engine does the same for a run.)
pub(crate) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
