//! The log of k6 runs, and its formats.

use crate::support::{Answer, Place};
use serde_json::Value;

fn run(script: &str, flags: &[&str]) -> Answer {
    let place = Place::new();
    place.write("script.js", script);
    let arguments = [&["run", "--quiet"][..], flags, &["script.js"]].concat();
    Answer::from(place.command(&arguments).output().unwrap())
}

/// Programs that read a log read its errors, too.
#[test]
fn errors_before_a_run_obey_the_log_format() {
    let empty = "export default () => {};";
    for (script, code, said) in [
        (
            format!("export const options = {{ vus: 'x' }}; {empty}"),
            104,
            "options.vus: must be a whole number",
        ),
        (
            format!("export const options = {{ thresholds: {{ nothing: ['count>1'] }} }}; {empty}"),
            104,
            "nothing",
        ),
        (
            format!("export const options = {{ thresholds: {{ http_reqs: ['nope>1'] }} }}; {empty}"),
            104,
            "nope",
        ),
        ("export const a = 1;".to_owned(), 255, "no exported functions in script"),
    ] {
        let answer = run(&script, &["--log-format=json"]);
        let lines: Vec<Value> = answer.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((answer.code, lines.len()), (Some(code), 1), "{script}: {answer:?}");
        assert_eq!(lines[0]["level"], "error", "{script}");
        assert!(lines[0]["msg"].as_str().unwrap().contains(said), "{script}: {answer:?}");
    }
}

#[test]
fn flags_of_k6s_api_server_are_ignored_and_said_to_be() {
    let answer = run("export default () => {};", &["--address", "localhost:0", "--linger"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for flag in ["--address", "--linger"] {
        assert!(answer.err.contains(&format!("{flag} is ignored: Sonagi has no API server")), "{answer:?}");
    }
    let none = run("export default () => {};", &["--address", ""]);
    assert_eq!((none.code, none.err.as_str()), (Some(0), ""));
}
