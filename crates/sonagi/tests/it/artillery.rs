//! Command lines of Artillery: its report, its flags, `quick`.

use crate::run::{HEALTH, complaints};
use crate::support::{Answer, Place, Running, Service};
use rustix::process::Signal;
use serde_json::{Value, json};

fn read(place: &Place, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(place.path().join(name)).unwrap()).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Asks for two things that are there and one that is not.
const MIXED: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 1, arrivalRate: 10 }]
  apdex: { threshold: 900 }
scenarios:
  - name: mixed
    flow:
      - get: { url: "/healthz?n={{ $uuid }}", name: well }
      - get: { url: /healthz }
      - get: { url: /nothing/here }
"#;

#[test]
fn a_report_has_artillerys_members_names_and_units_and_our_summary() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("mixed.yml", MIXED);
    let answer = place.sonagi(&["run", "mixed.yml", "-t", &service.url, "-o", "report.json", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("report      report.json\n"), "{}", answer.err);
    let report = read(&place, "report.json");
    assert_eq!(keys(&report), ["aggregate", "intermediate", "sonagi"]);
    let aggregate = &report["aggregate"];
    let mut members = keys(aggregate);
    members.sort_unstable();
    let expected = [
        "counters",
        "firstCounterAt",
        "firstHistogramAt",
        "firstMetricAt",
        "histograms",
        "lastCounterAt",
        "lastHistogramAt",
        "lastMetricAt",
        "period",
        "rates",
        "summaries",
    ];
    assert_eq!(members, expected);
    assert_eq!(
        aggregate["counters"],
        json!({
            "apdex.frustrated": 0,
            "apdex.satisfied": 30,
            "apdex.tolerated": 0,
            "http.codes.200": 20,
            "http.codes.404": 10,
            "http.downloaded_bytes": aggregate["counters"]["http.downloaded_bytes"],
            "http.requests": 30,
            "http.responses": 30,
            "plugins.metrics-by-endpoint./healthz (well).codes.200": 10,
            "plugins.metrics-by-endpoint./healthz.codes.200": 10,
            "plugins.metrics-by-endpoint./nothing/here.codes.404": 10,
            "vusers.completed": 10,
            "vusers.created": 10,
            "vusers.created_by_name.mixed": 10,
            "vusers.failed": 0,
        })
    );
    check_summaries(aggregate);
    check_times(&report);
    assert_eq!(report["sonagi"], answer.json());
    assert_eq!(complaints(&report["sonagi"]), Vec::<String>::new());
    check_again(&place, &report);
}

fn check_summaries(aggregate: &Value) {
    let summaries = &aggregate["summaries"];
    let counts: Vec<_> = keys(summaries).into_iter().map(|name| (name, &summaries[name]["count"])).collect();
    let (ten, twenty, thirty) = (&json!(10), &json!(20), &json!(30));
    assert_eq!(
        counts,
        [
            ("http.response_time", thirty),
            ("http.response_time.2xx", twenty),
            ("http.response_time.4xx", ten),
            ("plugins.metrics-by-endpoint.response_time./healthz", ten),
            ("plugins.metrics-by-endpoint.response_time./healthz (well)", ten),
            ("plugins.metrics-by-endpoint.response_time./nothing/here", ten),
            ("vusers.session_length", ten),
        ]
    );
    assert_eq!(
        keys(&summaries["http.response_time"]),
        ["min", "max", "count", "mean", "p50", "median", "p75", "p90", "p95", "p99", "p999"]
    );
    assert_eq!(aggregate["histograms"], *summaries);
    assert_eq!(keys(&aggregate["rates"]), ["http.request_rate"]);
}

/// Periods begin at tens of seconds of the clock and hold the run's start.
fn check_times(report: &Value) {
    let ms = |value: &Value| value.as_u64().unwrap();
    let aggregate = &report["aggregate"];
    let periods = report["intermediate"].as_array().unwrap();
    let begin = |period: &Value| period["period"].as_str().unwrap().parse::<u64>().unwrap();
    for period in periods {
        assert_eq!(begin(period) % 10_000, 0);
        assert!((begin(period)..begin(period) + 10_000).contains(&ms(&period["firstMetricAt"])), "{period}");
    }
    assert_eq!(ms(&aggregate["period"]), begin(periods.last().unwrap()));
    assert_eq!(ms(&aggregate["firstMetricAt"]), ms(&periods[0]["firstMetricAt"]));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    assert!(now.abs_diff(ms(&aggregate["lastMetricAt"])) < 60_000);
}

/// Checks that `sonagi report` writes the same report from the folder.
fn check_again(place: &Place, report: &Value) {
    let folder = place.folders().remove(0);
    let again =
        place.sonagi(&["report", folder.to_str().unwrap(), "-o", "again.json", "--summary", "artillery"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    let told = read(place, "again.json");
    for part in ["aggregate", "intermediate"] {
        assert_eq!(told[part], report[part], "{part}");
    }
    assert!(again.out.ends_with("\nApdex score: 1 (excellent)\n"), "{}", again.out);
    assert!(!again.out.contains("metrics-by-endpoint"), "{}", again.out);
    let from_file = place.sonagi(&["report", "report.json", "--json"]);
    assert_eq!((from_file.code, &from_file.json()), (Some(0), &report["sonagi"]), "{from_file:?}");
    place.write("theirs.json", r#"{"aggregate": {}}"#);
    let theirs = place.sonagi(&["report", "theirs.json"]);
    assert!(theirs.code == Some(4) && theirs.err.contains("no member `sonagi`"), "{theirs:?}");
    let seconds = place.sonagi(&["report", "again.json", "-o", "x.json"]);
    assert!(seconds.code == Some(4) && seconds.err.contains("has no seconds"), "{seconds:?}");
}

#[test]
fn how_long_connections_took_to_open_is_told_with_each_answer_when_the_script_asks() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("mixed.yml", &MIXED.replace("apdex: { threshold: 900 }", "http: { extendedMetrics: true }"));
    let answer = place.sonagi(&["run", "mixed.yml", "-t", &service.url, "-o", "report.json", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(complaints(&answer.json()), Vec::<String>::new());
    let aggregate = &read(&place, "report.json")["aggregate"];
    let summaries = &aggregate["summaries"];
    for name in ["http.dns", "http.tcp", "http.tls", "http.total"] {
        assert_eq!(summaries[name]["count"], 30, "{name}: {summaries}");
    }
    let most = |name: &str| summaries[name]["max"].as_f64().unwrap();
    assert!(most("http.tcp") > 0.002 && most("http.tls") == 0.0, "{summaries}");
    assert_eq!(summaries["http.total"], summaries["http.response_time"]);
    let folder = place.folders().remove(0);
    let again = place.sonagi(&["report", folder.to_str().unwrap(), "-o", "again.json"]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(read(&place, "again.json")["aggregate"], *aggregate);
}

/// A user who asks a room in a way whose acknowledgement cannot hold.
const OBJECTING: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 1, arrivalCount: 2 }]
  socketio: { transports: [websocket] }
scenarios:
  - engine: socketio-v3
    flow:
      - post:
          url: /auth/login
          json: { email: user1@example.test, password: password }
          capture: { json: $.access_token, as: token }
      - connect: { auth: { token: "{{ token }}" } }
      - emit: [joinRoom, { roomId: nowhere }]
        acknowledge: { WANTED }
"#;

#[test]
fn an_acknowledgement_that_will_not_do_has_artillerys_name() {
    let place = Place::new();
    let service = Service::start(&place, &["--seed-users", "1"]);
    for (wanted, name) in [
        ("match: { json: $.nothing, value: there }", "errors.Failed match"),
        ("data: { nothing: there }", "errors.data is not valid"),
        ("capture: { json: $.nothing, as: nothing }", "errors.Failed capture or match"),
    ] {
        place.write("objecting.yml", &OBJECTING.replace("WANTED", wanted));
        let arguments = ["run", "objecting.yml", "-t", &service.url, "-o", "out.json", "--no-folder"];
        let answer = place.sonagi(&arguments);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        let report = read(&place, "out.json");
        let counters = report["aggregate"]["counters"].as_object().unwrap();
        let errors: Vec<_> = counters.iter().filter(|(name, _)| name.starts_with("errors.")).collect();
        assert_eq!(errors, [(&name.to_owned(), &json!(2))], "{answer:?}");
        assert_eq!(counters["socketio.emit"], 2, "one name for Socket.IO, whatever the engine is called");
        assert_eq!(report["sonagi"]["errors"][0]["code"], "capture_or_match");
    }
}

#[test]
fn several_runs_are_a_list_of_reports_and_a_folder_gets_one_by_the_hour() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("one.yml", HEALTH);
    place.write("two.yml", HEALTH);
    std::fs::create_dir(place.path().join("out")).unwrap();
    let answer = place.sonagi(&["run", "one.yml", "two.yml", "-t", &service.url, "-o", "out", "--no-folder"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let names: Vec<_> =
        std::fs::read_dir(place.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    let name = name.to_str().unwrap();
    assert!(name.starts_with("artillery_report_2") && name.ends_with(".json"), "{name}");
    let reports = read(&place, &format!("out/{name}"));
    let named = |index: usize| reports[index]["sonagi"]["name"].clone();
    assert_eq!((reports.as_array().unwrap().len(), named(0), named(1)), (2, json!("one"), json!("two")));
}

#[test]
fn a_report_of_a_run_that_was_stopped_says_so() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("long.yml", &HEALTH.replace("duration: 1", "duration: 600"));
    let arguments = ["run", "long.yml", "-t", &service.url, "-o", "report.json"];
    let mut running = Running::start(place.command(&arguments));
    running.wait_for("0:01/");
    running.signal(Signal::INT);
    let answer = running.end();
    let report = read(&place, "report.json");
    assert_eq!(report["sonagi"]["interrupted"], true, "{answer:?}");
    let created = report["aggregate"]["counters"]["vusers.created"].as_u64().unwrap();
    assert!((1..6000).contains(&created), "{created}");
}

#[test]
fn a_failed_expectation_alone_ends_with_21_and_a_failed_threshold_beside_it_with_1() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let script = HEALTH.replace("url: /healthz", "url: /healthz, expect: { statusCode: 201 }");
    let ensured = |limit: u32| {
        let ensure = format!("config:\n  ensure: {{ thresholds: [{{ http.requests: {limit} }}] }}\n");
        script.replace("config:\n", &ensure)
    };
    for (script, code) in [(script.clone(), 21), (ensured(11), 21), (ensured(3), 1)] {
        place.write("expect.yml", &script);
        let arguments = ["run", "expect.yml", "-t", &service.url, "-o", "out.json", "--no-folder"];
        let answer = place.sonagi(&arguments);
        assert_eq!(answer.code, Some(code), "{answer:?}");
        let counters = &read(&place, "out.json")["aggregate"]["counters"];
        assert_eq!(counters["plugins.expect.failed.statusCode"], 10, "{counters}");
    }
}

const FLAGS: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 1, arrivalRate: 10 }]
  payload: { fields: [path] }
scenarios:
  - { name: rows, flow: [{ get: { url: "/{{ path }}" } }] }
  - { name: variables, flow: [{ get: { url: "/{{ $env.SONAGI_TEST_PATH }}" } }] }
"#;

/// Runs the script with these flags, and its summary.
fn flagged(place: &Place, service: &Service, flags: &[&str]) -> (Answer, Value) {
    let arguments =
        [&["run", "flags.yml", "-t", &service.url, "-o", "out.json", "--no-folder"], flags].concat();
    let answer = place.sonagi(&arguments);
    let report = if answer.code == Some(0) { read(place, "out.json") } else { Value::Null };
    (answer, report["sonagi"].clone())
}

#[test]
fn solo_scenario_name_payload_and_dotenv_are_as_artillerys() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("flags.yml", FLAGS);
    place.write("rows.csv", "healthz\n");
    place.write("dot.env", "# where\nexport SONAGI_TEST_PATH='healthz'\n!\n");
    let mut flags = vec!["-s", "--scenario-name", "^rows$", "-p", "rows.csv", "--dotenv", "dot.env"];
    let (answer, summary) = flagged(&place, &service, &flags);
    assert_eq!(
        (&summary["users"]["started"], &summary["http_codes"]),
        (&json!(1), &json!({ "200": 1 })),
        "{answer:?}"
    );
    assert_eq!(summary["scenarios"], json!({ "rows": 1 }));
    assert!(answer.err.contains("notice: dot.env:3: no variable; a line is NAME=value"), "{}", answer.err);
    (flags[2], flags[5]) = ("variables", "--env-file");
    let (answer, summary) = flagged(&place, &service, &flags);
    assert_eq!(summary["http_codes"], json!({ "200": 1 }), "{answer:?}");
    // Without the file, only who needs its variables has a problem.
    flags[6] = "no.env";
    let (answer, _) = flagged(&place, &service, &flags);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("notice: cannot read no.env"), "{}", answer.err);
    assert!(answer.err.contains("the environment variable SONAGI_TEST_PATH is not set"), "{}", answer.err);
    flags[2] = "rows";
    assert_eq!(flagged(&place, &service, &flags).0.code, Some(0));
}

#[test]
fn a_file_beside_the_script_called_env_is_read_only_when_asked_for() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("flags.yml", FLAGS);
    place.write("rows.csv", "healthz\n");
    place.write(".env", "SONAGI_TEST_PATH=healthz\n");
    let (answer, _) = flagged(&place, &service, &["-s", "-p", "rows.csv"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let (answer, _) = flagged(&place, &service, &["-s", "-p", "rows.csv", "--dotenv", ".env"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn further_files_are_merged_over_the_script_and_overrides_over_them() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("flags.yml", HEALTH);
    place.write("more.yml", "config: { phases: [{ arrivalCount: 3 }], variables: { a: 1 } }");
    place.write("config.yml", "config: { phases: [{ arrivalCount: 4 }], processor: ./at/p.js }");
    std::fs::create_dir(place.path().join("at")).unwrap();
    place.write("at/p.js", "exports.f = async () => {};");
    let overrides = r#"{"config": {"phases": [{"duration": 1, "arrivalCount": 2}]}}"#;
    let without_rate = r#"{"config": {"phases": [{"duration": 1, "arrivalCount": 5}]}}"#;
    let (answer, summary) =
        flagged(&place, &service, &["-c", "config.yml", "-i", "more.yml", "--overrides", overrides]);
    assert_eq!(summary["users"]["started"], 2, "{answer:?}");
    place.write("flags.yml", &HEALTH.replace(", arrivalRate: 10", ""));
    let (answer, summary) = flagged(&place, &service, &["-c", "config.yml", "-i", "more.yml"]);
    assert_eq!(summary["users"]["started"], 4, "the config's file is the last: {answer:?}");
    let (answer, summary) = flagged(&place, &service, &["-i", "more.yml", "--overrides", without_rate]);
    assert_eq!(summary["users"]["started"], 5, "{answer:?}");
}

#[test]
fn flags_that_mean_nothing_here_are_accepted_and_told_of() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("flags.yml", HEALTH);
    let given = [
        "--record",
        "--key",
        "secret-key",
        "--tags",
        "team:x",
        "--count",
        "4",
        "--platform",
        "local",
        "--solo",
    ];
    let (answer, _) = flagged(&place, &service, &given);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let notices: Vec<_> = answer.err.lines().filter(|line| line.starts_with("notice: ")).collect();
    assert_eq!(
        notices,
        [
            "notice: --record: no effect; nothing is sent to Artillery Cloud, results are in the run folder",
            "notice: --count: no effect; --shards sets the number of threads that generate load",
        ]
    );
    assert!(!answer.err.contains("secret-key"), "{}", answer.err);
    let (answer, _) = flagged(&place, &service, &["--platform", "aws:lambda"]);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.err.contains("--platform: load comes from this machine only; got `aws:lambda`"),
        "{}",
        answer.err
    );
}

#[test]
fn quick_sends_so_many_requests_of_so_many_users() {
    let place = Place::new();
    let service = Service::start(&place, &["--null"]);
    let url = format!("{}/a/path?q={{x}}", service.url);
    let answer =
        place.sonagi(&["quick", &url, "-c", "3", "-n", "2", "-o", "quick.json", "-q", "-k", "--no-folder"]);
    assert_eq!((answer.code, answer.out.as_str(), answer.err.as_str()), (Some(0), "", ""));
    let summary = &read(&place, "quick.json")["sonagi"];
    assert_eq!((&summary["users"]["completed"], &summary["http_codes"]), (&json!(3), &json!({ "200": 6 })));
    assert_eq!(summary["operations"][0]["name"], format!("GET {}/a/path", service.url));
    let alone = place.sonagi(&["quick", &url, "-n", "1", "--json", "--no-folder"]).json();
    assert_eq!((&alone["users"]["completed"], &alone["traffic"]["http_requests"]), (&json!(10), &json!(10)));
}

#[test]
fn quick_speaks_over_websockets_at_the_whole_address() {
    let place = Place::new();
    let service = Service::start(&place, &["--null"]);
    let url = service.url.replace("http://", "ws://") + "/ws/echo";
    let answer = place.sonagi(&["quick", &url, "-c", "2", "-n", "5", "--json", "--no-folder"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let traffic = &answer.json()["traffic"];
    assert_eq!((&traffic["connections_opened"], &traffic["websocket_sent"]), (&json!(2), &json!(10)));
}

#[test]
fn quick_says_which_addresses_it_takes() {
    let place = Place::new();
    for (url, told) in [
        ("localhost:8080", "hint: did you mean `http://localhost:8080`?"),
        ("ftp://x", "ftp:// is not loaded by this command"),
        ("http://", "target is an address"),
    ] {
        let answer = place.sonagi(&["quick", url]);
        assert_eq!(answer.code, Some(2), "{url}");
        assert!(answer.err.contains(told), "{url}: {}", answer.err);
    }
    assert_eq!(place.folders().len(), 0);
}
