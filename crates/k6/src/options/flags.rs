//! The flags of `sonagi run script.js`, which are k6's, and the tier they make.

use super::environment::{LISTS, dns, list, stage};
use super::problem::{Problem, Problems};
use super::span;
use super::table::KNOWN;
use serde_json::{Map, Value};

/// A flag of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// Its name without dashes.
    pub name: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// The kind of value that follows it.
    pub takes: Takes,
    /// The variable that says the same, for flags that are no options; "" without.
    pub variable: &'static str,
    /// One line of help.
    pub help: &'static str,
}

/// The kind of value that follows a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing, or `=true`, `=false`.
    Switch,
    /// A value of this name.
    One(&'static str),
    /// A value, and the flag may be repeated.
    Many(&'static str),
    /// A value after `=`, or nothing, which means the second.
    Perhaps(&'static str, &'static str),
}

impl Flag {
    /// The option it sets; None: it is for whoever runs the test to read.
    pub fn option(&self) -> Option<&'static str> {
        KNOWN.iter().find(|known| known.flag == self.name).map(|known| known.name)
    }
}

const fn flag(name: &'static str, takes: Takes, help: &'static str) -> Flag {
    Flag { name, short: None, takes, variable: "", help }
}

const fn short(letter: char, of: Flag) -> Flag {
    Flag { short: Some(letter), ..of }
}

const fn or(variable: &'static str, of: Flag) -> Flag {
    Flag { variable, ..of }
}

use Takes::{Many, One, Perhaps, Switch};

/// All flags, in the order of help.
pub const FLAGS: &[Flag] = &[
    short('u', flag("vus", One("N"), "Virtual users.")),
    short('d', flag("duration", One("TIME"), "Duration of the test, e.g. 1m30s.")),
    short('i', flag("iterations", One("N"), "Iterations of all virtual users together.")),
    short(
        's',
        flag("stage", Many("TIME:N"), "A stage: its duration and the virtual users to reach, e.g. 10s:50."),
    ),
    flag("execution-segment", One("SEGMENT"), "Run a part of the test (not supported)."),
    flag("execution-segment-sequence", One("SEGMENTS"), "The parts a test is divided into (not supported)."),
    short('p', flag("paused", Switch, "Accepted and ignored: a test starts at once.")),
    flag("no-setup", Switch, "Skip setup()."),
    flag("no-teardown", Switch, "Skip teardown()."),
    flag("max-redirects", One("N"), "Redirects followed per request [10]."),
    flag("batch", One("N"), "Requests of one http.batch() in flight at once [20]."),
    flag("batch-per-host", One("N"), "The same, per host [6]."),
    flag("rps", One("N"), "Limit on HTTP requests per second, of all virtual users together."),
    flag("user-agent", One("TEXT"), "User-Agent of HTTP requests."),
    flag(
        "http-debug",
        Perhaps("WHAT", "headers"),
        "Print requests and responses; with =full also their bodies.",
    ),
    flag("insecure-skip-tls-verify", Switch, "Accept any certificate."),
    flag("no-connection-reuse", Switch, "A new connection for every request."),
    flag("no-vu-connection-reuse", Switch, "New connections in every iteration."),
    flag("min-iteration-duration", One("TIME"), "Minimum duration of an iteration; shorter ones wait."),
    short('w', flag("throw", Switch, "Failed requests throw.")),
    flag("blacklist-ip", Many("CIDR"), "Addresses that must not be called."),
    flag("block-hostnames", Many("PATTERN"), "Hosts that must not be called, e.g. *.example.com."),
    flag("summary-trend-stats", Many("STATS"), "Statistics of trends in the summary, e.g. avg,p(99)."),
    flag("summary-time-unit", One("UNIT"), "Time unit of the summary: s, ms or us."),
    flag("system-tags", Many("TAGS"), "System tags of samples, in place of the default ones."),
    flag("tag", Many("NAME=VALUE"), "A tag for every sample."),
    flag("console-output", One("FILE"), "Write the output of the script's console to this file."),
    flag("discard-response-bodies", Switch, "Discard response bodies."),
    flag("local-ips", One("RANGES"), "Source addresses of virtual users, in turn."),
    flag("dns", One("CONFIG"), "Name resolution [ttl=5m,select=random,policy=preferIPv4]."),
    or(
        "K6_INCLUDE_SYSTEM_ENV_VARS",
        flag("include-system-env-vars", Switch, "Put the environment into __ENV [true]."),
    ),
    or(
        "K6_COMPATIBILITY_MODE",
        flag("compatibility-mode", One("MODE"), "extended or base; base has no `global` [extended]."),
    ),
    or("K6_TYPE", short('t', flag("type", One("TYPE"), "Type of the script: js."))),
    short(
        'e',
        flag(
            "env",
            Many("NAME=VALUE"),
            "Set a variable of __ENV; NAME alone takes its value from the environment.",
        ),
    ),
    or("K6_NO_THRESHOLDS", flag("no-thresholds", Switch, "Skip thresholds.")),
    or(
        "K6_NO_SUMMARY",
        flag("no-summary", Switch, "No summary at the end; the same as --summary-mode=disabled."),
    ),
    or("K6_SUMMARY_MODE", flag("summary-mode", One("MODE"), "compact, full or disabled [compact].")),
    or("K6_SUMMARY_EXPORT", flag("summary-export", One("FILE"), "Write the summary to this file, as JSON.")),
    short(
        'o',
        flag(
            "out",
            Many("OUTPUT"),
            "Write samples: json=FILE or csv=FILE; a file whose name ends in .gz is compressed. web-dashboard serves \
             the page.",
        ),
    ),
    flag("runs", One("DIR"), "Write a run folder into this folder, for sonagi report (Sonagi's own flag)."),
    flag(
        "matrix",
        Many("NAME=VALUE,…"),
        "Run the test with each of these values in __ENV, or with these values of the script's own matrix (Sonagi's \
         own flag).",
    ),
    flag("repeat", One("N"), "Run it, or each combination of its matrix, N times (Sonagi's own flag)."),
    flag("compare", One("NAME"), "Say which value of this variable is best (Sonagi's own flag)."),
    flag(
        "page",
        Perhaps("WHEN", "run"),
        "Show the test live on a page in the browser; keep: also after it, until Ctrl-C (Sonagi's own flag).",
    ),
    flag(
        "page-listen",
        One("ADDRESS"),
        "Serve the page there, also without --page [127.0.0.1:5665] (Sonagi's own flag).",
    ),
    flag(
        "report",
        One("FILE"),
        "Write the test as a page that needs nothing but itself (Sonagi's own flag).",
    ),
    flag("plot", Switch, "Print latencies and rate as a small plot below the summary (Sonagi's own flag)."),
    flag("watch", Many("WHAT"), "Watch this as well, e.g. port:3001 or postgres://… (Sonagi's own flag)."),
    flag(
        "no-watch",
        Switch,
        "Do not watch a target on this machine without being asked (Sonagi's own flag).",
    ),
    or(
        "K6_SECRET_SOURCE",
        flag("secret-source", Many("SOURCE"), "Secrets for k6/secrets: file=FILE or mock=NAME=VALUE,…"),
    ),
    short('l', flag("linger", Switch, "Ignored, with a warning: there is no API server.")),
    short('a', flag("address", One("ADDRESS"), "Ignored, with a warning: there is no API server.")),
    flag("profiling-enabled", Switch, "Ignored, with a warning: there is no API server."),
    flag("no-usage-report", Switch, "Accepted and ignored: no usage is ever reported."),
    or(
        "K6_CONFIG",
        short('c', flag("config", One("FILE"), "File with options, as JSON; the script's options win.")),
    ),
    or("K6_LOG_FORMAT", flag("log-format", One("FORMAT"), "text, json or raw.")),
    or("K6_LOG_OUTPUT", flag("log-output", One("OUTPUT"), "stderr, stdout, none or file=FILE [stderr].")),
    or("K6_NO_COLOR", flag("no-color", Switch, "No colours.")),
    short('q', flag("quiet", Switch, "No progress.")),
    or("K6_VERBOSE", short('v', flag("verbose", Switch, "Log more."))),
];

/// The tier of the command line: each flag that was given, by name, with its values in their order.
///
/// Flags that set no option are passed over. A switch without value counts as `true`.
pub fn flags_to_tier(given: &[(&str, Vec<String>)]) -> Result<Map<String, Value>, Problems> {
    let mut tier = Map::new();
    let mut problems = Vec::new();
    for (flag, values) in given {
        let Some(known) = KNOWN.iter().find(|known| !known.flag.is_empty() && known.flag == *flag) else {
            continue;
        };
        let takes = FLAGS.iter().find(|it| it.name == *flag).map(|it| it.takes);
        match value(known.name, takes, values) {
            Ok(value) => drop(tier.insert(known.name.to_string(), value)),
            Err(text) => problems.push(Problem { place: format!("--{flag}"), text, hint: None }),
        }
    }
    if problems.is_empty() { Ok(tier) } else { Err(Problems(problems)) }
}

fn value(option: &str, takes: Option<Takes>, values: &[String]) -> Result<Value, String> {
    let last = values.last().map_or("", String::as_str);
    Ok(match option {
        "stages" => {
            let stages: Vec<Value> = values.iter().flat_map(|text| text.split(',')).map(stage).collect();
            for stage in &stages {
                let time = stage["duration"].as_str().ok_or("a stage needs a length of time, as 10s:50")?;
                span::with_units(time).map_err(|what| format!("\"{time}\" {what}"))?;
            }
            Value::Array(stages)
        }
        "duration" | "minIterationDuration" => {
            // Without a unit seconds may be meant, or milliseconds: k6 asks, too.
            span::with_units(last).map_err(|what| format!("\"{last}\" {what}, write it as 1m30s"))?;
            last.into()
        }
        "tags" => {
            let pair = |text: &String| match text.split_once('=') {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                    Ok((name.to_string(), value.into()))
                }
                _ => Err(format!("\"{text}\" is no NAME=VALUE")),
            };
            Value::Object(values.iter().map(pair).collect::<Result<_, _>>()?)
        }
        "dns" => dns(last),
        "out" => values.iter().map(|text| Value::from(text.as_str())).collect(),
        _ if LISTS.contains(&option) => list(&values.join(",")),
        _ if takes == Some(Takes::Switch) => match last {
            "" | "true" => true.into(),
            "false" => false.into(),
            other => return Err(format!("must be true or false, is \"{other}\"")),
        },
        _ => last.into(),
    })
}
