use crate::support::Place;

const CLEAN: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 1, arrivalRate: 1 }]
scenarios:
  - flow:
      - get: { url: / }
"#;

const TROUBLED: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases:
    - duration: 1
      arivalRate: 1
scenarios:
  - flow:
      - get: { ulr: / }
"#;

#[test]
fn a_clean_script_has_no_problems() {
    let place = Place::new();
    place.write("clean.yml", CLEAN);
    let answer = place.sonagi(&["check", "clean.yml"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "clean.yml: no problems\n"));
}

#[test]
fn all_problems_of_all_scripts_are_named_at_once_with_line_and_hint() {
    let place = Place::new();
    place.write("one.yml", TROUBLED);
    place.write("two.yml", TROUBLED);
    let answer = place.sonagi(&["check", "one.yml", "two.yml", "absent.yml"]);
    assert_eq!(answer.code, Some(2));
    for place in ["one.yml:6:7:", "one.yml:9:", "two.yml:6:7:", "absent.yml:"] {
        assert!(answer.out.contains(place), "{place}: {}", answer.out);
    }
    assert!(answer.out.contains("arrivalRate"), "{}", answer.out);
}

#[test]
fn problems_can_be_had_as_one_json_document() {
    let place = Place::new();
    place.write("clean.yml", CLEAN);
    place.write("troubled.yml", TROUBLED);
    let answer = place.sonagi(&["check", "--json", "clean.yml", "troubled.yml"]);
    assert_eq!(answer.code, Some(2));
    let scripts = &answer.json()["scripts"];
    assert_eq!(scripts[0]["problems"].as_array().unwrap().len(), 0);
    let problems = scripts[1]["problems"].as_array().unwrap();
    let misspelt = problems.iter().find(|problem| problem["line"] == 6).unwrap();
    assert_eq!((&misspelt["file"], &misspelt["column"]), (&"troubled.yml".into(), &7.into()));
    assert!(misspelt["what"].as_str().unwrap().contains("arivalRate"), "{misspelt}");
    assert!(misspelt["hint"].as_str().unwrap().contains("arrivalRate"), "{misspelt}");
}

#[test]
fn a_troubled_script_is_not_run() {
    let place = Place::new();
    place.write("clean.yml", CLEAN);
    place.write("troubled.yml", TROUBLED);
    let answer = place.sonagi(&["run", "clean.yml", "troubled.yml"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""));
    assert!(answer.err.contains("troubled.yml:6:7:"), "{}", answer.err);
    assert_eq!(place.folders().len(), 0);
}

#[test]
fn options_that_serve_refuses_are_problems_at_their_keys_and_nothing_is_run() {
    let place = Place::new();
    let example = "for example drop=3%,duplicate=1%,delay=50ms@5%,reorder=1%,leak=0.1%,seed=7";
    let unknown = format!(
        "8:17: fault: faults are drop, duplicate, delay, reorder, leak, seed, hold, settle; got `drp`\n  hint: {example}"
    );
    for (serve, problems) in [
        ("{ workers: 0 }", &["8:19: workers: 0 is not in 1..=1024"][..]),
        (
            "{ fault: \"drp=1\", seedUsers: 2, longHold: 0 }",
            &[&unknown, "8:50: longHold: it must be longer than 0; got `0ms`"],
        ),
        ("{ null: true, fault: \"drop=1%\" }", &["8:29: fault: it cannot stand beside `--null`"]),
    ] {
        place.write("served.yml", &format!("{CLEAN}serve: {serve}\n"));
        let all: String = problems.iter().map(|problem| format!("served.yml:{problem}\n")).collect();
        let answer = place.sonagi(&["check", "served.yml"]);
        assert_eq!((answer.code, answer.out), (Some(2), all), "{serve}");
        let answer = place.sonagi(&["run", "served.yml"]);
        assert_eq!(answer.code, Some(2), "{serve}: {}", answer.err);
        assert!(answer.err.contains("nothing was run"), "{}", answer.err);
    }
    place.write("served.yml", &format!("{CLEAN}serve: {{ workers: 1, null: true }}\n"));
    assert_eq!(place.sonagi(&["check", "served.yml"]).code, Some(0));
}

#[test]
fn what_artillery_ignores_is_a_problem_to_check_and_to_a_strict_run_and_a_notice_to_any_other() {
    let place = Place::new();
    place.write("old.yml", &format!("version: 1\n{}", CLEAN.replace("flow:", "tags: [a]\n    flow:")));
    let checked = place.sonagi(&["check", "old.yml"]);
    assert_eq!(checked.code, Some(2));
    let last = "old.yml: `sonagi run` goes on in spite of these; `sonagi run --strict` does not\n";
    assert!(checked.out.ends_with(last), "{}", checked.out);
    let json = place.sonagi(&["check", "--json", "old.yml"]).json();
    assert_eq!(json["scripts"][0]["problems"][0]["tolerated"], "ignored, as in Artillery");
    for quiet in [&["--quiet"][..], &[]] {
        let strict = place.sonagi(&[&["run", "--strict", "--no-folder", "old.yml"], quiet].concat());
        assert_eq!(strict.code, Some(2), "{strict:?}");
        assert!(strict.err.contains("old.yml:7:11: tags wants a mapping of names to texts"), "{strict:?}");
    }
    let run = place.sonagi(&["run", "--no-folder", "old.yml"]);
    assert_ne!(run.code, Some(2), "{run:?}");
    let notice = "notice: old.yml:1:1: unknown key \"version\" in a script: ignored, as in Artillery\n";
    assert!(run.err.contains(notice), "{run:?}");
}

const K6: &str = "import http from 'k6/http';\n\
    export const options = { vus: 2, iterations: 4 };\n\
    export default () => { http.get('http://127.0.0.1:9/'); };\n";

#[test]
fn a_k6_script_is_checked_without_running_a_user() {
    let place = Place::new();
    place.write("a.js", &K6.replace("http.get(", "throw new Error(\"a user ran\"); http.get("));
    let answer = place.sonagi(&["check", "a.js"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(0), "a.js: no problems\n"), "{}", answer.err);
}

#[test]
fn all_that_run_would_refuse_in_a_k6_script_is_a_problem_of_it() {
    let place = Place::new();
    let options = |options: &str| K6.replace("vus: 2, iterations: 4", options);
    for (text, said) in [
        (
            options("vus: 0, iterations: 4, scenarios: { a: { executor: 'none' } }"),
            &["a.js: options.scenarios.a"][..],
        ),
        (options("thresholds: { http_req_duration: ['p95<1'], none: ['rate>'] }"), &["p95<1", "rate>"]),
        (K6.replace("default ()", "default (("), &["a.js:3:19: unexpected token\n"]),
        (K6.replace("'k6/http'", "'./absent.js'"), &["absent.js"]),
        (
            K6.replace("export default", "nothing();\nexport default"),
            &["a.js:3:1: ReferenceError: nothing is not defined\n"],
        ),
        (
            K6.replace("default", "const other ="),
            &["a.js: executor default: function 'default' not found in exports"],
        ),
    ] {
        place.write("a.js", &text);
        let answer = place.sonagi(&["check", "a.js"]);
        assert_eq!(answer.code, Some(2), "{text}: {answer:?}");
        for said in said {
            assert!(answer.out.contains(said), "{said}: {answer:?}");
        }
    }
}

#[test]
fn k6_scripts_are_checked_with_the_flags_they_are_run_with_and_beside_other_scripts() {
    let place = Place::new();
    place.write("a.js", &K6.replace("vus: 2", "vus: Number(__ENV.USERS)"));
    place.write("clean.yml", CLEAN);
    place.write("troubled.yml", TROUBLED);
    let answer = place.sonagi(&["check", "-e", "USERS=3", "--duration", "3 apples", "a.js"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.out.starts_with("a.js: --duration: "), "{}", answer.out);
    let answer = place.sonagi(&["check", "--json", "-e", "USERS=3", "clean.yml", "a.js", "troubled.yml"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let document = answer.json();
    let problems = |index: usize| document["scripts"][index]["problems"].as_array().unwrap().len();
    assert_eq!([problems(0), problems(1), problems(2)], [0, 0, 2]);
}

#[test]
fn a_k6_script_is_known_by_its_text_when_its_name_does_not_tell() {
    let place = Place::new();
    place.write("script", K6);
    place.write("script.yml", K6);
    for name in ["script", "script.yml"] {
        let answer = place.sonagi(&["check", "--vus", "3", name]);
        assert_eq!((answer.code, answer.out), (Some(0), format!("{name}: no problems\n")), "{}", answer.err);
    }
}
