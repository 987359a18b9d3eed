//! The result of a run whose outputs fail, that is interrupted, or whose target answers only errors.

use crate::run::{HEALTH, complaints};
use crate::support::{Place, Running, Service};
use rustix::process::Signal;
use std::fs;

/// A user a second for three seconds: time to spoil what it writes.
const SLOW: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 3, arrivalRate: 1 }]
scenarios:
  - flow:
      - get: { url: /healthz }
"#;

/// A run in a place of its own, spoilt once its first second is over.
fn spoilt(arguments: &[&str], spoil: impl Fn(&Place)) -> crate::support::Answer {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("slow.yml", SLOW);
    fs::create_dir(place.path().join("out")).unwrap();
    let mut command = place.command(&["run", "slow.yml", "-t", &service.url]);
    command.args(arguments);
    let mut running = Running::start(command);
    running.wait_for("0:01/");
    spoil(&place);
    running.end()
}

fn without_out(place: &Place) {
    fs::remove_dir_all(place.path().join("out")).unwrap();
}

#[test]
fn a_report_that_cannot_be_written_takes_no_other_output_with_it() {
    let answer = spoilt(&["--json", "-o", "out/report.json"], without_out);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    let document = answer.json();
    assert_eq!(complaints(&document), Vec::<String>::new());
    assert_eq!(
        (&document["verdict"]["result"], &document["users"]["completed"]),
        (&"pass".into(), &3.into())
    );
    assert!(answer.err.contains("error: cannot write out/report.json: No such file"), "{}", answer.err);
    let answer = spoilt(&["-o", "out/report.json"], without_out);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.out.starts_with("PASS        slow"), "{}", answer.out);
}

#[test]
fn a_run_folder_that_breaks_in_mid_run_is_exit_code_4_and_the_summary_is_printed() {
    let remove = |place: &Place| fs::remove_dir_all(place.path().join("runs")).unwrap();
    let answer = spoilt(&[], remove);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.out.starts_with("PASS        slow"), "{}", answer.out);
    let told = "error: the run folder is incomplete: No such file or directory (os error 2)\nhint: the printed summary is complete;";
    assert!(answer.err.contains(told), "{}", answer.err);
    assert_eq!(spoilt(&[], |_| {}).code, Some(0));
}

#[test]
fn a_single_run_that_could_not_start_prints_no_json() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    // TEST-NET-1: no machine has this address.
    let arguments = ["run", "health.yml", "--json", "--source-address", "192.0.2.1"];
    let answer = place.sonagi(&arguments);
    assert_eq!((answer.code, answer.out.as_str()), (Some(4), ""), "{answer:?}");
    assert!(answer.err.contains("connections cannot come from 192.0.2.1"), "{}", answer.err);
}

#[test]
fn an_interrupted_run_is_its_own_verdict_in_every_vocabulary() {
    const LONG: &str = r#"
config:
  target: "http://127.0.0.1:9"
  ensure: { thresholds: [{ http.response_time.p95: 9000 }] }
  phases: [{ duration: 60, arrivalRate: 5 }]
scenarios:
  - flow: [{ get: { url: /healthz } }, { think: 600 }]
"#;
    let interrupted = |arguments: &[&str]| {
        let place = Place::new();
        let service = Service::start(&place, &[]);
        place.write("long.yml", LONG);
        let mut command = place.command(&["run", "long.yml", "-t", &service.url]);
        command.args(arguments);
        let mut running = Running::start(command);
        running.wait_for("0:01/");
        running.signal(Signal::TERM);
        let answer = running.end();
        assert_eq!(answer.code, Some(130), "{answer:?}");
        (answer, place)
    };
    let (answer, place) = interrupted(&[]);
    assert!(answer.out.starts_with("INTERRUPTED long"), "{}", answer.out);
    for line in [
        "the figures cover what ran until then\n",
        "until then: ",
        "until then: 1 of 1 threshold passed\n",
        " started of 300 planned",
    ] {
        assert!(answer.out.contains(line), "{line}: {}", answer.out);
    }
    assert_eq!(place.reported()["verdict"]["result"], "interrupted");
    let (answer, _) = interrupted(&["--json"]);
    let document = answer.json();
    assert_eq!(
        (&document["verdict"]["result"], &document["users"]["planned"]),
        (&"interrupted".into(), &300.into())
    );
    assert_eq!(complaints(&document), Vec::<String>::new());
    let (answer, _) = interrupted(&["--summary", "artillery"]);
    assert!(answer.err.contains("\nINTERRUPTED  long: stopped after "), "{}", answer.err);
}

#[test]
fn the_interrupted_one_of_several_scripts_decides_the_exit_code() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    place.write("health.yml", HEALTH);
    place.write("long.yml", &SLOW.replace("duration: 3", "duration: 60"));
    let mut running = Running::start(place.command(&["run", "health.yml", "long.yml", "-t", &service.url]));
    running.wait_for("2/2 long");
    running.wait_for("0:01/");
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.out.ends_with("PASS        health\nINTERRUPTED long\n"), "{}", answer.out);
}

#[test]
fn an_interrupted_k6_script_ends_with_105_and_its_record_says_so() {
    let place = Place::new();
    place.write(
        "long.js",
        "import { sleep } from 'k6'; export const options = { vus: 1, duration: '60s' };
         export default () => { console.log('here'); sleep(0.2); };",
    );
    let mut running = Running::start(place.command(&["run", "long.js", "--runs", "runs"]));
    running.wait_for("here");
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(105));
    let reported = place.reported();
    assert_eq!(
        (&reported["verdict"]["result"], &reported["interrupted"]),
        (&"interrupted".into(), &true.into())
    );
}

#[test]
fn a_k6_script_interrupted_in_setup_or_teardown_says_so_in_its_record() {
    for function in ["setup", "teardown"] {
        let place = Place::new();
        place.write(
            "long.js",
            &format!(
                "import {{ sleep }} from 'k6'; export const options = {{ iterations: 1 }};
                 export function {function}() {{ console.log('here'); for (let n = 0; n < 15; n++) sleep(0.2); }}
                 export default () => {{}};"
            ),
        );
        let mut running = Running::start(place.command(&["run", "long.js", "--runs", "runs"]));
        running.wait_for("here");
        running.signal(Signal::INT);
        assert_eq!(running.end().code, Some(105), "{function}");
        let reported = place.reported();
        assert_eq!(
            (&reported["verdict"]["result"], &reported["interrupted"]),
            (&"interrupted".into(), &true.into()),
            "{function}"
        );
    }
}

#[test]
fn a_target_that_answers_nothing_but_404_fails_a_quick_run() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let url = format!("{}/nothing/here", service.url);
    let quick = |more: &[&str]| {
        let mut command = place.command(&["quick", &url, "-c", "2", "-n", "5", "--no-folder"]);
        command.args(more);
        crate::support::Answer::from(command.output().unwrap())
    };
    let answer = quick(&[]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    let every = "every one of 10 HTTP answers was an error status (404: 10)\n";
    assert!(answer.out.starts_with("FAIL") && answer.out.contains(every), "{}", answer.out);
    assert!(answer.out.contains("--fail-on-status never"), "{}", answer.out);
    assert_eq!(quick(&["--fail-on-status", "never"]).code, Some(0));
}

#[test]
fn statuses_that_a_script_expects_or_matches_do_not_fail_its_run() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let run = |flow: &str, more: &[&str]| {
        place.write(
            "asks.yml",
            &SLOW.replace("duration: 3", "duration: 1").replace("get: { url: /healthz }", flow),
        );
        let mut command = place.command(&["run", "asks.yml", "-t", &service.url, "--json", "--no-folder"]);
        command.args(more);
        crate::support::Answer::from(command.output().unwrap())
    };
    let plain = run("get: { url: /nothing }", &[]);
    assert_eq!(plain.code, Some(1), "{plain:?}");
    let expected = run("get: { url: /nothing, expect: [{ statusCode: 404 }] }", &[]);
    assert_eq!(expected.code, Some(0), "{expected:?}");
    assert_eq!(expected.json()["statuses"]["expected"], 1);
    let any = run("get: { url: /nothing, expect: [{ statusCode: 404 }] }", &["--fail-on-status", "any"]);
    assert_eq!(any.code, Some(0), "{any:?}");
    let other = run("get: { url: /nothing, expect: [{ statusCode: 200 }] }", &[]);
    assert_eq!(other.code, Some(21), "{other:?}");
}

#[test]
fn a_k6_script_of_which_every_request_failed_says_so_and_keeps_its_exit_code() {
    let place = Place::new();
    let service = Service::start(&place, &[]);
    let run = |more: &str| {
        let script = format!(
            "import http from 'k6/http'; import {{ check }} from 'k6'; {more}
             export default () => {{ const r = http.get('{}/nothing'); look(r); }};",
            service.url
        );
        place.write("errors.js", &script);
        place.sonagi(&["run", "--quiet", "errors.js"])
    };
    let told = "the only HTTP answer was an error status (404: 1); only a threshold on http_req_failed makes that a failure";
    let plain = run("const look = () => {};");
    assert_eq!((plain.code, plain.err.matches(told).count()), (Some(0), 1), "{plain:?}");
    let recorded = place.sonagi(&["run", "--quiet", "--runs", "runs", "errors.js"]);
    assert_eq!((recorded.code, recorded.err.matches(told).count()), (Some(0), 1), "{recorded:?}");
    assert_eq!(place.reported()["http_codes"], serde_json::json!({ "404": 1 }));
    let with_setup =
        run(&format!("const look = () => {{}}; export const setup = () => http.get('{}/no');", service.url));
    let told = "every one of 2 HTTP answers was an error status (404: 2)";
    assert!(with_setup.err.contains(told), "{with_setup:?}");
    for asks in [
        "const look = (r) => check(r, { missing: (r) => r.status === 404 });",
        "http.setResponseCallback(http.expectedStatuses(404)); const look = () => {};",
        "export const options = { thresholds: { http_req_failed: ['rate<=1'] } }; const look = () => {};",
        "const look = () => http.get('http://127.0.0.1:1/');",
    ] {
        let answer = run(asks);
        assert_eq!((answer.code, answer.err.contains(told)), (Some(0), false), "{asks}: {answer:?}");
    }
}

#[test]
fn more_users_than_files_may_be_opened_are_told_of_before_the_run() {
    let place = Place::new();
    let script = SLOW.replace("duration: 3, arrivalRate: 1", "duration: 1, users: 300");
    place.write("crowd.yml", &script);
    place.write("thinking.yml", &script.replace("get: { url: /healthz }", "think: 1"));
    let run = |script: &str, files: u32| {
        let mut command = std::process::Command::new("sh");
        let sonagi = env!("CARGO_BIN_EXE_sonagi");
        command.args(["-c", &format!("ulimit -n {files}; exec {sonagi} run {script} --no-folder")]);
        crate::support::Answer::from(command.current_dir(place.path()).output().unwrap())
    };
    let told = "warning: at least 300 users are planned at one time, each with a connection, and this process may open 200 files";
    let answer = run("crowd.yml", 200);
    assert!(answer.err.contains(told), "{answer:?}");
    assert!(!run("crowd.yml", 900).err.contains("warning: at least"));
    assert!(!run("thinking.yml", 200).err.contains("warning: at least"), "it opens no connection");
}

#[test]
fn a_k6_summary_that_cannot_be_exported_is_printed_all_the_same() {
    let place = Place::new();
    place.write("empty.js", "export default () => {};");
    let answer = place.sonagi(&["run", "--summary-export", "nowhere/summary.json", "empty.js"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(
        answer.out.contains("iterations...") && answer.err.contains("could not open 'nowhere/summary.json'"),
        "{answer:?}"
    );
}

#[test]
fn a_k6_run_folder_that_breaks_in_mid_run_fails_the_test() {
    let place = Place::new();
    place.write(
        "slow.js",
        "import { sleep } from 'k6'; export default () => { console.log('here'); sleep(2); };",
    );
    let mut running = Running::start(place.command(&["run", "slow.js", "--runs", "runs"]));
    running.wait_for("here");
    fs::remove_dir_all(place.path().join("runs")).unwrap();
    let answer = running.end();
    assert_eq!(answer.code, Some(255), "{answer:?}");
    assert!(answer.out.contains("iterations..."), "{}", answer.out);
    assert!(answer.err.contains("error: the run folder is incomplete: No such file"), "{}", answer.err);
}
