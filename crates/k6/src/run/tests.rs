//! Whole tests, from the script to the exit code.

mod outputs;

use super::*;
use crate::executor::Reason;
use sonagi_measure::recorder::Counter;
use sonagi_measure::summary::{Conclusion, Summary as RunSummary, Verdict};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

/// How a test ended, and what was said meanwhile: each line's level, first line and fields.
struct Seen {
    ended: Ended,
    lines: Vec<String>,
}

fn run(script: &str) -> Seen {
    run_until(script, None)
}

/// A script by itself: no flags, no environment.
fn asked(script: &str) -> Asked {
    Asked {
        script: Path::new("/test/script.js").to_owned(),
        source: script.as_bytes().to_vec(),
        environment: Vec::new(),
        tiers: Tiers::default(),
        shards: 1,
        no_thresholds: false,
        full_summary: false,
        no_summary: false,
        without_global: false,
        terminal: [true, false, false],
        secrets: Arc::default(),
        outputs: Vec::new(),
        standard_output: || Box::new(std::io::sink()),
        watch: Watching::by(|_| Ok(None)),
        launch: |_| Vec::new(),
    }
}

/// [`run`], asked to end by a signal when it says this line.
fn run_until(script: &str, last_line: Option<&str>) -> Seen {
    run_asked(asked(script), last_line)
}

fn run_asked(asked: Asked, last_line: Option<&str>) -> Seen {
    let mut lines = Vec::new();
    let abort = Arc::new(Abort::default());
    let mut on = |event: RunEvent<'_>| {
        if let RunEvent::Line(line) = event {
            if last_line == Some(line.text.as_str()) {
                abort.ask(Reason::Signal);
            }
            let fields: String = line.fields.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            let first = line.text.lines().next().unwrap_or_default();
            lines.push(format!("{:?}: {first}{}", line.level, fields.replace(" source=console", "")));
        }
    };
    let ended = match load(asked, &abort, &mut on) {
        Ok(test) => test.run(&abort, &mut on),
        Err(ended) => ended,
    };
    Seen { ended, lines }
}

/// The summary in the record of a test.
fn recorded(script: &str) -> RunSummary {
    let mut summary = None;
    let mut on = |event: RunEvent<'_>| {
        if let RunEvent::Ended(ended) = event {
            summary = Some(ended.clone());
        }
    };
    let abort = Arc::new(Abort::default());
    load(asked(script), &abort, &mut on)
        .unwrap_or_else(|_| panic!("a script that loads"))
        .run(&abort, &mut on);
    summary.unwrap()
}

/// The summary of a second with ten arrivals, the first of which computes for so long on the only thread. It does so in
/// few calls: a script that takes many steps gives others a turn in between.
fn busy(ms: u32) -> RunSummary {
    recorded(&format!(
        "import exec from 'k6/execution';
         const a = {{ executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 20 }};
         export const options = {{ scenarios: {{ a }}, thresholds: {{ http_req_duration: ['p(95)<200', 'avg<1e9'] }} }};
         export default () => {{
           if (exec.scenario.iterationInTest) return;
           for (const from = Date.now(); Date.now() - from < {ms};) 'x'.repeat(1 << 21).toUpperCase();
         }};"
    ))
}

#[test]
fn a_generator_later_than_a_tenth_of_what_a_threshold_allows_makes_a_test_invalid() {
    let summary = busy(400);
    let limit = "(limit: 10 % of the 200 ms objective)";
    assert!(summary.generator.findings[0].contains(limit), "{:?}", summary.generator.findings);
    assert_eq!(summary.verdict.result, Conclusion::Invalid);
}

#[test]
fn arrivals_that_a_late_generator_drops_are_missed_and_not_skipped() {
    let users = busy(1500).users;
    assert!(users.missed > 0, "{users:?}");
    assert_eq!((users.started + users.missed, users.skipped), (users.planned, 0));
}

#[test]
fn a_test_records_its_operations_and_metrics_whether_or_not_a_folder_is_wanted() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let script = format!(
        "import http from 'k6/http'; import {{ Rate, Trend }} from 'k6/metrics';
         const share = new Rate('share'), depth = new Trend('depth');
         export default () => {{ http.get('http://{closed}/'); share.add(1); depth.add(-2.5); depth.add(0); }};"
    );
    let summary = recorded(&script);
    let operation = &summary.operations[0];
    assert_eq!((&*operation.name, operation.count, operation.failed), ("http", 1, 1));
    assert_eq!((summary.traffic[Counter::HttpRequests], summary.traffic[Counter::HttpResponses]), (1, 0));
    assert_eq!((&*summary.errors[0].code, summary.errors[0].count), ("connect_refused", 1));
    assert!(summary.errors[0].example.contains("refused"), "{:?}", summary.errors[0]);
    let depth = summary.metrics["depth"].values.as_ref().unwrap();
    assert_eq!((depth.count, depth.min, depth.max, depth.mean), (2, -2.5, 0.0, -1.25));
    assert_eq!(summary.metrics["share"].ratio, Some(1.0));
    assert_eq!(summary.metrics["http_reqs"].sum, Some(1.0));
}

/// How a test ended, and the verdict in its record with the reasons; a signal comes when it says `signal`.
fn judged(script: &str) -> (Exit, Conclusion, Vec<String>) {
    let abort = Arc::new(Abort::default());
    let mut verdict = None;
    let mut on = |event: RunEvent<'_>| match event {
        RunEvent::Line(line) if line.text == "signal" => abort.ask(Reason::Signal),
        RunEvent::Ended(ended) => verdict = Some(ended.verdict.clone()),
        _ => {}
    };
    let test = load(asked(script), &abort, &mut on).unwrap_or_else(|_| panic!("a script that loads"));
    let exit = test.run(&abort, &mut on).exit;
    let Verdict { result, reasons, .. } = verdict.unwrap();
    (exit, result, reasons)
}

#[test]
fn the_verdict_of_a_tests_record_is_what_its_exit_code_says() {
    let nobody_ends = "export const options = { vus: 1, duration: '1s', gracefulStop: '0s' };
         export default () => sleep(60);";
    let table = [
        (Exit::Passed, "1 iteration completed", "export default () => {};"),
        (Exit::Passed, "1 iteration completed", "export default () => { throw new Error('it ends this iteration alone'); };"),
        (Exit::Passed, "1 iteration was stopped in mid-flow, 0 failed", nobody_ends),
        (
            Exit::ThresholdsCrossed,
            "the threshold `iterations: count>1` failed: count = 1",
            "export const options = { thresholds: { iterations: ['count>1'] } }; export default () => {};",
        ),
        (
            Exit::ThresholdsCrossed,
            "thresholds on metrics 'checks' were crossed; at least one has abortOnFail enabled, stopping test prematurely",
            "export const options = { thresholds: { checks: [{ threshold: 'rate>=0.5', abortOnFail: true }] } };
             export default () => { check(1, { no: () => false }); sleep(60); };
             export const teardown = () => check(1, { yes: () => true });",
        ),
        (
            Exit::SetupTimeout,
            "setup() took longer than setupTimeout",
            "export const options = { setupTimeout: '1s' }; export const setup = () => sleep(60); export default () => {};",
        ),
        (
            Exit::TeardownTimeout,
            "teardown() took longer than teardownTimeout",
            "export const options = { teardownTimeout: '1s' }; export const teardown = () => sleep(60); export default () => {};",
        ),
        (
            Exit::Exception,
            "the script threw in its init code, setup() or teardown()",
            "export const teardown = () => { throw new Error('at last'); }; export default () => {};",
        ),
        (
            Exit::Other,
            "the test could not be carried out: its log says why",
            "export const setup = async () => { throw new Error('at first'); }; export default () => {};",
        ),
        (Exit::Failed, "the script called exec.test.fail()", "export default () => exec.test.fail();"),
        (Exit::Aborted, "stopped after ", "export default () => exec.test.abort();"),
        (Exit::Interrupted, "stopped after ", "export default () => { console.log('signal'); sleep(60); };"),
        (
            Exit::Interrupted,
            "stopped after ",
            "export const teardown = () => { console.log('signal'); sleep(0.3); }; export default () => {};",
        ),
    ];
    for (exit, reason, script) in table {
        let imports = "import { check, sleep } from 'k6'; import exec from 'k6/execution';";
        let (ended, verdict, reasons) = judged(&format!("{imports} {script}"));
        assert_eq!((ended, Some(verdict)), (exit, exit.conclusion()), "{script}: {reasons:?}");
        assert!(reasons[0].starts_with(reason), "{script}: {reasons:?}");
    }
}

#[test]
fn the_first_signal_ends_init_code_whatever_it_does() {
    let endless = [
        "for (;;) {}",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "await new Promise((done) => setTimeout(done, 1e9))",
    ];
    for endless in endless {
        let script = format!("console.log('begun'); {endless}; export default () => {{}};");
        let Seen { ended, lines } = run_until(&script, Some("begun"));
        assert_eq!(lines, ["Info: begun"], "{endless}");
        assert_eq!(ended.exit, Exit::Interrupted, "{endless}");
        assert_eq!(ended.why.as_deref(), Some("the test was interrupted before it began"), "{endless}");
    }
}

/// Where an exception comes from, as the log has it.
const ITERATION: &str =
    " executor=shared-iterations hint=script exception scenario=default source=stacktrace";
const ONCE: &str = " hint=script exception source=stacktrace";

/// The log line of an exception, the exit code, and whether there is a summary: as k6 2.2 has them, whose own the
/// scripts of `differential/k6/scripts/throws` show.
#[test]
fn what_throws_ends_what_it_ends_in_k6() {
    let iterates = "export default () => { console.log('iterates'); };";
    let table = [
        ("throw new Error('init');", Exit::Exception, vec![format!("Error: Error: init{ONCE}")]),
        (
            "Promise.reject(new Error('init'));",
            Exit::Other,
            vec!["Error: could not load JS test 'file:///test/script.js': Uncaught (in promise) Error: init".into()],
        ),
        (
            "if (__VU === 1) throw new Error('one');",
            Exit::Exception,
            vec!["Error: Error: one hint=error while initializing VU #1 (script exception) source=stacktrace".into()],
        ),
        (
            "export function setup() { throw new Error('setup'); } export function teardown() { console.log('never'); }",
            Exit::Exception,
            vec![format!("Error: Error: setup{ONCE}")],
        ),
        (
            "export async function setup() { throw new Error('setup'); }",
            Exit::Other,
            vec!["Error: Uncaught (in promise) Error: setup".into()],
        ),
        (
            "export function setup() { return { fine: 1, odd: () => 1 }; }",
            Exit::Other,
            vec!["Error: error marshaling setup() data to JSON: a function is no data".into()],
        ),
        (
            "export function teardown() { throw new Error('teardown'); }",
            Exit::Exception,
            vec!["Info: iterates".into(), format!("Error: Error: teardown{ONCE}")],
        ),
        (
            "export function handleSummary() { throw new Error('summary'); }",
            Exit::Passed,
            vec!["Info: iterates".into(), format!("Error: Error: summary{ONCE}")],
        ),
        (
            "export function handleSummary() { return { 'a.txt': 7 }; }",
            Exit::Passed,
            vec![
                "Info: iterates".into(),
                "Error: failed to handle the end-of-test summary error=error handling summary object a.txt: invalid type int, it needs to be a string or ArrayBuffer".into(),
            ],
        ),
    ];
    for (script, exit, lines) in table {
        let seen = run(&format!("export const options = {{ iterations: 1 }};\n{script}\n{iterates}"));
        assert_eq!((seen.ended.exit, seen.lines), (exit, lines), "{script}");
        let has_begun = !script.contains("init") && !script.contains("one");
        assert_eq!(!matches!(seen.ended.end, End::Nothing), has_begun, "{script}");
    }
}

#[test]
fn what_throws_in_an_iteration_ends_that_iteration_as_in_k6() {
    let stopped = |timer: &str| format!("Warn: {timer} was stopped because the VU iteration was interrupted");
    let table = [
        ("throw new Error('plain');", vec![format!("Error: Error: plain{ITERATION}")]),
        (
            "setTimeout(() => { throw new Error('timer'); }, 1); setTimeout(() => console.log('never'), 60000);",
            vec![stopped("setTimeout 2"), format!("Error: Error: timer{ITERATION}")],
        ),
        (
            "setInterval(() => { throw 'tick'; }, 1);",
            vec![stopped("setInterval 1"), format!("Error: tick{ITERATION}")],
        ),
        (
            "Promise.reject(new Error('promise')); console.log('goes on');",
            vec![
                "Info: goes on".into(),
                "Error: Uncaught (in promise) Error: promise executor=shared-iterations scenario=default"
                    .into(),
            ],
        ),
        (
            "new WebSocket('ws://127.0.0.1:1/').onerror = () => { throw new Error('handler'); };",
            vec![format!("Error: Error: handler{ITERATION}")],
        ),
        (
            "ws.connect('ws://127.0.0.1:1/', () => { throw new Error('callback'); }); console.log('refused');",
            vec!["Info: refused".into()],
        ),
    ];
    for (body, lines) in table {
        let seen = run(&format!(
            "import ws from 'k6/ws'; import {{ WebSocket }} from 'k6/websockets';
             export const options = {{ iterations: 2 }};
             export default () => {{ if (__ITER === 1) return console.log('the next one'); {body} }};"
        ));
        let lines: Vec<String> = lines.into_iter().chain(["Info: the next one".to_owned()]).collect();
        assert_eq!((seen.ended.exit, seen.lines), (Exit::Passed, lines), "{body}");
        let End::Summary(summary) = seen.ended.end else { panic!("{body}") };
        assert_eq!(summary.data()["metrics"]["iterations"]["values"]["count"], 2, "{body}");
    }
}

#[test]
fn what_setup_returns_reaches_users_as_in_k6() {
    let seen = run(
        "export const options = { iterations: 1 };
         export function setup() {
           return [new Date(1234567890120), new Uint8Array([1, 2]), new Map([['a', new Set([1])]]), { gone: undefined }, [, 1n],
             new Float32Array([0.5]), new ArrayBuffer(1), new Number(7), -0, '\\ud800', Symbol('it')];
         }
         export default (data) => console.log(JSON.stringify(data));",
    );
    let told = r#"Info: ["2009-02-13T23:31:30.12Z","AQI=",[["a",[1]]],{"gone":null},[null,1],[0.5],{},7,0,"\u{fffd}","it"]"#;
    assert_eq!(seen.lines, [told.replace("\\u{fffd}", "\u{fffd}")]);
}

#[test]
fn a_scenarios_environment_is_that_of_its_iterations() {
    let seen = run(
        "const scenario = (env, more) => ({ executor: 'per-vu-iterations', env, ...more });
         export const options = { scenarios: { a: scenario({ WHO: 'a' }), b: scenario(undefined, { startTime: '200ms', maxDuration: '1s' }) } };
         export default () => console.log(__ENV.WHO);",
    );
    assert_eq!(seen.lines, ["Info: a", "Info: undefined"]);
}

/// For the same script k6 says: 0.43 a second and exit code 99, where scenarios alone would make 3.3.
#[test]
fn rates_and_the_tests_duration_count_setup_and_teardown_as_in_k6() {
    let seen = run("import { sleep } from 'k6'; import exec from 'k6/execution';
         export const options = { iterations: 1, thresholds: { iterations: ['rate>2'] } };
         export const setup = () => sleep(0.4);
         export default () => console.log(exec.instance.currentTestRunDuration >= 400);
         export const teardown = () => sleep(0.3);");
    assert_eq!(seen.ended.exit, Exit::ThresholdsCrossed);
    assert_eq!(seen.lines, ["Info: true", "Error: thresholds on metrics 'iterations' have been crossed"]);
    let End::Summary(summary) = seen.ended.end else { panic!("there is a summary") };
    let data = summary.data();
    let ms = data["state"]["testRunDurationMs"].as_f64().unwrap();
    let rate = data["metrics"]["iterations"]["values"]["rate"].as_f64().unwrap();
    assert!(ms >= 700.0 && (rate - 1e3 / ms).abs() < 1e-9, "{rate} in {ms}");
    let tenths = seen.ended.bars[0].strip_prefix("running (").and_then(|rest| rest.split('s').next());
    let told = tenths.and_then(|text| text.split('m').next_back()?.parse::<f64>().ok());
    assert_eq!(told, Some((ms / 100.0).floor() / 10.0), "{:?}", seen.ended.bars);
}

#[test]
fn a_threshold_that_setup_crosses_ends_the_test_and_the_line_names_its_metric() {
    let seen = run(
        "import { check, sleep } from 'k6';
         export const options = { iterations: 1, thresholds: { checks: [{ threshold: 'rate==1', abortOnFail: true }], iterations: ['count>9'] } };
         export const setup = () => { check(1, { no: () => false }); sleep(60); };
         export default () => console.log('never');",
    );
    let line = "Error: thresholds on metrics 'checks' were crossed; at least one has abortOnFail enabled, stopping test prematurely";
    assert_eq!((seen.ended.exit, seen.lines), (Exit::ThresholdsCrossed, vec![line.to_owned()]));
}

#[test]
fn a_refused_connection_names_the_address_that_was_called() {
    let seen = run("import http from 'k6/http'; import ws from 'k6/ws';
         export const options = { iterations: 1, hosts: { 'some.name': '127.0.0.1:1' } };
         export default () => { http.get('http://Some.Name/'); };");
    let line = "Warn: Request Failed error=Get \"http://Some.Name/\": dial tcp 127.0.0.1:1: connect: connection refused";
    assert_eq!(seen.lines, [line]);
}

#[test]
fn a_promise_that_nothing_settles_ends_init_code_and_setup() {
    let unsettled = "await new Promise(() => {});";
    let rule = "awaits a promise, and nothing is left that could settle it";
    for (script, line) in [
        (
            format!("{unsettled} export default () => {{}};"),
            "could not load JS test 'file:///test/script.js': the script awaits a promise at its top level, and nothing is left that could settle it".to_owned(),
        ),
        (
            format!("import {{ sleep }} from 'k6'; if (__VU === 1) {unsettled} export default () => {{}};"),
            "the script awaits a promise at its top level, and nothing is left that could settle it".to_owned(),
        ),
        (
            format!("export const setup = async () => {{ {unsettled} }}; export default () => console.log('never');"),
            format!("setup() {rule}"),
        ),
    ] {
        let seen = run(&script);
        assert_eq!((seen.ended.exit, seen.lines), (Exit::Other, vec![format!("Error: {line}")]), "{script}");
    }
}

/// No address of this machine is one of TEST-NET-1 (RFC 5737), so there is no port of it either.
#[test]
fn a_generator_without_ports_says_that_its_figures_are_worth_nothing() {
    let seen = run("import http from 'k6/http';
         export const options = { iterations: 1, localIPs: '192.0.2.1' };
         export default () => { http.get('http://127.0.0.1:1/'); };");
    let End::Summary(summary) = seen.ended.end else { panic!("there is a summary") };
    let text = summary.text(false);
    assert!(text.contains("GENERATOR"), "{text}");
}

#[test]
fn a_generator_without_ports_in_setup_or_teardown_says_so_too() {
    for once in ["setup = ask", "teardown = ask", "setup = () => { ask(); throw new Error('no answer'); }"] {
        let seen = run(&format!(
            "import http from 'k6/http';
             export const options = {{ iterations: 1, localIPs: '192.0.2.1' }};
             const ask = () => {{ http.get('http://127.0.0.1:1/'); }};
             export const {once};
             export default () => {{}};"
        ));
        let End::Summary(summary) = seen.ended.end else { panic!("there is a summary") };
        let text = summary.text(false);
        assert!(text.contains("GENERATOR"), "{once}: {text}");
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_told_as_in_k6() {
    for (path, told) in [
        ("missing.txt", "stat /test/missing.txt: no such file or directory"),
        ("/", "open() can't be used with directories, path: \"/\""),
        ("", "open() can't be used with an empty filename"),
    ] {
        let seen = run(&format!("open('{path}'); export default () => {{}};"));
        assert_eq!(
            (seen.ended.exit, seen.lines),
            (Exit::Exception, vec![format!("Error: GoError: {told}{ONCE}")])
        );
    }
}
