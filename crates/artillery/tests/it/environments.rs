//! Environments are read whole, whichever one is chosen.

use crate::sketch::sketch;
use crate::support::{load_with, notices, problems};
use sonagi_artillery::Overrides;

/// Lines of the environment `far`, from line 5 column 7.
fn script(environment: &str) -> String {
    format!(
        "config:\n  target: http://t\n  phases: [{{duration: 1, arrivalRate: 1}}]\n  environments: {{far:\n      {{{environment}}}}}\n\
         scenarios: [{{flow: [{{get: {{url: /, capture: {{json: $.a, as: a}}}}}}]}}]\n"
    )
}

fn check(environment: &str, expected: &[&str]) {
    assert_eq!(problems(&script(environment)), expected, "{environment}");
}

#[test]
fn a_mistake_in_an_environment_is_found_whichever_one_is_chosen() {
    check(
        "target: nowhere",
        &[
            r#"5:16: target is an address that begins with http://, https://, ws:// or wss://; got "nowhere" | did you mean "http://nowhere"?"#,
        ],
    );
    check(
        "phases: [{arrivalRate: many}]",
        &[
            r#"5:31: arrivalRate wants a number of users per second; got the text "many" | e.g. `arrivalRate: 5`"#,
        ],
    );
    check(
        "http: {timeout: soon, defaults: {headers: {x: \"{{ b }}\"}}}",
        &[
            r#"5:24: timeout wants a time: seconds, or a text like "500ms", "30s", "5m"; got the text "soon" | e.g. `timeout: 10`"#,
            r#"5:58: nothing sets the variable "b" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    );
    check(
        "ensure: {thresholds: [{p95: fast}]}",
        &[
            r#"5:36: the threshold on p95 wants a number; got the text "fast" | other comparisons, and `abortOnFail`, go into `conditions`"#,
        ],
    );
    check("http: {defaults: {headers: {x: \"{{ a }}\"}}}, phases: [{arrivalRate: 9}, {pause: 1}]", &[]);
    let both = script("target: nowhere");
    let chosen = Overrides { environment: Some("far".into()), ..Overrides::default() };
    assert_eq!(load_with(&both, &chosen).unwrap_err().0.len(), 1);
}

#[test]
fn an_environment_of_another_machine_needs_neither_its_files_nor_its_variables_here() {
    check("target: \"{{ $env.SONAGI_NO_SUCH_VARIABLE }}\"", &[]);
    check("payload: {path: nowhere.csv}, http: {defaults: {headers: {x: \"{{ column }}\"}}}", &[]);
    check(
        "phases: [{duration: \"{{ $env.SONAGI_NO_SUCH_VARIABLE }}\", arivalRate: 1}]",
        &[r#"5:66: unknown key "arivalRate" in a phase | did you mean "arrivalRate"?"#],
    );
    let chosen = Overrides { environment: Some("far".into()), ..Overrides::default() };
    let text = script("payload: {path: nowhere.csv}");
    let refused = load_with(&text, &chosen).unwrap_err().to_string();
    assert!(refused.contains("cannot read the payload nowhere.csv"), "{refused}");
}

#[test]
fn an_empty_environment_changes_nothing() {
    let text = script("").replace("{}}", "}");
    let chosen = Overrides { environment: Some("far".into()), ..Overrides::default() };
    assert_eq!(load_with(&text, &chosen).unwrap().plan.target, "http://t");
}

#[test]
fn environments_are_a_mapping() {
    let text = script("").replace("{far:\n      {}}", "[far]");
    assert_eq!(
        problems(&text),
        [
            r#"4:17: environments wants a mapping of named settings; got a list of 1 | e.g. `environments: {staging: {target: "https://staging.example"}}`"#,
        ]
    );
}

#[test]
fn an_environment_of_a_script_without_any_only_sets_the_name() {
    let text = "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\n\
        scenarios: [{flow: [{get: {url: \"/{{ $environment }}\"}}]}]\n";
    let chosen = Overrides { environment: Some("far".into()), ..Overrides::default() };
    let loaded = load_with(text, &chosen).unwrap();
    assert_eq!(notices(&loaded), [r#"2:3: the script has no `environments`: "far" only sets $environment"#]);
    assert!(sketch(&loaded.plan).contains("/far"));
}
