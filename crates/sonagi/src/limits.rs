//! Limits of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sonagi_artillery::plan::Plan;
use sonagi_report::figures::count;

/// Raises the soft limit of open files to the hard one: each connection is a socket, and the usual soft limit of 1,024
/// is meant for programs that still use `select`. A refusal changes nothing. (The engine does the same for a run.)
pub(crate) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// A warning before a run that needs more files at a time than this process may open: the run would be INVALID. A
/// connection is a file, and two more where we put a network before the service.
pub(crate) fn shortage(plan: &Plan, has_network: bool) -> Option<String> {
    let most = getrlimit(Resource::Nofile).maximum?;
    let connections = plan.least_crowd();
    let (files, each) = if has_network { (3, " (three files with `network`)") } else { (1, "") };
    (connections * files >= most).then(|| {
        let (connections, most) = (count(connections), count(most));
        format!(
            "warning: at least {connections} users are planned at one time, each with a connection{each}, and this \
             process may open {most} files: the run will be INVALID when they run out\n\
             hint: raise the hard limit (`ulimit -Hn` as root, LimitNOFILE= of a systemd unit, `--ulimit nofile=` of a \
             container), or plan fewer users"
        )
    })
}
