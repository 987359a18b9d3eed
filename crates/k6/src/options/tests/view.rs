//! The script's view of its options, and the tiers of flags and environment: each view is as k6 2.2 printed it.

use super::*;

/// The same text as k6 printed, members in the same order.
fn same(json: &Value, k6: &str) {
    let k6: Value = serde_json::from_str(k6).unwrap();
    assert_eq!(json.to_string(), k6.to_string());
}

#[test]
fn a_script_sees_every_option_as_k6_shows_it() {
    let options = json!({"paused": false, "scenarios": {
        "b": {"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "1s", "target": "2"}], "gracefulRampDown": "90s", "startTime": "25h"},
        "a": {"executor": "constant-vus", "vus": 1, "duration": 1000, "gracefulStop": 1.5, "env": {"A": "1"}, "tags": {"t": "1"},
            "exec": "other", "options": {"browser": {"type": "chromium"}}, "startTime": "1d1h"},
        "c": {"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 1},
        "d": {"executor": "ramping-arrival-rate", "stages": [{"duration": "1s", "target": 1}], "preAllocatedVUs": 1,
            "startTime": "25h", "timeUnit": "500us"}},
        "setupTimeout": "1m", "teardownTimeout": 100, "noSetup": true, "noTeardown": false, "rps": 5, "dns": {"ttl": "0", "policy": "any"},
        "maxRedirects": 1, "userAgent": "x", "batch": 1, "batchPerHost": 2, "httpDebug": "full", "insecureSkipTLSVerify": true,
        "tlsVersion": {"min": "tls1.2", "max": "tls1.3"}, "tlsCipherSuites": ["TLS_RSA_WITH_AES_128_GCM_SHA256"], "throw": true,
        "thresholds": {"http_reqs{a:b}": ["count>=0", {"threshold": "rate>=0", "abortOnFail": true, "delayAbortEval": "10s"}, {"threshold": "rate<1e9"}]},
        "blacklistIPs": ["10.1.2.3/8"], "blockHostnames": ["*.X.com"], "hosts": {"Foo.com": "1.2.3.4", "b.com:80": "1.2.3.4:8080"},
        "noConnectionReuse": true, "noVUConnectionReuse": false, "minIterationDuration": 1, "ext": {"loadimpact": {"a": 1}}, "cloud": {"x": 1},
        "summaryTrendStats": ["avg", "count", "p(99.99)"], "summaryTimeUnit": "ms", "systemTags": ["url", "vu", "name"], "tags": {"a": "b"},
        "metricSamplesBufferSize": 5, "noCookiesReset": true, "discardResponseBodies": true, "handleSummaryTimeout": "2m"});
    let options = script(options).unwrap().options;
    same(
        &options.json,
        r#"{"paused":false,"scenarios":{"a":{"executor":"constant-vus","startTime":"25h0m0s","gracefulStop":"1.5ms","env":{"A":"1"},
        "exec":"other","tags":{"t":"1"},"options":{"browser":{"type":"chromium"}},"vus":1,"duration":"1s"},
        "b":{"executor":"ramping-vus","startTime":"25h0m0s","gracefulStop":null,"env":null,"exec":null,"tags":null,"startVUs":0,
        "stages":[{"duration":"1s","target":2}],"gracefulRampDown":"1m30s"},
        "c":{"executor":"constant-arrival-rate","startTime":null,"gracefulStop":null,"env":null,"exec":null,"tags":null,"rate":1,
        "timeUnit":null,"duration":"1s","preAllocatedVUs":1,"maxVUs":null},
        "d":{"executor":"ramping-arrival-rate","startTime":"25h0m0s","gracefulStop":null,"env":null,"exec":null,"tags":null,
        "startRate":null,"timeUnit":"500µs","stages":[{"duration":"1s","target":1}],"preAllocatedVUs":1,"maxVUs":null}},
        "executionSegment":null,"executionSegmentSequence":null,"noSetup":true,"setupTimeout":"1m0s","noTeardown":false,
        "teardownTimeout":"100ms","handleSummaryTimeout":"2m0s","rps":5,"dns":{"ttl":"0","select":null,"policy":"any"},"maxRedirects":1,
        "userAgent":"x","batch":1,"batchPerHost":2,"httpDebug":"full","insecureSkipTLSVerify":true,
        "tlsCipherSuites":["TLS_RSA_WITH_AES_128_GCM_SHA256"],"tlsVersion":{"min":"tls1.2","max":"tls1.3"},"tlsAuth":null,"throw":true,
        "thresholds":{"http_reqs{a:b}":["count>=0",{"threshold":"rate>=0","abortOnFail":true,"delayAbortEval":"10s"},"rate<1e9"]},
        "blacklistIPs":["10.0.0.0/8"],"blockHostnames":["*.X.com"],"hosts":{"b.com:80":"1.2.3.4:8080","foo.com":"1.2.3.4"},
        "noConnectionReuse":true,"noVUConnectionReuse":false,"minIterationDuration":"1ms","cloud":{"x":1},"ext":{"loadimpact":{"a":1}},
        "summaryTrendStats":["avg","count","p(99.99)"],"summaryTimeUnit":"ms","systemTags":["name","url","vu"],"tags":{"a":"b"},
        "metricSamplesBufferSize":5,"noCookiesReset":true,"discardResponseBodies":true,"features":null,"consoleOutput":null,"localIPs":null}"#,
    );
    let delays: Vec<u64> =
        options.thresholds[0].thresholds.iter().map(|it| it.delay_abort_eval.as_secs()).collect();
    assert_eq!((delays, options.thresholds[0].metric.as_str()), (vec![0, 10, 0], "http_reqs{a:b}"));
    assert_eq!(options.http_debug, Some(HttpDebug::Full));
    assert_eq!(options.tls_version, (Some("tls1.2".into()), Some("tls1.3".into())));
}

#[test]
fn flags_set_the_options_that_k6s_flags_set() {
    let given = |flag, values: &[&str]| (flag, values.iter().map(|it| it.to_string()).collect::<Vec<_>>());
    let flags = flags_to_tier(&[
        given("vus", &["3"]),
        given("stage", &["10s:5,5s:0", "1m:1"]),
        given("no-setup", &[]),
        given("no-teardown", &["false"]),
        given("tag", &["a=b=c", "b=d"]),
        given("dns", &["ttl=1s,select=first"]),
        given("blacklist-ip", &["10.0.0.0/8,1.1.1.1/32"]),
        given("block-hostnames", &["*.x.com"]),
        given("summary-trend-stats", &["avg,p(99)"]),
        given("system-tags", &["url", "name"]),
        given("http-debug", &["headers"]),
        given("max-redirects", &["3"]),
        given("user-agent", &["true"]),
        given("min-iteration-duration", &["1ms"]),
        given("out", &["json=a,b", "csv"]),
        given("quiet", &[]),
    ]);
    let Consolidated { options, notices } =
        consolidate(Tiers { flags: flags.unwrap(), ..Tiers::default() }).unwrap();
    same(
        &options.json,
        r#"{"paused":null,"scenarios":{"default":{"executor":"ramping-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,
        "tags":null,"startVUs":3,"stages":[{"duration":"10s","target":5},{"duration":"5s","target":0},{"duration":"1m0s","target":1}],
        "gracefulRampDown":null}},"executionSegment":null,"executionSegmentSequence":null,"noSetup":true,"setupTimeout":null,
        "noTeardown":false,"teardownTimeout":null,"handleSummaryTimeout":null,"rps":null,"dns":{"ttl":"1s","select":"first","policy":null},
        "maxRedirects":3,"userAgent":"true","batch":null,"batchPerHost":null,"httpDebug":"headers","insecureSkipTLSVerify":null,
        "tlsCipherSuites":null,"tlsVersion":null,"tlsAuth":null,"throw":null,"thresholds":null,"blacklistIPs":["10.0.0.0/8","1.1.1.1/32"],
        "blockHostnames":["*.x.com"],"hosts":null,"noConnectionReuse":null,"noVUConnectionReuse":null,"minIterationDuration":"1ms",
        "ext":null,"summaryTrendStats":["avg","p(99)"],"summaryTimeUnit":null,"systemTags":["name","url"],"tags":{"a":"b=c","b":"d"},
        "metricSamplesBufferSize":null,"noCookiesReset":null,"discardResponseBodies":null,"features":null,"consoleOutput":null,"localIPs":null}"#,
    );
    assert_eq!(options.out, ["json=a,b", "csv"]);
    assert!(notices.is_empty(), "{notices:?}");
}

#[test]
fn flags_that_k6_refuses_are_refused_all_at_once() {
    let check = |flag: &str, value: &str, expected: &str| {
        let given = [(flag, vec![value.to_string()])];
        let said = flags_to_tier(&given)
            .and_then(|flags| consolidate(Tiers { flags, ..Tiers::default() }))
            .map_or_else(|problems| problems.to_string(), |_| "fine".into());
        assert_eq!(said, expected, "--{flag} {value}");
    };
    check("vus", "x", "--vus: must be a whole number, is \"x\"");
    check("duration", "5", "--duration: \"5\" has no unit, write it as 1m30s");
    check("duration", "1d", "--duration: \"1d\" has an unknown unit \"d\", write it as 1m30s");
    check("stage", "10", "--stage: \"10\" has no unit");
    check("stage", ":5", "--stage: a stage needs a length of time, as 10s:50");
    check("stage", "1s:x", "--stage.0.target: must be a whole number, is \"x\"");
    check("stage", "1s:", "scenario default.stages.0.target: must be given");
    check("tag", "a", "--tag: \"a\" is no NAME=VALUE");
    check("tag", "=b", "--tag: \"=b\" is no NAME=VALUE");
    check("tag", "a=b=c", "fine");
    check("dns", "foo", "--dns: must be an object with ttl, select, policy, is \"foo\"");
    check("dns", "ttl=x", "--dns.ttl: must be inf, 0 or a length of time, is \"x\"");
    check("local-ips", "x", "--local-ips: \"x\" is no address, range of addresses or CIDR");
    check("summary-time-unit", "h", "--summary-time-unit: must be one of s, ms, us, is \"h\"");
    check("throw", "yes", "--throw: must be true or false, is \"yes\"");
    check("throw", "false", "fine");
    check(
        "execution-segment",
        "1/2",
        "--execution-segment: parts of a test are not supported, every run is the whole test",
    );
    check("env", "whatever", "fine");
    let two = flags_to_tier(&[("duration", vec!["5".into()]), ("tag", vec!["a".into()])]).unwrap_err();
    assert_eq!(two.0.len(), 2);
}

#[test]
fn variables_set_the_options_that_k6s_variables_set() {
    let set = [
        ("K6_STAGES", "1s:2,1s:0"),
        ("K6_TAGS", "a:b,c:d"),
        ("K6_SYSTEM_TAGS", "url"),
        ("K6_DNS", "ttl=5s"),
        ("K6_NO_SETUP", "true"),
        ("K6_USER_AGENT", "true"),
        ("K6_SETUP_TIMEOUT", "2000"),
        ("K6_BLACKLIST_IPS", "10.0.0.0/8"),
        ("K6_HTTP_DEBUG", ""),
        ("K6_RPS", "5"),
        ("K6_SUMMARY_TREND_STATS", "avg,p(99)"),
        ("K6_FOO", "1"),
        ("PATH", "/bin"),
    ]
    .map(|(name, text)| (name.to_string(), text.to_string()));
    let environment = environment(&set);
    let options = consolidate(Tiers { environment, ..Tiers::default() }).unwrap().options;
    same(
        &options.json,
        r#"{"paused":null,"scenarios":{"default":{"executor":"ramping-vus","startTime":null,"gracefulStop":null,"env":null,"exec":null,
        "tags":null,"startVUs":null,"stages":[{"duration":"1s","target":2},{"duration":"1s","target":0}],"gracefulRampDown":null}},
        "executionSegment":null,"executionSegmentSequence":null,"noSetup":true,"setupTimeout":"2s","noTeardown":null,"teardownTimeout":null,
        "handleSummaryTimeout":null,"rps":5,"dns":{"ttl":"5s","select":null,"policy":null},"maxRedirects":null,"userAgent":"true",
        "batch":null,"batchPerHost":null,"httpDebug":null,"insecureSkipTLSVerify":null,"tlsCipherSuites":null,"tlsVersion":null,
        "tlsAuth":null,"throw":null,"thresholds":null,"blacklistIPs":["10.0.0.0/8"],"blockHostnames":null,"hosts":null,
        "noConnectionReuse":null,"noVUConnectionReuse":null,"minIterationDuration":null,"ext":null,"summaryTrendStats":["avg","p(99)"],
        "summaryTimeUnit":null,"systemTags":["url"],"tags":{"a":"b","c":"d"},"metricSamplesBufferSize":null,"noCookiesReset":null,
        "discardResponseBodies":null,"features":null,"consoleOutput":null,"localIPs":null}"#,
    );
}

#[test]
fn variables_that_k6_refuses_are_refused() {
    let check = |name: &str, text: &str, expected: &str| {
        let environment = environment(&[(name.to_string(), text.to_string())]);
        let problems = consolidate(Tiers { environment, ..Tiers::default() }).unwrap_err();
        assert_eq!(problems.to_string(), expected);
    };
    check("K6_VUS", "x", "K6_VUS: must be a whole number, is \"x\"");
    check("K6_THROW", "yes", "K6_THROW: must be true or false, is \"yes\"");
    check("K6_TAGS", "a", "K6_TAGS: must be an object of texts, is \"a\"");
    check("K6_DURATION", "500", "scenario default.duration: must be at least 1s, is 500ms");
    check("K6_BLACKLIST_IPS", "x", "K6_BLACKLIST_IPS: \"x\" is no range of addresses, as 10.0.0.0/8");
    check("K6_DNS", "foo", "K6_DNS: must be an object with ttl, select, policy, is \"foo\"");
}

#[test]
fn every_flag_that_sets_an_option_is_in_the_list() {
    for known in table::KNOWN.iter().filter(|known| !known.flag.is_empty()) {
        let flag = FLAGS.iter().find(|flag| flag.name == known.flag);
        assert_eq!(flag.and_then(Flag::option), Some(known.name), "--{}", known.flag);
    }
    let mut letters: Vec<char> = FLAGS.iter().filter_map(|flag| flag.short).collect();
    letters.sort_unstable();
    let count = letters.len();
    letters.dedup();
    assert_eq!(letters.len(), count, "a letter stands for two flags");
}
