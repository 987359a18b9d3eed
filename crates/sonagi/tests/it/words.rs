//! The output of a script's and a target's own words: all that the script prints, and nothing secret.

use crate::support::{Answer, Place, Service};
use std::fs;

const GLOBAL: &str = "
exports.speak = async (context) => {
  console.log('plain', { a: 1 });
  console.error('wrong');
  artillery.suggestedExitCode = 17;
};";

fn spoken(flags: &[&str], ensure: &str) -> Answer {
    let place = Place::new();
    place.write("f.cjs", GLOBAL);
    let head = "config:\n  target: http://127.0.0.1:9\n  phases: [{ duration: 1, arrivalCount: 1 }]\n  processor: ./f.cjs\n";
    place.write(
        "s.yml",
        &format!(
            "{head}{ensure}scenarios:\n  - flow:\n      - log: \"from {{{{ target }}}}\"\n      - function: speak\n"
        ),
    );
    place.sonagi(&[&["run", "s.yml", "--no-folder", "--shards", "1"], flags].concat())
}

#[test]
fn what_a_script_prints_goes_to_standard_output_as_it_is_also_when_the_run_is_quiet() {
    let answer = spoken(&["-q"], "");
    assert_eq!(answer.out, "from http://127.0.0.1:9\nplain { a: 1 }\n", "{answer:?}");
    assert_eq!(answer.err, "wrong\n", "{answer:?}");
    let answer = spoken(&["--json"], "");
    assert_eq!(answer.json()["users"]["completed"], 1);
    assert_eq!(
        answer.err.matches("plain { a: 1 }\n").count(),
        1,
        "the document has standard output: {answer:?}"
    );
}

#[test]
fn a_function_decides_the_exit_code_unless_a_strict_threshold_failed() {
    let answer = spoken(&[], "");
    assert_eq!(answer.code, Some(17), "{answer:?}");
    assert!(answer.err.contains("exit code 17: a function set artillery.suggestedExitCode"), "{answer:?}");
    let answer =
        spoken(&[], "  plugins: { ensure: {} }\n  ensure: { thresholds: [{ vusers.created: 1 }] }\n");
    assert_eq!(answer.code, Some(1), "{answer:?}");
}

#[test]
fn no_output_of_a_run_whose_login_captures_fail_contains_a_token() {
    let place = Place::new();
    place.write(
        "s.yml",
        "config:\n  target: http://127.0.0.1:9\n  phases: [{ duration: 1, arrivalCount: 4 }]\n\
         \x20 plugins: { expect: {} }\n\
         scenarios:\n  - flow:\n      - post:\n          url: /auth/login\n\
         \x20         json: { email: user1@example.test, password: password }\n\
         \x20         expect: { hasProperty: nothing }\n\
         \x20         capture: [{ json: $.access_token, as: token }, { json: $.nothing, as: nothing }]\n\
         \x20 - flow:\n      - post:\n          url: /auth/login\n\
         \x20         json: { email: user1@example.test, password: password }\n\
         \x20         match: { json: $.access_token, value: mine }\n",
    );
    let service = Service::start(&place, &["--seed-users", "2"]);
    for flags in [&["--json"][..], &["-o", "report.json"], &["--summary", "artillery"]] {
        let answer = place.sonagi(&[&["run", "s.yml", "-t", &service.url], flags].concat());
        shows_no_token(&answer.out);
        shows_no_token(&answer.err);
    }
    let folders = place.folders().into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = folders.map(|file| file.unwrap().path()).chain([place.path().join("report.json")]);
    let texts: Vec<String> =
        files.map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned()).collect();
    assert!(texts.iter().any(|text| text.contains("***")), "an example is kept, masked: {texts:?}");
    texts.iter().for_each(|text| shows_no_token(text));
}

/// Wherever the answer's member is shown, its value is not.
#[track_caller]
fn shows_no_token(text: &str) {
    for (at, name) in text.match_indices("access_token") {
        let behind = text[at + name.len()..].trim_start_matches(['\\', '"']);
        let Some(value) = behind.strip_prefix(':') else { continue };
        assert!(value.trim_start_matches(['\\', '"', ' ']).starts_with("***"), "{}", &text[at..]);
    }
}
