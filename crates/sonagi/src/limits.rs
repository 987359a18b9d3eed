//! Limits of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use sonagi_artillery::plan::Plan;
use sonagi_report::figures::count;

/// What helps where this process may open too few files.
pub(crate) const RAISE_OPEN_FILES: &str = "raise the hard limit (`ulimit -Hn` as root, LimitNOFILE= of a systemd \
                                           unit, `--ulimit nofile=` of a container)";

/// Raises the soft limit of open files to the hard one: each connection is a socket, and the usual soft limit of 1,024
/// is meant for programs that still use `select`. A refusal changes nothing. (The engine does the same for a run.)
pub(crate) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// Files that this process may open; None: as many as it likes.
pub(crate) fn open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// Files that a connection takes: itself, and two more where we put a network before the service.
pub(crate) fn files_of_connection(has_network: bool) -> u64 {
    if has_network { 3 } else { 1 }
}

/// Whether a script that says this of its service (`launch`) puts a network before it.
pub(crate) fn has_network(launch: Option<&Value>) -> bool {
    let launch = launch.and_then(|said| sonagi_lab::read(said).ok());
    launch.is_some_and(|launch| launch.network.is_some())
}

/// A warning before a run that needs more files at a time than this process may open: the run would be INVALID.
pub(crate) fn shortage(plan: &Plan, has_network: bool) -> Option<String> {
    let most = open_files()?;
    let connections = plan.least_crowd();
    let each = if has_network { " (three files with `network`)" } else { "" };
    (connections * files_of_connection(has_network) >= most).then(|| {
        let (connections, most) = (count(connections), count(most));
        format!(
            "warning: at least {connections} users are planned at one time, each with a connection{each}, and this \
             process may open {most} files: the run will be INVALID when they run out\n\
             hint: {RAISE_OPEN_FILES}, or plan fewer users"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_network_is_before_a_service_unless_its_host_is_none() {
        let network = json!({ "latency": "20ms" });
        let launch = |host: &str| json!({ "command": "x", "host": host, "limits": { "network": network } });
        assert!(has_network(Some(&launch("t2.micro"))));
        assert!(!has_network(Some(&launch("none"))));
        assert!(!has_network(None));
    }
}
