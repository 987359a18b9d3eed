//! Every option there is: its name in scripts, its variable, its flag, what its value must be; and how the typed
//! options are made of the values that won.

use super::problem::Reading;
use super::read::{self, Check};
use super::scenario::{Scenario, shortcut_stages};
use super::{Dns, DnsPolicy, DnsSelect, HttpDebug, MetricThresholds, Options, Sonagi, Threshold, TlsAuth};
use super::{network, pairs, several, span, tls};
use serde_json::{Map, Value};
use sonagi_measure::ledger::Rules;
use std::ops::RangeInclusive;
use std::time::Duration;

/// An option.
pub(super) struct Known {
    /// Its name in scripts and in the config file.
    pub name: &'static str,
    /// Its environment variable, "" without.
    pub variable: &'static str,
    /// Its flag without dashes, "" without.
    pub flag: &'static str,
    pub check: Check,
    /// Whether `exec.test.options` shows it, given or not.
    pub shown: bool,
    /// Whether a script may have it; else the config file only.
    pub script: bool,
}

const fn known(name: &'static str, variable: &'static str, flag: &'static str, check: Check) -> Known {
    Known { name, variable, flag, check, shown: true, script: true }
}

/// Not shown to scripts: the four that become scenarios, and what is passed on only when given.
const fn hidden(name: &'static str, variable: &'static str, flag: &'static str, check: Check) -> Known {
    Known { shown: false, ..known(name, variable, flag, check) }
}

const fn config(name: &'static str, variable: &'static str, flag: &'static str, check: Check) -> Known {
    Known { script: false, ..hidden(name, variable, flag, check) }
}

/// All of them, in the order `exec.test.options` shows them. `scenarios` is read by its own rules.
pub(super) const KNOWN: [Known; 49] = [
    known("paused", "K6_PAUSED", "paused", read::truth),
    hidden("vus", "K6_VUS", "vus", read::whole),
    hidden("duration", "K6_DURATION", "duration", read::time),
    hidden("iterations", "K6_ITERATIONS", "iterations", read::whole),
    hidden("stages", "K6_STAGES", "stage", shortcut_stages),
    known("scenarios", "", "", read::anything),
    known("executionSegment", "", "execution-segment", segment),
    known("executionSegmentSequence", "", "execution-segment-sequence", segment),
    known("noSetup", "K6_NO_SETUP", "no-setup", read::truth),
    known("setupTimeout", "K6_SETUP_TIMEOUT", "", read::time),
    known("noTeardown", "K6_NO_TEARDOWN", "no-teardown", read::truth),
    known("teardownTimeout", "K6_TEARDOWN_TIMEOUT", "", read::time),
    known("handleSummaryTimeout", "K6_HANDLE_SUMMARY_TIMEOUT", "", read::time),
    known("rps", "K6_RPS", "rps", read::whole),
    known("dns", "K6_DNS", "dns", read::dns),
    known("maxRedirects", "K6_MAX_REDIRECTS", "max-redirects", read::whole),
    known("userAgent", "K6_USER_AGENT", "user-agent", read::text),
    known("batch", "K6_BATCH", "batch", read::whole),
    known("batchPerHost", "K6_BATCH_PER_HOST", "batch-per-host", read::whole),
    known("httpDebug", "K6_HTTP_DEBUG", "http-debug", read::text),
    known("insecureSkipTLSVerify", "K6_INSECURE_SKIP_TLS_VERIFY", "insecure-skip-tls-verify", read::truth),
    known("tlsCipherSuites", "K6_TLS_CIPHER_SUITES", "", tls::cipher_suites),
    known("tlsVersion", "", "", tls::version),
    known("tlsAuth", "", "", tls::auth),
    known("throw", "K6_THROW", "throw", read::truth),
    known("thresholds", "", "", read::thresholds),
    known("blacklistIPs", "K6_BLACKLIST_IPS", "blacklist-ip", network::nets),
    known("blockHostnames", "K6_BLOCK_HOSTNAMES", "block-hostnames", network::hostnames),
    known("hosts", "", "", network::hosts),
    known("noConnectionReuse", "K6_NO_CONNECTION_REUSE", "no-connection-reuse", read::truth),
    known("noVUConnectionReuse", "K6_NO_VU_CONNECTION_REUSE", "no-vu-connection-reuse", read::truth),
    known("minIterationDuration", "K6_MIN_ITERATION_DURATION", "min-iteration-duration", read::time),
    hidden("cloud", "", "", read::anything),
    known("ext", "", "", read::anything),
    known("summaryTrendStats", "K6_SUMMARY_TREND_STATS", "summary-trend-stats", read::trend_stats),
    known("summaryTimeUnit", "K6_SUMMARY_TIME_UNIT", "summary-time-unit", read::time_unit),
    known("systemTags", "K6_SYSTEM_TAGS", "system-tags", read::system_tags),
    known("tags", "K6_TAGS", "tag", read::text_map),
    known("metricSamplesBufferSize", "K6_METRIC_SAMPLES_BUFFER_SIZE", "", read::whole),
    known("noCookiesReset", "K6_NO_COOKIES_RESET", "", read::truth),
    known("discardResponseBodies", "K6_DISCARD_RESPONSE_BODIES", "discard-response-bodies", read::truth),
    known("features", "", "", read::anything),
    known("consoleOutput", "K6_CONSOLE_OUTPUT", "console-output", read::text),
    known("localIPs", "K6_LOCAL_IPS", "local-ips", network::local_ips),
    hidden("sonagi", "", "", sonagi),
    config("out", "K6_OUT", "out", one_or_more),
    config("linger", "K6_LINGER", "linger", read::truth),
    config("noUsageReport", "K6_NO_USAGE_REPORT", "no-usage-report", read::truth),
    config("collectors", "", "", read::anything),
];

/// Parts of a test on several machines: not here yet, and running all of it instead would be the wrong load.
fn segment(_: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    reading.problem("parts of a test are not supported, every run is the whole test");
    None
}

/// A single text or a list of them.
fn one_or_more(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    if value.is_string() { Some(Value::Array(vec![value.clone()])) } else { read::texts(value, reading) }
}

/// `options.sonagi`; unknown members are noticed and no more, as k6 does with unknown options.
fn sonagi(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let own: [(&str, Check); 7] = [
        ("keepConnections", read::truth),
        // Below, a script's first calls would overflow it; above, it is a mistake.
        ("stackSize", |value, reading| bytes(value, 128 << 10..=1 << 30, reading)),
        ("memoryLimit", |value, reading| bytes(value, 1 << 20..=1 << 40, reading)),
        ("busyLimit", read::time),
        ("delivery", delivery),
        ("watch", one_or_more),
        ("launch", read::anything),
    ];
    let checked = members(&[&own[..], &several::KEYS].concat(), value, reading)?;
    several::judge(value, &checked, reading);
    Some(checked)
}

/// `options.sonagi.delivery`: the ledger's rules.
fn delivery(value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let known: &[(&str, Check)] =
        &[("deadline", read::time), ("settle", read::time), ("echo", read::truth), ("drain", read::time)];
    members(known, value, reading)
}

pub(super) fn members(known: &[(&str, Check)], value: &Value, reading: &mut Reading<'_>) -> Option<Value> {
    let Some(given) = value.as_object() else { return reading.wrong("an object", value) };
    let mut checked = Map::new();
    for (name, member) in given.iter().filter(|(_, member)| !member.is_null()) {
        match known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((name, check)) => {
                checked.extend(
                    check(member, &mut reading.within(name)).map(|member| (name.to_string(), member)),
                );
            }
            None => {
                let known: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
                reading.notice(format!("`{name}` is unknown and ignored, known are {}", known.join(", ")));
            }
        }
    }
    Some(Value::Object(checked))
}

/// A number of bytes within `bounds`, or a text as `256KiB`.
fn bytes(value: &Value, bounds: RangeInclusive<u64>, reading: &mut Reading<'_>) -> Option<Value> {
    let units = [("KiB", 1u64 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)];
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => units.iter().find_map(|(unit, bytes)| {
            let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            number.checked_mul(*bytes)
        }),
        _ => None,
    };
    match number {
        Some(number) if bounds.contains(&number) => Some(number.into()),
        Some(_) => reading.wrong(&format!("from {} to {} bytes", bounds.start(), bounds.end()), value),
        None => reading.wrong("a number of bytes, or a text as \"256KiB\"", value),
    }
}

/// The values that won, by name.
pub(super) struct Won(pub Map<String, Value>);

impl Won {
    pub(super) fn get(&self, name: &str) -> &Value {
        debug_assert!(KNOWN.iter().any(|known| known.name == name), "{name} is no option");
        self.0.get(name).unwrap_or(&Value::Null)
    }

    fn truth(&self, name: &str) -> bool {
        self.get(name) == &Value::Bool(true)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).as_str().map(str::to_string)
    }

    /// A whole number; what is less than nothing counts as nothing.
    fn whole(&self, name: &str, default: u64) -> u64 {
        self.get(name).as_i64().map_or(default, |number| number.max(0) as u64)
    }

    pub(super) fn ns(&self, name: &str) -> Option<i64> {
        self.get(name).as_str().and_then(|text| span::parse(text).ok())
    }

    fn time(&self, name: &str, default_s: i64) -> Duration {
        span::wait(self.ns(name).unwrap_or(default_s * span::SECOND))
    }

    fn texts(&self, name: &str) -> Vec<String> {
        texts(self.get(name))
    }

    /// The typed options; `json` is what scripts see.
    pub(super) fn options(&self, scenarios: Vec<Scenario>, json: Value) -> Options {
        let tls_end =
            |end: &str| self.get("tlsVersion")[end].as_str().filter(|it| !it.is_empty()).map(str::to_string);
        Options {
            scenarios,
            thresholds: thresholds(self.get("thresholds")),
            no_setup: self.truth("noSetup"),
            setup_timeout: self.time("setupTimeout", 60),
            no_teardown: self.truth("noTeardown"),
            teardown_timeout: self.time("teardownTimeout", 60),
            handle_summary_timeout: self.time("handleSummaryTimeout", 120),
            rps: Some(self.whole("rps", 0)).filter(|rps| *rps > 0),
            dns: dns(self.get("dns")),
            max_redirects: u32::try_from(self.whole("maxRedirects", 10)).unwrap_or(u32::MAX),
            user_agent: self.text("userAgent"),
            batch: self.whole("batch", 20) as usize,
            batch_per_host: self.whole("batchPerHost", 6) as usize,
            http_debug: self.text("httpDebug").filter(|text| !text.is_empty()).map(|text| {
                match text.as_str() {
                    "full" => HttpDebug::Full,
                    _ => HttpDebug::Headers,
                }
            }),
            insecure_skip_tls_verify: self.truth("insecureSkipTLSVerify"),
            tls_cipher_suites: self.get("tlsCipherSuites").is_array().then(|| self.texts("tlsCipherSuites")),
            tls_version: (tls_end("min"), tls_end("max")),
            tls_auth: self.get("tlsAuth").as_array().into_iter().flatten().map(tls_auth).collect(),
            throw: self.truth("throw"),
            blacklist_ips: self
                .texts("blacklistIPs")
                .iter()
                .filter_map(|text| network::Net::parse(text))
                .collect(),
            block_hostnames: network::hostnames_of(self.get("blockHostnames")),
            hosts: network::hosts_of(self.get("hosts")),
            no_connection_reuse: self.truth("noConnectionReuse"),
            no_vu_connection_reuse: self.truth("noVUConnectionReuse"),
            min_iteration_duration: self.time("minIterationDuration", 0),
            summary_trend_stats: self.texts("summaryTrendStats"),
            summary_time_unit: self.text("summaryTimeUnit"),
            system_tags: self.texts("systemTags"),
            tags: pairs(Some(self.get("tags"))),
            no_cookies_reset: self.truth("noCookiesReset"),
            discard_response_bodies: self.truth("discardResponseBodies"),
            console_output: self.text("consoleOutput").filter(|path| !path.is_empty()),
            local_ips: self.text("localIPs").and_then(|text| network::LocalIps::parse(&text).ok()),
            out: self.texts("out"),
            sonagi: sonagi_of(self.get("sonagi")),
            json,
        }
    }
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_string)).collect()
}

fn thresholds(value: &Value) -> Vec<MetricThresholds> {
    let one = |item: &Value| {
        let delay = item["delayAbortEval"].as_str().and_then(|text| span::parse(text).ok());
        Threshold {
            source: item.as_str().or(item["threshold"].as_str()).unwrap_or_default().to_string(),
            abort_on_fail: item["abortOnFail"] == Value::Bool(true),
            delay_abort_eval: span::wait(delay.unwrap_or(0)),
        }
    };
    let of_metric = |(metric, items): (&String, &Value)| MetricThresholds {
        metric: metric.clone(),
        thresholds: items.as_array().into_iter().flatten().map(one).collect(),
    };
    value.as_object().into_iter().flatten().map(of_metric).collect()
}

fn dns(value: &Value) -> Dns {
    let ttl = match value["ttl"].as_str() {
        Some("inf") => None,
        Some(text) => Some(span::wait(span::parse(text).unwrap_or(0))),
        None => Some(Duration::from_secs(300)),
    };
    let select = match value["select"].as_str() {
        Some("first") => DnsSelect::First,
        Some("roundRobin") => DnsSelect::RoundRobin,
        _ => DnsSelect::Random,
    };
    let policy = match value["policy"].as_str() {
        Some("preferIPv6") => DnsPolicy::PreferIpv6,
        Some("onlyIPv4") => DnsPolicy::OnlyIpv4,
        Some("onlyIPv6") => DnsPolicy::OnlyIpv6,
        Some("any") => DnsPolicy::Any,
        _ => DnsPolicy::PreferIpv4,
    };
    Dns { ttl, select, policy }
}

fn tls_auth(value: &Value) -> TlsAuth {
    let text = |name: &str| value[name].as_str().map(str::to_string);
    TlsAuth {
        cert: text("cert").unwrap_or_default(),
        key: text("key").unwrap_or_default(),
        password: text("password"),
        domains: texts(&value["domains"]),
    }
}

fn sonagi_of(value: &Value) -> Sonagi {
    let size = |name: &str| value[name].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
    Sonagi {
        keep_connections: value["keepConnections"] == Value::Bool(true),
        stack_size: size("stackSize"),
        memory_limit: size("memoryLimit"),
        busy_limit: value["busyLimit"].as_str().and_then(|text| span::parse(text).ok()).map(span::wait),
        delivery: rules_of(&value["delivery"]),
        watch: texts(&value["watch"]),
        several: several::of(value),
        launch: value.get("launch").filter(|launch| !launch.is_null()).cloned(),
        drain: value["delivery"]["drain"].as_str().and_then(|text| span::parse(text).ok()).map(span::wait),
    }
}

fn rules_of(value: &Value) -> Rules {
    let usual = Rules::default();
    let ns = |name: &str| value[name].as_str().and_then(|text| span::parse(text).ok()).map(|ns| ns.max(0));
    Rules {
        deadline_ns: ns("deadline").unwrap_or(usual.deadline_ns),
        settle_ns: ns("settle").unwrap_or(usual.settle_ns),
        echo: value["echo"] != Value::Bool(false),
    }
}
