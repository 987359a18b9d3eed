//! Repeated runs and what they say together: rounds, folders, the table, interruption. Whether a value is really better
//! is held on made-up runs (`crates/verdict`): a test that measured would hang on the machine.

use crate::site::start;
use crate::support::{Answer, Place, Running};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Two crowds that look whether the service is well, twice each.
const HEALTH: &str = r#"
config:
  phases: [{ duration: 1, arrivalCount: "{{ users }}" }]
matrix: { users: [3, 12] }
repeat: 2
compare: { across: users, primary: operations.health.response_ms.p99, margin: 5% }
serve: { workers: 1 }
scenarios:
  - flow:
      - get: { url: /healthz, name: health }
"#;

fn document(folder: &std::path::Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// A run of the command whose verdicts are nothing to us: on a busy machine some may be INVALID.
fn measured(place: &Place, arguments: &[&str]) -> Answer {
    let answer = place.sonagi(arguments);
    assert!(matches!(answer.code, Some(0 | 1 | 3)), "{answer:?}");
    answer
}

#[test]
fn combinations_take_turns_in_rounds_and_the_first_is_run_once_more_at_the_end() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    let answer = measured(&place, &["run", "health.yml", "--seed", "7"]);
    let (folder, inner) = place.matrix();
    assert_eq!(inner, ["anchor-users-3", "users-12-1", "users-12-2", "users-3-1", "users-3-2"]);
    let matrix = document(&folder, "matrix.json");
    let runs = matrix["runs"].as_array().unwrap();
    check_rounds(&matrix, runs);
    for run in runs {
        let recorded = PathBuf::from(run["summary"]["run_folder"].as_str().unwrap());
        let header = document(&folder.join(recorded.file_name().unwrap()), "run.json")["header"].clone();
        assert_eq!(header["seed"], run["seed"], "{recorded:?}");
        assert!(run["before"]["busy"].is_f64(), "{}", run["before"]);
    }
    check_table(&answer);
    let again = place.sonagi(&["report", folder.to_str().unwrap()]);
    assert!(answer.out.starts_with(&again.out) && again.code == Some(0), "{}\n{}", again.out, answer.out);
    let page = fs::read_to_string(folder.join("matrix.md")).unwrap();
    assert!(page.contains("| users | passed | most users |"), "{page}");
    assert_eq!(page.lines().filter(|line| line.starts_with("| 3 | ")).count(), 2, "table and choice: {page}");
    check_page(&place, folder.file_name().unwrap().to_str().unwrap(), &matrix);
    check_file(&place, folder.to_str().unwrap(), &matrix);
    // What shows drift is none of the runs that are compared.
    let compared =
        place.sonagi(&["compare", folder.to_str().unwrap(), "--json", "--", folder.to_str().unwrap()]);
    let compared = compared.json();
    let left_out = compared["left_out"].as_array().unwrap().len();
    assert_eq!(2 * compared["sides"][0][1].as_u64().unwrap() as usize + left_out, 8, "{compared}");
}

/// The page of the matrix is told what the report tells, and there is none of another name.
fn check_page(place: &Place, name: &str, matrix: &Value) {
    let (running, site) = start(place, &["page", "runs", "--listen=127.0.0.1:0"]);
    let boot = site.boot(&format!("/matrices/{name}"));
    assert_eq!((&boot["mode"], &boot["name"]), (&json!("matrix"), &json!("health")));
    check_choices(&boot, matrix);
    for other in ["nothing", "..", "..%2Fruns", ""] {
        assert_eq!(site.status(&format!("GET /matrices/{other}"), &[]), 404, "{other}");
    }
    running.signal(Signal::TERM);
    running.end();
}

/// As a file it has everything in it, and links to nothing that nobody wrote.
fn check_file(place: &Place, folder: &str, matrix: &Value) {
    let answer = place.sonagi(&["report", folder, "-o", "health.html"]);
    assert!(answer.code == Some(0) && answer.err.contains("page        health.html"), "{answer:?}");
    let boot = boot_of(&fs::read_to_string(place.path().join("health.html")).unwrap());
    assert_eq!((&boot["mode"], &boot["links"]), (&json!("matrix"), &Value::Null));
    check_choices(&boot, matrix);
    let rows = boot["table"]["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["runs"].as_array().unwrap().len()).collect::<Vec<_>>(), [2, 2]);
}

/// They are the document's, with what is said of them.
fn check_choices(boot: &Value, matrix: &Value) {
    let mut choices = boot["choices"].clone();
    for choice in choices.as_array_mut().unwrap() {
        let choice = choice.as_object_mut().unwrap();
        assert!(choice.remove("headline").unwrap().as_str().unwrap().contains("users"));
        assert!(choice.remove("remarks").unwrap().is_array());
    }
    assert_eq!(choices, matrix["comparison"]["choices"]);
}

fn boot_of(page: &str) -> Value {
    assert!(page.contains("connect-src 'none'"));
    let boot = page.split_once("type=\"application/json\">").unwrap().1;
    serde_json::from_str(boot.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn with_report_the_comparison_gets_the_name_and_links_the_files_of_its_runs() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    measured(&place, &["run", "health.yml", "--repeat", "1", "--report", "all.html", "--quiet"]);
    let boot = boot_of(&fs::read_to_string(place.path().join("all.html")).unwrap());
    let links = &boot["links"];
    for row in boot["table"]["rows"].as_array().unwrap() {
        let part = |name: &str| links[name].as_str().unwrap().to_owned();
        let folder = row["runs"][0]["folder"].as_str().unwrap();
        let file = format!("{}{}{folder}{}", part("before"), part("within"), part("behind"));
        assert!(fs::read_to_string(place.path().join(&file)).unwrap().contains("sonagi-data"), "{file}");
    }
    assert_eq!(boot["table"]["rows"].as_array().unwrap().len(), 2);
}

fn check_rounds(matrix: &Value, runs: &[Value]) {
    assert_eq!((&matrix["planned"], &matrix["repeat"], &matrix["seed"]), (&json!(4), &json!(2), &json!(7)));
    let rounds: Vec<&Value> = runs.iter().map(|run| &run["round"]).collect();
    assert_eq!(rounds, [&json!(1), &json!(1), &json!(2), &json!(2), &json!(3)]);
    for round in runs[..4].chunks(2) {
        let users: BTreeSet<u64> =
            round.iter().map(|run| run["combination"]["users"].as_u64().unwrap()).collect();
        assert_eq!(users, BTreeSet::from([3, 12]));
        assert_eq!(round[0]["seed"], round[1]["seed"]);
    }
    assert_ne!(runs[0]["seed"], runs[2]["seed"]);
    assert_eq!((&runs[4]["is_anchor"], &runs[4]["combination"]["users"]), (&json!(true), &json!(3)));
    let tried = matrix["comparison"]["choices"][0]["tried"].as_array().unwrap();
    assert_eq!((&tried[0]["value"], &tried[1]["value"]), (&json!(3), &json!(12)));
}

/// The table has a row a combination, and two runs decide nothing.
fn check_table(answer: &Answer) {
    let out = &answer.out;
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    for users in ["3 ", "12 "] {
        let rows = out.lines().filter(|line| line.starts_with(users) && line.contains(" of 2")).count();
        assert!(rows >= 1, "{users}: {out}");
    }
    assert!(
        answer.err.contains("1/5 ") && answer.err.contains("5/5 3, once more against http://"),
        "{}",
        answer.err
    );
    assert!(out.contains("\nbest        users "), "{out}");
    assert!(out.contains("2 runs of each decide nothing; ") || out.contains("no run"), "{out}");
    assert!(out.contains("\nseed        7 draws the order of each round"), "{out}");
}

#[test]
fn the_command_line_repeats_a_script_without_a_matrix_as_well() {
    let place = Place::new();
    let plain = HEALTH.replace("\"{{ users }}\"", "3");
    let plain: String = plain
        .lines()
        .filter(|line| !["matrix:", "repeat:", "compare:"].iter().any(|key| line.starts_with(key)))
        .map(|line| format!("{line}\n"))
        .collect();
    place.write("plain.yml", &plain);
    let answer = measured(&place, &["run", "plain.yml", "--repeat", "2", "--json"]);
    assert_eq!(answer.json().as_array().unwrap().len(), 2);
    let (folder, inner) = place.matrix();
    assert_eq!(inner, ["plain-1", "plain-2"]);
    let answer = place.sonagi(&["report", folder.to_str().unwrap()]);
    assert!(answer.out.contains(" of 2 runs passed"), "{}", answer.out);
    let rows: Vec<&str> = answer.out.lines().filter(|line| line.starts_with("plain ")).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.contains(" of 2")), "{}", answer.out);
    let pair = place.sonagi(&["compare", folder.to_str().unwrap(), "--", folder.to_str().unwrap()]);
    assert!(matches!(pair.code, Some(0 | 3)), "{pair:?}");
}

#[test]
fn a_signal_ends_all_rounds_and_what_was_run_is_told() {
    let place = Place::new();
    let long = HEALTH.replace("duration: 1, arrivalCount: \"{{ users }}\"", "duration: 600, arrivalRate: 5");
    place.write(
        "long.yml",
        &long.replace("name: health }", "name: health }\n      - think: \"{{ users }}00\""),
    );
    let mut running = Running::start(place.command(&["run", "long.yml"]));
    running.wait_for("0:01/");
    running.signal(Signal::INT);
    running.wait_for("stopping");
    let answer = running.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.out.starts_with("matrix      0 of 4 runs passed; 3 not run"), "{}", answer.out);
    assert!(answer.out.contains("\nbest        no run can be used\n"), "{}", answer.out);
    assert!(answer.err.contains("\nnot run: long-3, once more\n"), "{}", answer.err);
    let (folder, inner) = place.matrix();
    assert_eq!(inner.len(), 1, "{inner:?}");
    assert_eq!(document(&folder, "matrix.json")["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_repeated_or_compared_is_said_before_the_first_run() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    let check = |arguments: &[&str], what: &str| {
        let answer = place.sonagi(&[&["run", "health.yml"], arguments].concat());
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{answer:?}");
        assert!(answer.err.contains(what), "{what}: {}", answer.err);
    };
    check(&["--compare", "pool"], "--compare: the matrix of health.yml has no axis \"pool\"");
    check(&["--repeat", "900"], "2 combinations 900 times each are more");
    check(&["--repeat", "0"], "--repeat");
    assert!(place.folders().is_empty(), "what has problems leaves no folder");
}

#[test]
fn a_warm_up_that_leaves_nothing_is_refused() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    measured(&place, &["run", "health.yml", "--repeat", "1", "-q"]);
    let (folder, inner) = place.matrix();
    assert_eq!(inner, ["12", "3"], "not repeated: folders as they were");
    let run = folder.join("3");
    let run = run.to_str().unwrap();
    let answer = place.sonagi(&["compare", run, "--warm-up", "60s", "--", run]);
    assert_eq!(answer.code, Some(4), "{answer:?}");
    assert!(answer.err.contains("a warm-up of 60 s leaves nothing of it"), "{}", answer.err);
    let short = place.sonagi(&["compare", run, "--", run]);
    assert!(short.out.contains("warm-up     A: 1 of 1 run too short to tell"), "{}", short.out);
    let none = place.sonagi(&["compare", run, "--warm-up", "none", "--", run]);
    assert!(!none.out.contains("warm-up"), "{}", none.out);
    assert_eq!(place.sonagi(&["compare", run, "--warm-up", "soon", "--", run]).code, Some(2));
}

#[test]
fn runs_of_a_matrix_whose_load_was_overridden_are_not_comparable() {
    let place = Place::new();
    place.write("health.yml", HEALTH);
    let run = |runs: &str, more: &[&str]| {
        let given = ["run", "health.yml", "-q", "--repeat", "1", "--matrix", "users=3", "--runs", runs];
        measured(&place, &[&given[..], more].concat());
    };
    run("a", &[]);
    run("b", &[]);
    run("c", &["--overrides", r#"{"config":{"phases":[{"duration":1,"arrivalCount":4}]}}"#]);
    let alike = place.sonagi(&["compare", "a", "--", "b"]);
    assert!(!alike.out.contains("load: "), "{}", alike.out);
    let other = place.sonagi(&["compare", "a", "--", "c"]);
    assert_eq!(other.code, Some(3), "{other:?}");
    assert!(other.out.contains("load: ") && other.out.contains("--across load"), "{}", other.out);
}
