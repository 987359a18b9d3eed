//! Plugins of Artillery: what of them is built in, and what is said of the others.

use crate::support::{load_text, notices};
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
         suppressOutput: true, groupDynamicURLs: false}}\n",
    );
    assert_eq!(endpoints(&plugins), ["find"]);
    assert_eq!(
        (plugins.endpoint_prefix.as_str(), plugins.hidden),
        ("by", vec!["plugins.metrics-by-endpoint".into()])
    );
    assert_eq!(
        said,
        [
            "4:135: groupDynamicURLs: false has no effect; an endpoint is the path as the script has it, so that their number is limited"
        ]
    );
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
    let expressions: Vec<_> = plan.thresholds.iter().map(|threshold| threshold.expression.as_str()).collect();
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
