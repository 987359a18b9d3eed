//! Results of k6 2.2 for given options, seen by running it, and ours.

mod several;
mod view;

use super::*;
use serde_json::json;
use sonagi_measure::ledger::Rules;

fn script(options: Value) -> Result<Consolidated, Problems> {
    consolidate(Tiers { script: options.as_object().unwrap().clone(), ..Tiers::default() })
}

/// The problems of a script's options, one per line; or the executors it will run.
fn said(options: Value) -> String {
    match script(options) {
        Err(problems) => problems.to_string(),
        Ok(Consolidated { options, notices }) => {
            let executors = options.scenarios.iter().map(|it| format!("{}: {:?}", it.name, it.executor));
            executors.chain(notices).collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn shortcuts_mean_the_scenario_that_k6_makes_of_them() {
    let check = |options: Value, expected: &str| assert_eq!(said(options.clone()), expected, "{options}");
    check(json!({}), "default: PerVuIterations { vus: 1, iterations: 1, max_duration: 600s }");
    check(json!({"vus": null}), "default: PerVuIterations { vus: 1, iterations: 1, max_duration: 600s }");
    check(json!({"VUS": "2"}), "default: SharedIterations { vus: 2, iterations: 2, max_duration: 600s }");
    check(json!({"duration": 1000, "vus": 2}), "default: ConstantVus { vus: 2, duration: 1s }");
    check(
        json!({"vus": 2, "iterations": 5, "duration": "20s"}),
        "default: SharedIterations { vus: 2, iterations: 5, max_duration: 20s }",
    );
    check(
        json!({"vus": 0, "stages": [{"duration": "1s", "target": "4"}, {"target": 5}, {"duration": "500ms", "target": 0, "x": 1}]}),
        "default: RampingVus { start_vus: 0, stages: [Stage { duration: 1s, target: 4 }, Stage { duration: 500ms, target: 0 }], \
         graceful_ramp_down: 30s }",
    );
    check(
        json!({"stages": [], "vus": 2}),
        "default: PerVuIterations { vus: 1, iterations: 1, max_duration: 600s }\nstages: is empty, one virtual user runs one iteration",
    );
    check(
        json!({"scenarios": {}}),
        "default: PerVuIterations { vus: 1, iterations: 1, max_duration: 600s }\nscenarios: is empty, one virtual user runs one iteration",
    );
    check(
        json!({"vus": 2, "scenarios": {"a": {"executor": "constant-vus", "duration": "1s"}}}),
        "default: SharedIterations { vus: 2, iterations: 2, max_duration: 600s }\nvus: 2 replaces the scenarios altogether",
    );
}

#[test]
fn every_executor_has_k6s_defaults_and_runs_in_the_order_of_its_start() {
    let said = said(json!({"scenarios": {
        "z": {"Executor": "constant-vus", "DURATION": "1s"},
        "a": {"executor": "per-vu-iterations", "startTime": "1s"},
        "b": {"executor": "shared-iterations", "vus": null},
        "c": {"executor": "ramping-vus", "gracefulRampDown": "-5s", "stages": [{"duration": 0, "target": 0}]},
        "d": {"executor": "constant-arrival-rate", "rate": 7, "timeUnit": "3s", "duration": "1500ms", "preAllocatedVUs": 0},
        "e": {"executor": "ramping-arrival-rate", "stages": [{"duration": "1s", "target": 1}], "preAllocatedVUs": 2, "maxVUs": 3},
    }}));
    insta::assert_snapshot!(said, @"
    b: SharedIterations { vus: 1, iterations: 1, max_duration: 600s }
    c: RampingVus { start_vus: 1, stages: [Stage { duration: 0ns, target: 0 }], graceful_ramp_down: 0ns }
    d: ConstantArrivalRate { rate: 7, time_unit: 3s, duration: 1.5s, pre_allocated_vus: 0, max_vus: 0 }
    e: RampingArrivalRate { start_rate: 0, time_unit: 1s, stages: [Stage { duration: 1s, target: 1 }], pre_allocated_vus: 2, max_vus: 3 }
    z: ConstantVus { vus: 1, duration: 1s }
    a: PerVuIterations { vus: 1, iterations: 1, max_duration: 600s }
    ");
}

#[test]
fn a_scenarios_common_members_are_read() {
    let options = json!({"scenarios": {"a": {"executor": "constant-vus", "duration": "1s", "gracefulStop": 1.5,
        "env": {"B": "2", "A": null}, "tags": {"t": "1"}, "exec": "other", "startTime": "1d1h", "options": {"browser": {"type": "x"}}}}});
    let scenario = script(options).unwrap().options.scenarios.remove(0);
    let hour = Duration::from_secs(3600);
    assert_eq!((scenario.start_time, scenario.graceful_stop), (25 * hour, Duration::from_micros(1500)));
    assert_eq!(scenario.env, [("A".into(), "".into()), ("B".into(), "2".into())]);
    assert_eq!(scenario.tags, [("t".into(), "1".into())]);
    assert_eq!((scenario.exec.as_str(), scenario.options), ("other", json!({"browser": {"type": "x"}})));
    let plain = script(json!({"duration": "1s"})).unwrap().options.scenarios.remove(0);
    assert_eq!((plain.exec.as_str(), plain.graceful_stop), ("default", Duration::from_secs(30)));
}

/// Each of these k6 refuses with exit code 104 (a wrong statistic with 255).
#[test]
fn options_that_k6_refuses_are_refused_with_their_place() {
    let check = |options: Value, expected: &str| assert_eq!(said(options.clone()), expected, "{options}");
    check(json!({"vus": "ten"}), "options.vus: must be a whole number, is \"ten\"");
    check(json!({"vus": 1.5}), "options.vus: must be a whole number, is 1.5");
    check(json!({"vus": true}), "options.vus: must be a whole number, is true");
    check(
        json!({"vus": 0}),
        "scenario default.vus: must be at least 1, is 0\nscenario default.iterations: must be at least the number of VUs (1), is 0",
    );
    check(
        json!({"duration": "1x"}),
        "options.duration: \"1x\" has an unknown unit \"x\"\n    hint: lengths of time are written \"1h30m\", \"90s\", \"500ms\", \"1d\", or as a number of milliseconds",
    );
    check(json!({"duration": "-1s"}), "scenario default.duration: must be at least 1s, is -1s");
    check(json!({"duration": "500ms"}), "scenario default.duration: must be at least 1s, is 500ms");
    check(
        json!({"iterations": 2, "vus": 3}),
        "scenario default.iterations: must be at least the number of VUs (3), is 2",
    );
    let together = |a: &str, b: &str| {
        format!(
            "options: `{a}` and `{b}` cannot be given together\n    hint: each says how the test runs: leave one of them out"
        )
    };
    let stages = json!([{"duration": "1s", "target": 1}]);
    check(json!({"iterations": 2, "stages": stages}), &together("iterations", "stages"));
    check(json!({"iterations": 2, "scenarios": {}}), &together("iterations", "scenarios"));
    check(json!({"duration": "1s", "stages": stages}), &together("duration", "stages"));
    check(json!({"stages": stages, "scenarios": {}}), &together("stages", "scenarios"));
    check(json!({"stages": [{"duration": "1s"}]}), "scenario default.stages.0.target: must be given");
    check(
        json!({"stages": [{"duration": "0s", "target": 0}], "vus": 0}),
        "scenario default: `startVUs` or a stage's `target` must be more than 0",
    );
    check(
        json!({"setupTimeout": 0}),
        "setupTimeout: must be more than 0\n    hint: noSetup leaves setup out",
    );
}

#[test]
fn values_that_k6_refuses_are_refused_with_their_place() {
    let check = |options: Value, expected: &str| assert_eq!(said(options.clone()), expected, "{options}");
    check(
        json!({"summaryTrendStats": ["avg", "p(9)", "p(101)"]}),
        "options.summaryTrendStats: \"p(101)\" needs a number from 0 to 100",
    );
    let none = ["p95", "foo", "value", "rate", " avg ", "p(50", ""].map(|stat| {
        format!("options.summaryTrendStats: \"{stat}\" is no statistic of a trend\n    hint: known are avg, min, med, max, count and percentiles as p(99.9)")
    });
    check(
        json!({"summaryTrendStats": ["p95", "foo", "value", "rate", " avg ", "p(50", "", "p(0)", "p(100)"]}),
        &none.join("\n"),
    );
    check(
        json!({"summaryTrendStats": "avg"}),
        "options.summaryTrendStats: must be a list of texts, is \"avg\"",
    );
    check(json!({"tags": {"a": 1}}), "options.tags.a: must be a text, is 1");
    check(json!({"tags": ["a"]}), "options.tags: must be an object of texts, is [\"a\"]");
    check(
        json!({"dns": {"select": "foo"}}),
        "options.dns.select: must be one of first, random, roundRobin, is \"foo\"",
    );
    check(json!({"dns": {"ttl": "x"}}), "options.dns.ttl: must be inf, 0 or a length of time, is \"x\"");
    check(json!({"dns": "ttl=1s"}), "options.dns: must be an object with ttl, select, policy, is \"ttl=1s\"");
    check(
        json!({"blacklistIPs": ["foo"]}),
        "options.blacklistIPs: \"foo\" is no range of addresses, as 10.0.0.0/8",
    );
    check(
        json!({"blockHostnames": ["a*b"]}),
        "options.blockHostnames: \"a*b\" is no name of a host; `*` may only begin one",
    );
    check(
        json!({"hosts": {"a b": "127.0.0.1"}}),
        "options.hosts: \"a b\" is no name of a host, as example.com or *.example.com:443",
    );
    check(
        json!({"tlsVersion": "tls9"}),
        "options.tlsVersion: must be one of tls1.0, tls1.1, tls1.2, tls1.3, is \"tls9\"",
    );
    check(
        json!({"tlsVersion": {"min": "tls1.2", "foo": 1}}),
        "options.tlsVersion: has an unknown member `foo`\n    hint: known are min, max",
    );
    check(
        json!({"tlsCipherSuites": ["x"]}),
        "options.tlsCipherSuites: unknown cipher suite \"x\"; names are like TLS_AES_128_GCM_SHA256",
    );
    check(
        json!({"tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"]}),
        "options.tlsCipherSuites: unknown cipher suite \"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256\"; names are like TLS_AES_128_GCM_SHA256\n    hint: did you mean `TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305`?",
    );
    check(json!({"tlsAuth": [{"cert": "x"}]}), "options.tlsAuth.0: has no key");
    check(
        json!({"tlsAuth": [{"cert": "x", "key": "y"}]}),
        "options.tlsAuth.0: cert holds no PEM certificate",
    );
    check(json!({"throw": "true"}), "options.throw: must be true or false, is \"true\"");
    check(json!({"httpDebug": true}), "options.httpDebug: must be a text, is true");
}

#[test]
fn thresholds_that_k6_refuses_are_refused_with_their_place() {
    let check = |options: Value, expected: &str| assert_eq!(said(options.clone()), expected, "{options}");
    check(
        json!({"thresholds": []}),
        "options.thresholds: must be an object: for each metric a list of thresholds, is []",
    );
    check(
        json!({"thresholds": {"http_reqs": "count>1"}}),
        "options.thresholds.http_reqs: must be a list of thresholds, is \"count>1\"\n    hint: write [\"count>1\"]",
    );
    check(
        json!({"thresholds": {"http_reqs": [{"threshold": "count>=0", "abortonfail": "true"}]}}),
        "options.thresholds.http_reqs.0.abortOnFail: must be true or false, is \"true\"",
    );
    check(
        json!({"thresholds": {"http_reqs": [1]}}),
        "options.thresholds.http_reqs.0: must be an expression or an object with `threshold`, is 1",
    );
}

#[test]
fn scenarios_that_k6_refuses_are_refused_with_their_place() {
    let check = |scenario: Value, expected: &str| {
        let said = said(json!({"scenarios": {"a": scenario}}));
        assert_eq!(said.replace("options.scenarios.", ""), expected, "{scenario}");
    };
    let known = "known are shared-iterations, per-vu-iterations, constant-vus, ramping-vus, constant-arrival-rate, ramping-arrival-rate";
    check(json!({}), &format!("a: has no `executor`\n    hint: {known}"));
    check(
        json!({"executor": "externally-controlled"}),
        &format!("a.executor: \"externally-controlled\" is no executor\n    hint: {known}"),
    );
    check(
        json!({"executor": "constant-vu"}),
        "a.executor: \"constant-vu\" is no executor\n    hint: did you mean \"constant-vus\"?",
    );
    check(json!({"executor": 1}), "a.executor: must be a text, is 1");
    check(json!({"executor": "constant-vus"}), "a.duration: must be given");
    check(
        json!({"executor": "constant-vus", "duratio": "1s"}),
        "a: has an unknown member `duratio`\n    hint: did you mean `duration`?\na.duration: must be given",
    );
    check(
        json!({"executor": "constant-vus", "vus": 0, "duration": 0, "startTime": -1, "gracefulStop": "-1s", "exec": ""}),
        "a.exec: must name an exported function, is empty\na.startTime: must be at least 0s, is -1ms\n\
         a.gracefulStop: must be at least 0s, is -1s\na.vus: must be at least 1, is 0\na.duration: must be at least 1s, is 0s",
    );
    check(
        json!({"executor": "constant-vus", "vus": "x", "duration": "1s"}),
        "a.vus: must be a whole number, is \"x\"",
    );
    check(
        json!({"executor": "constant-vus", "duration": "1s", "env": {"A": 1}}),
        "a.env.A: must be a text, is 1",
    );
    check(
        json!({"executor": "constant-vus", "duration": "1s", "options": {"foo": 1}}),
        "a.options: has an unknown member `foo`\n    hint: known are browser",
    );
    check(
        json!({"executor": "shared-iterations", "vus": 2, "iterations": 1, "maxDuration": "500ms"}),
        "a.iterations: must be at least the number of VUs (2), is 1\na.maxDuration: must be at least 1s, is 500ms",
    );
}

#[test]
fn stages_and_rates_that_k6_refuses_are_refused_with_their_place() {
    let check = |scenario: Value, expected: &str| {
        let said = said(json!({"scenarios": {"a": scenario}}));
        assert_eq!(said.replace("options.scenarios.", ""), expected, "{scenario}");
    };
    check(json!({"executor": "ramping-vus"}), "a.stages: must have at least one stage");
    check(
        json!({"executor": "ramping-vus", "startVUs": -1, "stages": [{}]}),
        "a.startVUs: must be at least 0, is -1\na.stages.0.duration: must be given\na.stages.0.target: must be given\n\
         a: `startVUs` or a stage's `target` must be more than 0",
    );
    check(
        json!({"executor": "ramping-vus", "stages": [{"duration": "1s", "target": 1, "foo": 1}]}),
        "a.stages.0: has an unknown member `foo`\n    hint: known are duration, target",
    );
    check(
        json!({"executor": "ramping-vus", "stages": [{"duration": "1s", "target": 200_000_000}]}),
        "a: no more than 100000000 VUs can be asked for, asked for are 200000000",
    );
    let many = 1_000_000_000_000i64;
    for (executor, member) in [
        ("shared-iterations", json!({"vus": many, "iterations": many})),
        ("per-vu-iterations", json!({"vus": many})),
        ("constant-vus", json!({"vus": many, "duration": "1s"})),
        ("constant-arrival-rate", json!({"preAllocatedVUs": many, "rate": 1, "duration": "1s"})),
        (
            "ramping-arrival-rate",
            json!({"preAllocatedVUs": many, "stages": [{"duration": "1s", "target": 1}]}),
        ),
    ] {
        let mut scenario = json!({"executor": executor});
        scenario.as_object_mut().unwrap().extend(member.as_object().unwrap().clone());
        check(scenario, "a: no more than 100000000 VUs can be asked for, asked for are 1000000000000");
    }
    check(
        json!({"executor": "constant-arrival-rate"}),
        "a.rate: must be given\na.duration: must be given\na.preAllocatedVUs: must be given",
    );
    check(
        json!({"executor": "constant-arrival-rate", "rate": 0, "timeUnit": 0, "duration": 10, "preAllocatedVUs": -1, "maxVUs": -2}),
        "a.rate: must be at least 1, is 0\na.timeUnit: must be at least 1ns, is 0s\na.duration: must be at least 1s, is 10ms\n\
         a.preAllocatedVUs: must be at least 0, is -1\na.maxVUs: must be at least preAllocatedVUs (0), is -2",
    );
    check(
        json!({"executor": "ramping-arrival-rate", "startRate": -1, "stages": [{"duration": "-1s", "target": -1}], "preAllocatedVUs": 2, "maxVUs": 1}),
        "a.startRate: must be at least 0, is -1\na.stages.0.duration: must not be negative\n\
         a.stages.0.target: must not be negative\na.maxVUs: must be at least preAllocatedVUs (2), is 1",
    );
    assert_eq!(
        said(json!({"scenarios": {"a b": {"executor": "constant-vus", "duration": "1s"}}})),
        "options.scenarios.a b: the name of a scenario may hold Latin letters, digits, _ and - only",
    );
}

#[test]
fn every_problem_of_every_tier_is_told_at_once() {
    let tiers = Tiers {
        config_file: json!({"throw": 1, "collectors": {}}).as_object().unwrap().clone(),
        script: json!({"maxRedirects": "x", "scenarios": {
            "a": {"executor": "constant-vus", "vus": 0, "duration": "x"},
            "b": {"executor": "constant-vus", "duration": "1s", "exec": "nope"}}})
        .as_object()
        .unwrap()
        .clone(),
        environment: environment(&[("K6_RPS".into(), "1.5".into())]),
        flags: flags_to_tier(&[("batch", vec!["x".into()])]).unwrap(),
    };
    let problems = consolidate_for(tiers, &|name| name == "default").unwrap_err();
    let places: Vec<&str> = problems.0.iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(
        places,
        [
            "config file: throw",
            "options.maxRedirects",
            "options.scenarios.a.duration",
            "K6_RPS",
            "--batch",
            "options.scenarios.a.vus",
            "scenario b"
        ]
    );
    assert_eq!(problems.0[6].text, "the script exports no function `nope`");
}

#[test]
fn a_higher_tier_goes_before_a_lower_one() {
    let tier = |value: Value| value.as_object().unwrap().clone();
    let check = |config: Value, script: Value, environment: Value, flags: Value, expected: &str| {
        let tiers = Tiers {
            config_file: tier(config),
            script: tier(script),
            environment: tier(environment),
            flags: tier(flags),
        };
        let Consolidated { options, notices } = consolidate(tiers).unwrap();
        let executors = options.scenarios.iter().map(|it| format!("{}: {:?}", it.name, it.executor));
        assert_eq!(executors.chain(notices).collect::<Vec<_>>().join("\n"), expected);
    };
    let none = || json!({});
    let scenarios = || json!({"scenarios": {"a": {"executor": "constant-vus", "duration": "1s"}}});
    check(
        none(),
        json!({"vus": 5, "duration": "1s"}),
        none(),
        json!({"iterations": 9}),
        "default: SharedIterations { vus: 5, iterations: 9, max_duration: 600s }",
    );
    check(
        json!({"vus": 1}),
        json!({"vus": 2}),
        json!({"vus": 3}),
        json!({"vus": 4, "duration": "2s"}),
        "default: ConstantVus { vus: 4, duration: 2s }",
    );
    check(
        json!({"duration": "9s"}),
        none(),
        json!({"vus": 3}),
        none(),
        "default: ConstantVus { vus: 3, duration: 9s }",
    );
    check(
        none(),
        scenarios(),
        none(),
        json!({"duration": "2s"}),
        "default: ConstantVus { vus: 1, duration: 2s }\nthe command line replaces the scenarios altogether",
    );
    check(
        json!({"stages": [{"duration": "1s", "target": 1}]}),
        scenarios(),
        none(),
        none(),
        "a: ConstantVus { vus: 1, duration: 1s }",
    );
    check(
        none(),
        json!({"scenarios": {"a": {"executor": "constant-vus"}}}),
        json!({"iterations": 2}),
        none(),
        "default: SharedIterations { vus: 1, iterations: 2, max_duration: 600s }\nthe environment replaces the scenarios altogether",
    );
    let tiers = Tiers {
        script: tier(
            json!({"tags": {"a": "1"}, "dns": {"ttl": "1s", "select": "first"}, "thresholds": {"m": ["x"]}, "systemTags": ["url"]}),
        ),
        environment: tier(json!({"tags": {}, "dns": {"ttl": "inf"}, "systemTags": []})),
        ..Tiers::default()
    };
    let options = consolidate(tiers).unwrap().options;
    assert_eq!(options.tags, [("a".into(), "1".into())]);
    assert_eq!(options.dns, Dns { ttl: None, select: DnsSelect::First, policy: DnsPolicy::PreferIpv4 });
    assert_eq!((options.thresholds.len(), options.system_tags.len()), (1, 0));
}

#[test]
fn what_k6_only_warns_of_is_a_notice() {
    let notices = |options: Value| script(options).unwrap().notices;
    assert_eq!(
        notices(json!({"foo": 1, "vu": 2, "out": "json"})),
        [
            "options.foo: is unknown and ignored",
            "options.vu: is unknown and ignored, did you mean `vus`?",
            "options.out: is unknown and ignored"
        ]
    );
    assert_eq!(
        notices(json!({"sonagi": {"keepConnections": true, "x": 1}})),
        [
            "options.sonagi: `x` is unknown and ignored, known are keepConnections, stackSize, memoryLimit, busyLimit, delivery, watch, launch, matrix, repeat, compare"
        ]
    );
    assert_eq!(
        notices(json!({"hosts": {"a.b": "foo"}})),
        ["options.hosts: \"a.b\" leads to \"foo\", which is no address: left out"]
    );
    assert_eq!(notices(json!({"systemTags": ["url", "x"]})).len(), 1);
    assert_eq!(notices(json!({"paused": true})).len(), 1);
}

#[test]
fn options_of_sonagi_are_read() {
    let options = json!({"sonagi": {"keepConnections": true, "stackSize": "256KiB", "memoryLimit": 2097152, "busyLimit": "5s",
        "delivery": {"deadline": "2s", "settle": 50, "echo": false, "drain": "1s"}, "watch": "port:1",
        "launch": {"command": "x"}}});
    let expected = Sonagi {
        keep_connections: true,
        stack_size: Some(256 << 10),
        memory_limit: Some(2 << 20),
        busy_limit: Some(Duration::from_secs(5)),
        delivery: Rules { deadline_ns: 2_000_000_000, settle_ns: 50_000_000, echo: false },
        drain: Some(Duration::from_secs(1)),
        watch: vec!["port:1".to_owned()],
        several: Several::default(),
        launch: Some(json!({"command": "x"})),
    };
    assert_eq!(script(options).unwrap().options.sonagi, expected);
    assert_eq!(script(json!({"sonagi": {}})).unwrap().options.sonagi.delivery, Rules::default());
    let deep = said(json!({"sonagi": {"delivery": {"settle": "soon"}}}));
    assert!(deep.starts_with("options.sonagi.delivery.settle"), "{deep}");
    assert_eq!(
        said(json!({"sonagi": {"stackSize": "48KiB"}})),
        "options.sonagi.stackSize: must be from 131072 to 1073741824 bytes, is \"48KiB\""
    );
    assert_eq!(
        said(json!({"sonagi": {"stackSize": "x"}})),
        "options.sonagi.stackSize: must be a number of bytes, or a text as \"256KiB\", is \"x\""
    );
}

#[test]
fn what_nobody_said_is_k6s_default() {
    let options = script(json!({})).unwrap().options;
    let seconds = [options.setup_timeout, options.teardown_timeout, options.handle_summary_timeout]
        .map(|it| it.as_secs());
    assert_eq!(seconds, [60, 60, 120]);
    assert_eq!(
        (options.max_redirects, options.batch, options.batch_per_host, options.rps),
        (10, 20, 6, None)
    );
    assert_eq!(options.summary_trend_stats, ["avg", "min", "med", "max", "p(90)", "p(95)"]);
    assert_eq!(options.system_tags.len(), 14);
    let dns =
        Dns { ttl: Some(Duration::from_secs(300)), select: DnsSelect::Random, policy: DnsPolicy::PreferIpv4 };
    assert_eq!(options.dns, dns);
}
