//! The keys of `config:` and of what stands in it.

use super::area::{Area, Others, SECONDS, ignored, key, refused};
use super::connections::{DEFAULTS, ENGINES, HTTP, SOCKETIO, TLS, WS};
use super::flow::{FIXED_FLOW, SCENARIO};
use super::launch::LAUNCH;
use super::response::EXPECT_PLUGIN;
use super::transports::{LONGPOLL, POLL, RECONNECT, SERVE, SSE, STOMP};
use super::verdict::{APDEX, COMPARE, DELIVERY, ENSURE, METRICS_BY_ENDPOINT};

pub(crate) const SCRIPT: Area = Area {
    name: "a script",
    path: "(top level)",
    others: Others::Astray,
    keys: &[
        key(
            "config",
            "a mapping",
            "{target: \"http://127.0.0.1:8080\"}",
            "How the load is made, and defaults.",
        )
        .of(&[&CONFIG]),
        key(
            "scenarios",
            "a list of scenarios",
            "[{flow: [{think: 1}]}]",
            "The scenarios; each user runs one, picked by weight.",
        )
        .of(&[&SCENARIO]),
        key(
            "before",
            "a mapping with a flow",
            "{flow: [{think: 1}]}",
            "Run once before the first user; what it captures all users see.",
        )
        .of(&[&FIXED_FLOW]),
        key("after", "a mapping with a flow", "{flow: [{think: 1}]}", "Run once after the last user.")
            .of(&[&FIXED_FLOW]),
        key(
            "matrix",
            "a mapping of names to lists",
            "{transport: [sse, ws], users: [100, 1000]}",
            "The script runs once per combination; each name is a variable of that run, known before it. (Sonagi's \
             own.)",
        ),
        key(
            "repeat",
            "a whole number from 1",
            "5",
            "Every combination so many times, in rounds, each round in an order of its own; what the table has are \
             medians. (Sonagi's own.)",
        ),
        key(
            "compare",
            "a mapping",
            "{across: pool, primary: kinds.http.response_ms.p99, margin: 5%}",
            "Which value of an axis is best, by how much, and how sure that is. (Sonagi's own.)",
        )
        .of(&[&COMPARE]),
        key(
            "serve",
            "true, or a mapping",
            "{workers: 1}",
            "Starts the reference service before the run; it is the target. (Sonagi's own.)",
        )
        .of(&[&SERVE]),
    ],
};

pub(crate) const CONFIG: Area = Area {
    name: "config",
    path: "config",
    others: Others::Astray,
    keys: &[
        key(
            "target",
            "the address of the service",
            "\"http://127.0.0.1:8080\"",
            "Base of relative URLs: http, https, ws or wss.",
        ),
        key(
            "phases",
            "a list of phases",
            "[{duration: 60, arrivalRate: 5}]",
            "When users arrive, one phase after the other.",
        )
        .of(&[&PHASE]),
        key(
            "engine",
            super::flow::ENGINE_NAMES,
            "socketio",
            "The engine of scenarios that name none; http by default.",
        ),
        key("mode", "`uniform` or `poisson`", "poisson", "The same as `spacing`, in Artillery's words."),
        key(
            "spacing",
            "`even` or `poisson`",
            "poisson",
            "How arrivals are spread within a phase; even by default. (Sonagi's own.)",
        ),
        key(
            "environments",
            "a mapping of named settings",
            "{staging: {target: \"https://staging.example\"}}",
            "`-e name` lays one over config; lists merge by index.",
        ),
        key(
            "variables",
            "a mapping of names to values",
            "{color: [red, blue]}",
            "Each user gets a value, of a list one at random.",
        ),
        key(
            "payload",
            "a payload or a list of them",
            "{path: users.csv, fields: [email, password]}",
            "Rows of files handed to users.",
        )
        .of(&[&PAYLOAD]),
        key("http", "a mapping", "{timeout: 5}", "Settings of HTTP requests.").of(&[&HTTP]),
        key(
            "defaults",
            "a mapping",
            "{headers: {accept: application/json}}",
            "Older name of `http.defaults`.",
        )
        .of(&[&DEFAULTS]),
        key("ws", "a mapping", "{subprotocols: [chat.v1]}", "Settings of WebSocket connections.").of(&[&WS]),
        key("socketio", "a mapping", "{transports: [websocket]}", "Settings of Socket.IO sessions.")
            .of(&[&SOCKETIO]),
        key(
            "poll",
            "a mapping",
            "{url: \"/cur/{{ $room }}\", every: 3}",
            "How `engine: poll` asks and publishes. (Sonagi's own.)",
        )
        .of(&[&POLL]),
        key(
            "longpoll",
            "a mapping",
            "{url: \"/location/long/{{ $room }}\"}",
            "How `engine: longpoll` asks and publishes. (Sonagi's own.)",
        )
        .of(&[&LONGPOLL]),
        key(
            "sse",
            "a mapping",
            "{url: \"/location/sse/connect?group={{ $room }}\"}",
            "How `engine: sse` listens and publishes. (Sonagi's own.)",
        )
        .of(&[&SSE]),
        key(
            "stomp",
            "a mapping",
            "{url: /location, versions: [\"1.2\"]}",
            "Settings of STOMP sessions. (Sonagi's own.)",
        )
        .of(&[&STOMP]),
        key(
            "reconnect",
            "a mapping",
            "{cursor: seq}",
            "How a lost connection is opened again; without it, not at all. (Sonagi's own.)",
        )
        .of(&[&RECONNECT]),
        key(
            "engines",
            "a mapping",
            "{socketio-v3: {}}",
            "Settings of `engine: socketio-v3`; the same keys as `socketio`.",
        )
        .of(&[&ENGINES]),
        key("tls", "a mapping", "{rejectUnauthorized: false}", "Whether certificates are checked.")
            .of(&[&TLS]),
        key(
            "timeout",
            SECONDS,
            "10",
            "Time limit of every answer that has none of its own; 10 s by default.",
        ),
        key(
            "ensure",
            "a mapping",
            "{thresholds: [{\"http.response_time.p95\": 250}]}",
            "The conditions for the run to pass.",
        )
        .of(&[&ENSURE]),
        key("delivery", "a mapping", "{deadline: 1}", "Rules of the delivery ledger. (Sonagi's own.)")
            .of(&[&DELIVERY]),
        key(
            "launch",
            "a mapping",
            "{command: node dist/main.js, ready: \"http://127.0.0.1:3000/healthz\"}",
            "The service, started anew for every run and ended after it. (Sonagi's own: docs/launch.md.)",
        )
        .of(&[&LAUNCH]),
        key(
            "watch",
            "a text, or a list of them",
            "[\"port:3001\", \"postgres://{{ $env.DB_USER }}@127.0.0.1/chat\"]",
            "What is looked at while the load goes on, each as `--watch` has it. (Sonagi's own.)",
        ),
        key(
            "plugins",
            "a mapping",
            "{ensure: {}}",
            "Artillery's `ensure`, `expect`, `apdex` and `metrics-by-endpoint` are built in; of others a notice says \
             that they do nothing.",
        )
        .of(&[&PLUGINS]),
        key("fake-data", "a mapping", "{}", "The same as `plugins.fake-data`."),
        key("apdex", "a mapping", "{threshold: 100}", "Asks for the Apdex score of HTTP answers.").of(&[&APDEX]),
        ignored("statsInterval", "figures are kept per second"),
        key(
            "processor",
            "a path, relative to the script",
            "./processor.js",
            "A module of JavaScript or TypeScript whose functions the script calls; Node runs it.",
        ),
        ignored("includeFiles", "nothing is bundled: files are read where they are"),
        ignored("bundling", "a processor is loaded as it stands, with the packages of its own node_modules"),
    ],
};

pub(crate) const PHASE: Area = Area {
    name: "a phase",
    path: "config.phases[]",
    others: Others::Astray,
    keys: &[
        key("duration", "a time: seconds, or a text like \"30s\", \"5m\"", "60", "How long the phase lasts."),
        key("arrivalRate", "a number of users per second", "5", "New users per second; fractions are fine."),
        key(
            "rampTo",
            "a number of users per second",
            "20",
            "The rate at the end of the phase. In a closed phase: the population at its end.",
        ),
        key("arrivalCount", "a whole number of users", "100", "This many users, spread over the phase."),
        key(
            "maxVusers",
            "a whole number of users",
            "50",
            "At most this many users at once; arrivals over it are skipped and counted.",
        ),
        key("pause", "a time: seconds, or a text like \"30s\", \"5m\"", "30", "No arrivals for this long."),
        key(
            "users",
            "a whole number of users",
            "100",
            "Closed model: this many users repeat their scenario. (Sonagi's own.)",
        ),
        key("name", "a text", "warm up", "Shown in the report.").label(),
        key("mode", "`uniform` or `poisson`", "poisson", "The same as `config.mode`: one for all phases."),
    ],
};

pub(crate) const PAYLOAD: Area = Area {
    name: "a payload",
    path: "config.payload",
    others: Others::Ignored,
    keys: &[
        key(
            "path",
            "a file name",
            "users.csv",
            "CSV, or a JSON list of objects (`.json`), relative to the script.",
        ),
        key(
            "fields",
            "a list of variable names",
            "[email, password]",
            "A variable per column; without it the first row names them.",
        ),
        key(
            "order",
            "`random` or `sequence`",
            "sequence",
            "Which row a user gets; random by default. In sequence no row repeats before all were used.",
        ),
        key(
            "skipHeader",
            "true or false",
            "true",
            "Whether the first row is a heading; by default it is when it names `fields`.",
        ),
        key("delimiter", "one character", "\";\"", "Between columns; a comma by default."),
        key("cast", "true or false", "false", "Whether numbers in the file become numbers; true by default."),
        key(
            "loadAll",
            "true or false",
            "true",
            "Every user gets all rows, as a list called `name`: of objects with `fields` and in JSON, else of lists.",
        ),
        key("name", "a variable name", "rows", "Name of the list with `loadAll`."),
        ignored("skipEmptyLines", ""),
        key(
            "options",
            "a mapping",
            "{delimiter: \";\"}",
            "How the file is read; wins over what stands beside it.",
        )
        .of(&[&PAYLOAD_OPTIONS]),
    ],
};

/// The options that Artillery passes to its CSV reader.
pub(crate) const PAYLOAD_OPTIONS: Area = Area {
    name: "options of a payload",
    path: "config.payload.options",
    others: Others::Meant,
    keys: &[
        key("delimiter", "one character", "\";\"", "As `delimiter` beside it."),
        key("cast", "true or false", "false", "As `cast` beside it."),
        ignored("trim", "cells are taken as they are"),
        ignored("bom", "a byte order mark is skipped in any case"),
        ignored("skip_empty_lines", "empty lines are skipped in any case"),
        key(
            "relax_column_count",
            "true or false",
            "true",
            "Whether some rows may have fewer columns than `fields`; what is missing is undefined.",
        ),
        ignored("relax_quotes", "quotes are read as RFC 4180 has them"),
        ignored("relax", "quotes are read as RFC 4180 has them"),
    ],
};

pub(crate) const PLUGINS: Area = Area {
    name: "config.plugins",
    path: "config.plugins",
    others: Others::Ignored,
    keys: &[
        key("ensure", "a mapping", "{}", "Built in; the same keys as `config.ensure`.").of(&[&ENSURE]),
        key("expect", "a mapping", "{}", "Built in: what `expect` of requests comes to.")
            .of(&[&EXPECT_PLUGIN]),
        key(
            "metrics-by-endpoint",
            "a mapping",
            "{useOnlyRequestNames: true}",
            "Built in: HTTP by endpoint, in reports always, on the console when it stands here.",
        )
        .of(&[&METRICS_BY_ENDPOINT]),
        key("apdex", "a mapping", "{}", "Built in; the same keys as `config.apdex`.").of(&[&APDEX]),
        ignored(
            "publish-metrics",
            "nothing is sent while the run goes on; `-o report.json` writes what Artillery's report has, the run \
             folder every second of it",
        ),
        ignored("slack", "nothing is posted"),
        ignored("memory-inspector", "the target's memory is not read"),
        ignored("http-metrics-by-endpoint", ""),
        ignored("statsd", "metrics are not published by this plugin here"),
        key(
            "fake-data",
            "a mapping",
            "{}",
            "Made-up data for templates: `{{ $personFullName() }}`; under the name of a kind its min, max or length.",
        ),
        refused(
            "fuzzer",
            "plugins of one's own or of others are not loaded",
            "list the values in a `payload`",
        ),
        refused("hls", "plugins of one's own or of others are not loaded", "remove it"),
    ],
};
