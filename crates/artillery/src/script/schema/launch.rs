//! The keys of `config.launch`, as the reference and editors have them. What is wrong with one is said by whoever
//! starts the service, for every script language alike.

use super::area::{Area, Others, SECONDS, key};

pub(crate) const LAUNCH: Area = Area {
    name: "launch",
    path: "config.launch",
    others: Others::Meant,
    keys: &[
        key(
            "command",
            "a text for the shell, or a list of a program and its arguments",
            "node dist/main.js",
            "What starts the service. Its whole tree of processes is ended with the run.",
        ),
        key(
            "folder",
            "a folder's name, relative to the script",
            "../service",
            "The service's working directory; the script's folder by default.",
        ),
        key(
            "env",
            "a mapping of names to texts",
            "{DB_POOL: \"{{ pool }}\"}",
            "Environment variables over those of Sonagi.",
        ),
        key(
            "ready",
            "an address, a port, or a mapping",
            "http://127.0.0.1:3000/healthz",
            "When the service is ready: the page answers below 400, `port 3000` (or 3000) accepts. By default: when \
             the target's port accepts.",
        )
        .of(&[&READY]),
        key("patience", SECONDS, "30s", "Time limit for getting ready; 30 s by default."),
        key("stop", "a mapping", "{signal: SIGTERM, grace: 10s}", "How the service is ended.").of(&[&STOP]),
        key("limits", "a mapping", "{cpu: 1, memory: 1 GB}", "What the service may use.").of(&[&LIMITS]),
        key(
            "host",
            "the name of a machine",
            "t2.micro",
            "The limits of this machine, CPU credits included; `limits` go before them. `none` leaves all out \
             (docs/launch.md).",
        ),
        key(
            "before",
            "a text for the shell, or a list of a program and its arguments",
            "psql -f reset.sql",
            "Run to its end before each start; any status but 0 is an error.",
        ),
        key(
            "after",
            "a text for the shell, or a list of a program and its arguments",
            "./clean.sh",
            "Run after each end, however the run ended.",
        ),
        key(
            "restart",
            "a text for the shell, or a list of a program and its arguments",
            "systemctl restart chat",
            "What restarts a service that runs already, in place of `command`.",
        ),
        key(
            "apply",
            "a text for the shell, or a list of a program and its arguments",
            "./set-pool.sh {{ pool }}",
            "Changes its settings before it is restarted for a run.",
        ),
        key(
            "read",
            "a mapping",
            "{command: ./get-pool.sh, equals: \"{{ pool }}\"}",
            "Asks it for the setting once it is ready.",
        )
        .of(&[&READ]),
        key(
            "restore",
            "a text for the shell, or a list of a program and its arguments",
            "./set-pool.sh 10",
            "Undoes `apply` after each run, however it ended; the service is restarted once more then.",
        ),
    ],
};

pub(crate) const READY: Area = Area {
    name: "ready",
    path: "config.launch.ready",
    others: Others::Meant,
    keys: &[key("line", "a text", "listening", "Ready when a line with this is printed.")],
};

pub(crate) const READ: Area = Area {
    name: "read",
    path: "config.launch.read",
    others: Others::Meant,
    keys: &[
        key(
            "command",
            "a text for the shell, or a list of a program and its arguments",
            "./get-pool.sh",
            "Prints the setting.",
        ),
        key(
            "equals",
            "a text",
            "\"{{ pool }}\"",
            "What it must print, white space around it aside; else nothing is run.",
        ),
    ],
};

pub(crate) const STOP: Area = Area {
    name: "stop",
    path: "config.launch.stop",
    others: Others::Meant,
    keys: &[
        key("signal", "the name of a signal", "SIGINT", "Sent to all of its processes; SIGTERM by default."),
        key(
            "grace",
            SECONDS,
            "2s",
            "Time until what is left is killed; 10 s by default, 10 minutes at most.",
        ),
    ],
};

pub(crate) const LIMITS: Area = Area {
    name: "limits",
    path: "config.launch.limits, serve.limits",
    others: Others::Meant,
    keys: &[
        key("cpu", "a number of cores", "0.5", "CPU time of all its processes together."),
        key(
            "memory",
            "a size",
            "1 GB",
            "Memory of all its processes together, without swap: KB, MB, GB are powers of 1000, KiB, MiB, GiB of 1024.",
        ),
        key(
            "swap",
            "a size",
            "1 GB",
            "What may be swapped out beyond the limit of memory; nothing by default.",
        ),
        key("nofile", "a whole number", "1024", "Open files of each of its processes."),
        key(
            "credits",
            "a number of CPU credits",
            "0",
            "CPU credits at the start, of a `host` that has some; at most what it saves up.",
        ),
        key(
            "network",
            "a mapping",
            "{latency: 20ms, bandwidth: 60mbit}",
            "The network between the run and the service.",
        )
        .of(&[&NETWORK]),
    ],
};

pub(crate) const NETWORK: Area = Area {
    name: "network",
    path: "config.launch.limits.network",
    others: Others::Meant,
    keys: &[
        key("latency", SECONDS, "20ms", "Added to every round trip, half of it in each direction."),
        key("bandwidth", "bits a second", "60mbit", "Of all connections together, in each direction."),
        key("cut", "a mapping", "{every: 30s}", "All connections are reset at intervals.").of(&[&CUT]),
    ],
};

pub(crate) const CUT: Area = Area {
    name: "cut",
    path: "config.launch.limits.network.cut",
    others: Others::Meant,
    keys: &[key("every", SECONDS, "30s", "The interval.")],
};

/// All of these, in the order of the reference.
pub(crate) const AREAS: [&Area; 7] = [&LAUNCH, &READY, &STOP, &LIMITS, &NETWORK, &CUT, &READ];
