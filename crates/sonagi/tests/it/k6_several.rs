//! Several runs of a k6 script: a matrix of variables, rounds, and which value is best.

use crate::support::{Place, Running};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

/// Iterations that wait for as many milliseconds as `WAIT` says.
const WAITS: &str = "
import { sleep } from 'k6';
export const options = {
  vus: 1, iterations: 4,
  sonagi: {
    matrix: { WAIT: [60, 3] },
    compare: { primary: 'iteration_duration.p50', margin: '20%' },
  },
};
export default () => { sleep(Number(__ENV.WAIT) / 1000); };
";

fn document(place: &Place) -> Value {
    let (folder, _) = place.matrix();
    serde_json::from_str(&fs::read_to_string(folder.join("matrix.json")).unwrap()).unwrap()
}

#[test]
fn the_values_of_a_k6_scripts_matrix_are_run_in_rounds_and_compared() {
    let place = Place::new();
    place.write("waits.js", WAITS);
    let answer = place.sonagi(&["run", "waits.js", "--repeat", "5", "--runs", "runs"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for wanted in [
        "matrix      10 of 10 runs passed",
        "take        WAIT 3",
        "draws the order of each round\n",
        "run folders runs/",
    ] {
        assert!(answer.out.contains(wanted), "{wanted}: {}", answer.out);
    }
    assert!(!answer.out.contains("iterations...."), "k6's summary is that of one run: {}", answer.out);
    assert!(answer.err.contains("1/11 ") && answer.err.contains(", round 1: PASS"), "{}", answer.err);
    let document = document(&place);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &document["axes"]), (11, &json!(["WAIT"])));
    let anchor = runs.last().unwrap();
    assert_eq!((&anchor["is_anchor"], &anchor["combination"]), (&json!(true), &json!({ "WAIT": 60 })));
    let (folder, names) = place.matrix();
    assert!(
        names.contains(&"wait-3-5".to_owned()) && names.contains(&"anchor-wait-60".to_owned()),
        "{names:?}"
    );
    let run = fs::read_to_string(folder.join("wait-3-5/run.json")).unwrap();
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!(run["summary"]["combination"], json!({ "WAIT": 3 }));
    // What is told later is told from the folders, without the command's memory.
    let again = place.sonagi(&["report", folder.to_str().unwrap()]);
    assert!(again.out.contains("take        WAIT 3"), "{}", again.out);
}

#[test]
fn flags_give_a_k6_script_a_matrix_or_narrow_its_own() {
    let place = Place::new();
    place.write("waits.js", WAITS);
    place.write(
        "plain.js",
        "export const options = { thresholds: { checks: ['rate>0.9'] } };\nimport { check } from 'k6';\n\
         export default () => { check(__ENV.N, { 'is one': (n) => n === '1' }); };\n",
    );
    let narrowed = place.sonagi(&["run", "waits.js", "--matrix", "WAIT=3"]);
    assert_eq!(narrowed.code, Some(0), "{narrowed:?}");
    assert!(narrowed.out.contains("1 of 1 run passed"), "{}", narrowed.out);
    // One of them crosses a threshold; the others are run all the same, and the exit code tells.
    let own = place.sonagi(&["run", "plain.js", "--matrix", "N=2,1,3", "--runs", "runs"]);
    assert_eq!(own.code, Some(99), "{own:?}");
    let document = document(&place);
    assert_eq!(document["runs"][1]["combination"], json!({ "N": 1 }), "numbers are numbers");
    let words: Vec<&str> =
        own.err.lines().filter(|line| line.contains(": FAIL") || line.contains(": PASS")).collect();
    assert_eq!(words.len(), 3, "{}", own.err);
    assert!(own.out.contains("1 of 3 runs passed"), "{}", own.out);
    let repeated = place.sonagi(&["run", "plain.js", "--repeat", "2", "-e", "N=1"]);
    assert_eq!(repeated.code, Some(0), "{repeated:?}");
    assert!(
        repeated.out.contains("2 of 2 runs passed") && repeated.err.contains("plain, round 2: PASS"),
        "{repeated:?}"
    );
}

#[test]
fn several_runs_of_a_k6_script_that_make_no_sense_are_refused_before_the_first() {
    let place = Place::new();
    place.write("waits.js", WAITS);
    let check = |flags: &[&str], code: i32, wanted: &[&str]| {
        let answer = place.sonagi(&[&["run", "waits.js", "--runs", "runs"], flags].concat());
        assert_eq!(answer.code, Some(code), "{flags:?}: {answer:?}");
        for wanted in wanted {
            assert!(answer.err.contains(wanted), "{flags:?}: {wanted}: {}", answer.err);
        }
        assert!(!place.path().join("runs").exists(), "{flags:?}: nothing was run");
    };
    check(&["--matrix", "WAITS=3"], 104, &["the script's matrix has no WAITS", "hint: did you mean WAIT?"]);
    check(&["--matrix", "WAIT=4"], 104, &["WAIT has no value 4", "hint: its values: 60, 3"]);
    check(&["--matrix", "WAIT"], 255, &["--matrix takes NAME=VALUE,VALUE; got `WAIT`"]);
    check(&["--matrix", "WAIT=3,3"], 255, &["WAIT has `3` twice"]);
    check(&["--repeat", "0"], 255, &["--repeat takes a whole number from 1 to 1000; got `0`"]);
    check(&["--repeat", "600"], 104, &["at most 1000 times; 2 combinations 600 times"]);
    check(&["--compare", "POOL"], 104, &["--compare: the matrix has no POOL", "hint: its variables: WAIT"]);
    check(&["--matrix", "WAIT=3,"], 255, &["WAIT has an empty value"]);
    check(&["--out", "json=x"], 255, &["--out is of one run", "sonagi report FOLDER"]);
    place.write("waits.js", &WAITS.replace("iteration_duration.p50", "iteration_durations.p50"));
    check(&[], 104, &["options.sonagi.compare.primary", "did you mean `iteration_duration.p50`?"]);
    assert_eq!(place.sonagi(&["check", "waits.js"]).code, Some(2));
    place.write("waits.js", &WAITS.replace("iteration_duration.p50", "iteration_duration.p(95)"));
    check(&[], 104, &["iteration_duration has no `p(95)`", "p50, p75"]);
    // It throws with one of two values.
    let throws = "if (__ENV.WAIT === '3') throw new Error('too short');\nexport default";
    place.write("waits.js", &WAITS.replace("export default", throws));
    check(&[], 107, &["with WAIT: 3: Error: too short", "waits.js:"]);
    // And one that throws without any.
    let throws = "if (!__ENV.WAIT) throw new Error('no value');\nexport default";
    place.write("waits.js", &WAITS.replace("export default", throws));
    check(
        &[],
        107,
        &["Error: no value", "hint: the script is read once before the values of its matrix are known"],
    );
    place.write("waits.js", "export default () => {;");
    check(&["--repeat", "5"], 107, &["waits.js:1:"]);
}

#[test]
fn a_matrix_of_loads_needs_no_defaults() {
    let place = Place::new();
    place.write(
        "loads.js",
        "export const options = {\n  vus: 1, iterations: Number(__ENV.N),\n  sonagi: { matrix: { N: [2, 5] } },\n};\n\
         export default () => {};\n",
    );
    let answer = place.sonagi(&["run", "loads.js", "--runs", "runs"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let runs = document(&place)["runs"].as_array().unwrap().clone();
    let iterations: Vec<&Value> =
        runs.iter().map(|run| &run["summary"]["metrics"]["iterations"]["count"]).collect();
    assert_eq!(iterations, [&json!(2), &json!(5)]);
}

#[test]
fn one_run_of_a_script_for_several_is_a_run_like_any_other() {
    let place = Place::new();
    place.write("often.js", "export const options = { sonagi: { repeat: 5 } };\nexport default () => {};\n");
    let answer = place.sonagi(&["run", "often.js", "--repeat", "1"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.out.contains("iterations"), "k6's own summary: {}", answer.out);
    place.write("waits.js", WAITS);
    let one = place.sonagi(&["run", "waits.js", "-e", "WAIT=7"]);
    assert!(one.out.contains("1 of 1 run passed") && one.err.contains("1/1 7"), "{one:?}");
}

#[test]
fn a_script_on_standard_input_is_read_once() {
    let place = Place::new();
    let mut command = place.command(&["run", "-", "--repeat", "2", "--runs", "runs"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(WAITS.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && out.contains("4 of 4 runs passed"), "{out}");
}

#[test]
fn ctrl_c_ends_the_run_under_way_and_the_others_are_not_begun() {
    let place = Place::new();
    place.write("waits.js", &WAITS.replace("[60, 3]", "[60000, 70000]"));
    let mut running = Running::start(place.command(&["run", "waits.js", "--runs", "runs"]));
    running.wait_for("1/2 60,000");
    // The run has begun once its folder has a second.
    let seconds = || fs::read_to_string(place.matrix().0.join("60000/series.jsonl")).unwrap_or_default();
    while !place.path().join("runs").exists() || place.folders().is_empty() || seconds().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal(Signal::INT);
    let answer = running.end();
    assert_eq!(answer.code, Some(105), "{answer:?}");
    assert!(answer.err.contains("not run: 1 run"), "{}", answer.err);
    assert_eq!(document(&place)["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_search_wants_one_combination_of_a_k6_scripts_matrix() {
    let place = Place::new();
    place.write("waits.js", WAITS);
    let given =
        ["capacity", "waits.js", "--vary", "users", "--from", "1", "--to", "2", "--until", "checks.rate > 2"];
    let answer = place.sonagi(&given);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(
        answer.err.contains("a search is of one combination of the matrix; nothing says which WAIT"),
        "{answer:?}"
    );
    assert!(answer.err.contains("hint: choose one: -e WAIT=60"), "{answer:?}");
}
