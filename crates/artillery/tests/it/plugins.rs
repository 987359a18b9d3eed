//! Plugins of Artillery: what of them is built in, and what is said of the others.

use crate::support::{load_text, notices};
use sonagi_artillery::plan::{Endpoint, Naming, Step, Told};
use sonagi_measure::plugins::Plugins;

fn script(config: &str) -> String {
    format!(
        "config:\n  target: http://t:80\n  phases: [{{duration: 1, arrivalRate: 1}}]\n{config}scenarios:\n  - name: all things\n    flow:\n\
         \x20     - get: {{url: \"/x/{{{{ $uuid }}}}?q=1\", name: find}}\n      - think: 1\n      - post: {{url: /y}}\n      - get: {{url: /y}}\n"
    )
}

fn asked(config: &str) -> (Plugins, Vec<String>) {
    let loaded = load_text(&script(config)).unwrap_or_else(|problems| panic!("{problems}"));
    let said = notices(&loaded);
    (loaded.plan.plugins, said)
}

fn endpoints(plugins: &Plugins) -> Vec<&str> {
    plugins.endpoints.iter().flatten().map(String::as_str).collect()
}

#[test]
fn metrics_by_endpoint_are_always_there_and_printed_when_the_script_asks() {
    let (plugins, said) = asked("");
    assert_eq!(endpoints(&plugins), ["/x/{{ $uuid }} (find)", "/y", "/y"]);
    assert_eq!(plugins.hidden, ["plugins.metrics-by-endpoint"]);
    assert_eq!((plugins.apdex_ms, said), (None, vec![]));
    let (plugins, said) = asked("  plugins: {metrics-by-endpoint: {}}\n");
    assert_eq!(endpoints(&plugins), ["/x/{{ $uuid }}?q=1 (find)", "/y", "/y"]);
    assert_eq!((plugins.hidden, said), (vec![], vec![]));
}

#[test]
fn the_options_of_metrics_by_endpoint_are_those_of_artillerys() {
    let (plugins, said) = asked(
        "  plugins: {metrics-by-endpoint: {useOnlyRequestNames: true, ignoreUnnamedRequests: true, metricsNamespace: by, \
         suppressOutput: true, groupDynamicURLs: true}}\n",
    );
    assert_eq!(endpoints(&plugins), ["find"]);
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(
        (plugins.endpoint_prefix.as_str(), plugins.hidden),
        ("by", vec!["plugins.metrics-by-endpoint".into()])
    );
}

#[test]
fn requests_that_are_different_endpoints_are_counted_apart_when_the_script_asks_for_endpoints() {
    let flow = "scenarios:\n  - flow:\n      - get: {url: \"/tasks?status=pending\"}\n      - get: {url: \"/tasks?status=done\"}\n\
                \x20     - get: {url: \"/tasks?status=done\"}\n      - get: {url: /a, name: all}\n      - get: {url: /b, name: all}\n";
    let of = |config: &str| {
        let config =
            format!("config:\n  target: http://t:80\n  phases: [{{duration: 1, arrivalRate: 1}}]\n{config}");
        let plan = load_text(&format!("{config}{flow}")).unwrap_or_else(|problems| panic!("{problems}")).plan;
        let names: Vec<String> = plan.operations.iter().map(|operation| operation.name.clone()).collect();
        (names, endpoints(&plan.plugins).join(", "))
    };
    let (names, endpoints) = of("  plugins: {metrics-by-endpoint: {}}\n");
    assert_eq!(names, ["GET /tasks", "GET /tasks?status=done", "all", "GET /b (all)"]);
    assert_eq!(endpoints, "/tasks?status=pending, /tasks?status=done, /a (all), /b (all)");
    let (names, endpoints) =
        of("  plugins: {metrics-by-endpoint: {stripQueryString: true, useOnlyRequestNames: true}}\n");
    assert_eq!(
        (names.as_slice(), endpoints.as_str()),
        (&["GET /tasks".to_owned(), "all".to_owned()][..], "/tasks, all")
    );
    assert_eq!(of("").0, ["GET /tasks", "all"], "whoever does not ask has one row for a name");
}

/// The endpoint metrics of each request of the script.
fn told(config: &str) -> (Vec<Option<Told>>, Vec<String>) {
    let loaded = load_text(&script(config)).unwrap_or_else(|problems| panic!("{problems}"));
    let said = notices(&loaded);
    let told = |step: &Step| match step {
        Step::Http(step) => Some(step.told.as_deref().cloned()),
        _ => None,
    };
    (loaded.plan.scenarios[0].flow.iter().filter_map(told).collect(), said)
}

#[test]
fn what_a_target_says_of_its_time_is_told_when_the_script_names_metrics_by_endpoint() {
    assert!(told("").0.iter().all(Option::is_none), "nobody pays for what nobody asks for");
    let (all, _) = told("  plugins: {metrics-by-endpoint: {ignoreUnnamedRequests: true}}\n");
    let [Some(Told { prefix, endpoint: Endpoint::Written(name) }), None, None] = all.as_slice() else {
        panic!("{all:?}")
    };
    assert_eq!(
        (prefix.as_str(), name.as_str()),
        ("plugins.metrics-by-endpoint", "/x/{{ $uuid }}?q=1 (find)")
    );
}

#[test]
fn endpoints_may_go_by_the_address_that_was_asked_for() {
    let asked = "  plugins: {metrics-by-endpoint: {metricsNamespace: by, groupDynamicURLs: false}}\n";
    let (all, said) = told(asked);
    let named = |told: &Option<Told>| match told {
        Some(Told { prefix, endpoint: Endpoint::Asked { naming, name } }) => {
            assert_eq!((prefix.as_str(), *naming), ("by", Naming::default()));
            name.clone()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(all.iter().map(named).collect::<Vec<_>>(), [Some("find".to_owned()), None, None]);
    assert_eq!(
        said,
        [
            "4:57: groupDynamicURLs: false is a metric for each address that is asked for; of more than 10000 names in all the later ones are left out"
        ]
    );
    let loaded = load_text(&script(asked)).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(loaded.plan.http.by_address);
    assert_eq!(endpoints(&loaded.plan.plugins), Vec::<&str>::new(), "they are told as they come");
}

#[test]
fn extended_metrics_are_told_when_the_script_asks_for_them() {
    assert!(!asked("").0.extended);
    assert!(!asked("  http: {extendedMetrics: false}\n").0.extended);
    let (plugins, said) = asked("  http: {extendedMetrics: true}\n");
    assert_eq!((plugins.extended, said), (true, vec![]));
}

#[test]
fn an_apdex_threshold_stands_in_config_or_with_the_plugin() {
    for (config, threshold) in [
        ("  plugins: {apdex: {}}\n", 500.0),
        ("  plugins: {apdex: {threshold: 200}}\n", 200.0),
        ("  apdex: {threshold: 100}\n", 100.0),
        ("  plugins: {apdex: {threshold: 200}}\n  apdex: {threshold: 100}\n", 100.0),
        ("  plugins: {apdex:}\n", 500.0),
    ] {
        assert_eq!(asked(config).0.apdex_ms, Some(threshold), "{config}");
    }
}

#[test]
fn what_does_not_run_here_is_told_once_and_stops_nothing() {
    let nothing_sent = "publish-metrics: no effect; nothing is sent while the run goes on; `-o report.json` writes what Artillery's report has, the run folder every second of it";
    for form in [
        "[{reportFile: ./report.html}]",
        "[{type: datadog, apiKey: x}, {type: statsd}]",
        "{type: prometheus}",
    ] {
        let (_, said) = asked(&format!("  plugins: {{publish-metrics: {form}}}\n"));
        assert_eq!(said, [format!("4:13: {nothing_sent}")], "{form}");
    }
    let (_, said) = asked("  plugins: {kafka: {a: 1}, ensure: {}}\n");
    assert_eq!(said, ["4:13: the plugin kafka: no effect; plugins other than Artillery's own are not run"]);
}

#[test]
fn a_condition_may_name_metrics_as_artillerys_do_without_quotes() {
    let script = script(
        "  ensure:\n    conditions:\n      - expression: plugins.metrics-by-endpoint.response_time./y.p95 < 100 and errors.Failed capture or match == 0\n\
         \x20     - vusers.created_by_name.all things > 0\n    p95: 250\n    maxErrorRate: 1\n",
    );
    let plan = load_text(&script).unwrap_or_else(|problems| panic!("{problems}")).plan;
    let expressions: Vec<_> = plan.thresholds.iter().map(|threshold| threshold.expression()).collect();
    assert_eq!(
        expressions,
        [
            "'plugins.metrics-by-endpoint.response_time./y.p95' < 100 and 'errors.Failed capture or match' == 0",
            "'vusers.created_by_name.all things' > 0",
            "http.response_time.p95 < 250",
            "vusers.failed * 100 <= 1 * vusers.created",
        ]
    );
}
