//! Keys that Artillery ignores and nothing depends on: reported in a run, refused in a strict one.

use crate::support::{load_text, load_with, notices, problems, stopping};
use sonagi_artillery::Overrides;

const HEAD: &str = "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\n";

/// A script with these lines of config from line 4, and a flow of these steps.
fn script(config: &str, steps: &str) -> String {
    format!("{HEAD}{config}scenarios: [{{flow: [{steps}]}}]\n")
}

/// A mistake that only a strict run stops at, and what any other says of it.
#[track_caller]
fn tolerated(text: &str, what: &str, outcome: &str) {
    assert_eq!(stopping(text), [""; 0], "{text}");
    let told = notices(&load_text(text).unwrap());
    assert!(told.iter().any(|told| told.contains(&format!(": {what}: {outcome}"))), "{text}\n{told:#?}");
    let refused = problems(text);
    assert!(refused.iter().any(|problem| problem.contains(what)), "{text}\n{refused:#?}");
}

/// A mistake that every run stops at.
#[track_caller]
fn refused(text: &str, what: &str) {
    let told = stopping(text);
    assert!(told.iter().any(|problem| problem.contains(what)), "{text}\n{told:#?}");
}

const IGNORED: &str = "ignored, as in Artillery";

#[test]
fn a_key_that_artillery_never_looks_at_is_told_and_the_run_goes_on() {
    let get = "{get: {url: /}}";
    for (line, key) in [
        ("version: 1", "version"),
        ("$schema: \"https://x\"", "$schema"),
        ("environment: staging", "environment"),
        ("name: a test", "name"),
    ] {
        let what = format!("unknown key \"{key}\" in a script");
        tolerated(&format!("{line}\n{}", script("", get)), &what, IGNORED);
    }
    tolerated(&script("  owner: me\n", get), "unknown key \"owner\" in config", IGNORED);
    tolerated(&script("  http: {zeal: 1}\n", get), "unknown key \"zeal\" in config.http", IGNORED);
    let step = |step: &str| script("", step);
    let request = |key: &str| format!("unknown key \"{key}\" in an HTTP request");
    tolerated(&step("{get: {url: /, think: 1}}"), &request("think"), IGNORED);
    tolerated(&step("{get: {url: /, description: x}}"), &request("description"), IGNORED);
    tolerated(&step("{get: {url: /}, comment: x}"), "unknown key \"comment\" in an HTTP step", IGNORED);
    tolerated(&step("{think: 1, comment: x}"), "unknown key \"comment\" in a think step", IGNORED);
}

#[test]
fn a_key_of_config_beside_it_or_in_a_phase_is_told_and_the_run_goes_on() {
    let get = "{get: {url: /}}";
    for line in [
        "environments: {far: {target: nowhere}}",
        "plugins: {expect: {}}",
        "ensure: {p95: 1}",
        "processor: x.js",
    ] {
        let key = line.split(':').next().unwrap();
        let what = format!("unknown key \"{key}\" in a script");
        tolerated(&format!("{line}\n{}", script("", get)), &what, IGNORED);
    }
    let phase = |key: &str| {
        format!(
            "config: {{target: \"http://t\", phases: [{{duration: 1, arrivalRate: 1, {key}: [x]}}]}}\nscenarios: [{{flow: [{get}]}}]\n"
        )
    };
    tolerated(&script("  expect: [{statusCode: 200}]\n", get), "unknown key \"expect\" in config", IGNORED);
    tolerated(&phase("payload"), "unknown key \"payload\" in a phase", IGNORED);
    tolerated(&phase("comment"), "unknown key \"comment\" in a phase", IGNORED);
    refused(&phase("target"), "unknown key \"target\" in a phase");
    refused(&phase("arivalRate"), "unknown key \"arivalRate\" in a phase");
    refused(&format!("phases: []\n{}", script("", get)), "unknown key \"phases\" in a script");
    let strict = problems(&format!("environments: {{}}\n{}", script("", get)));
    assert!(strict[0].contains("\"environments\" belongs in config (config)"), "{strict:?}");
}

#[test]
fn environments_beside_config_are_none_to_choose_from() {
    let text = format!("environments: {{far: {{target: \"http://f\"}}}}\n{}", script("", "{get: {url: /}}"));
    let chosen = Overrides { environment: Some("far".into()), ..Overrides::default() };
    let loaded = load_with(&text, &chosen).unwrap();
    assert_eq!(loaded.plan.target, "http://t", "as in Artillery");
    let told = notices(&loaded);
    let part = "the script has no `environments`: \"far\" only sets $environment";
    assert!(told.iter().any(|told| told.contains(part)), "{told:?}");
}

#[test]
fn what_ensure_and_expect_do_not_look_at_is_told_and_decides_nothing() {
    let decides = "it decides nothing, as in Artillery";
    let ensure = |inside: &str| {
        script(&format!("  plugins: {{ensure: {{}}}}\n  ensure: {{{inside}}}\n"), "{think: 1}")
    };
    let text = ensure("thresholds: [\"http.response_time.p95 < 200\"]");
    tolerated(
        &text,
        "a threshold is a metric and its limit; got the text \"http.response_time.p95 < 200\"",
        decides,
    );
    assert_eq!(load_text(&text).unwrap().plan.thresholds, []);
    let hint = "`conditions`, beside `thresholds`: `- expression: \"http.response_time.p95 < 200\"`";
    assert!(problems(&text)[0].contains(hint), "{:?}", problems(&text));
    let expect = script(
        "  plugins: {expect: {}}\n",
        "{get: {url: /, expect: [{maxResponseTime: 5000}, {statusCode: 200}]}}",
    );
    tolerated(&expect, "unknown key \"maxResponseTime\" in an HTTP step's expect", decides);
    tolerated(&ensure("maxVUsersPerSecond: 250"), "unknown key \"maxVUsersPerSecond\" in ensure", decides);
    refused(&ensure("maxErorRate: 1"), "unknown key \"maxErorRate\" in ensure");
    refused(&ensure("thresholds: [[a]]"), "thresholds wants a list of metric: limit");
}

#[test]
fn a_key_that_is_another_misspelt_or_in_the_wrong_place_stops_every_run() {
    let get = "{get: {url: /}}";
    refused(&script("", "{get: {url: /, captue: {json: $, as: a}}}"), "unknown key \"captue\"");
    refused(&script("  phase: []\n", get), "unknown key \"phase\" in config");
    refused(&script("  headers: {a: b}\n", get), "unknown key \"headers\" in config");
    refused(&script("", "{get: {url: /}, headers: {a: b}}"), "unknown key \"headers\" in an HTTP step");
    refused(&format!("target: \"http://t\"\n{}", script("", get)), "unknown key \"target\" in a script");
    refused(&script("", "{upload: {url: /}}"), "unknown step \"upload\"");
}

#[test]
fn a_key_that_artillery_hands_on_or_judges_by_stops_every_run() {
    let get = "{get: {url: /}}";
    refused(&script("  tls: {ciphers: x}\n", get), "unknown key \"ciphers\" in config.tls");
    refused(&script("  ws: {agent: x}\n", get), "unknown key \"agent\" in config.ws");
    refused(&script("", "{get: {url: /, expect: {statusCod: 200}}}"), "unknown key \"statusCod\"");
    refused(
        &script("", "{get: {url: /, maxRedirects: 1}}"),
        "\"maxRedirects\" in an HTTP request is refused",
    );
    refused(&script("  delivery: {patience: 1}\n", get), "unknown key \"patience\" in delivery");
}

#[test]
fn what_a_strict_run_refuses_says_what_another_does() {
    let text = format!("version: 1\n{}", script("", "{get: {url: /}}"));
    let strict = Overrides { strict: true, ..Overrides::default() };
    let refused = load_with(&text, &strict).unwrap_err();
    assert_eq!(refused.0[0].tolerated.as_deref(), Some(IGNORED));
    assert!(refused.to_string().ends_with("\n  without --strict: ignored, as in Artillery"), "{refused}");
}

#[test]
fn of_a_script_that_cannot_run_only_what_stops_it_is_told() {
    let text = format!("version: 1\n{}", script("  phase: []\n", "{get: {url: /}}"));
    assert_eq!(stopping(&text).len(), 1, "{:?}", stopping(&text));
    assert_eq!(problems(&text).len(), 2, "{:?}", problems(&text));
}

#[test]
fn a_variable_that_nothing_sets_is_undefined_unless_another_is_meant() {
    let undefined = "it is undefined, as in Artillery";
    let unset = script("", "{get: {url: \"/{{ id }}\"}}");
    tolerated(&unset, "nothing sets the variable \"id\"", undefined);
    let plan = load_text(&unset).unwrap().plan;
    assert!(plan.unset_fails, "of others it is not known");
    assert_eq!(plan.undefined.into_iter().collect::<Vec<_>>(), ["id"]);
    refused(&script("  variables: {token: x}\n", "{get: {url: \"/{{ tokn }}\"}}"), "\"tokn\"");
    tolerated(
        &script("", "{log: \"{{ $timestamp }}\"}"),
        "there is no template function $timestamp",
        undefined,
    );
    let text = "the text it stands in is undefined, as in Artillery";
    tolerated(
        &script("", "{log: \"a {{ $randomInt(1, 9) }}\"}"),
        "there is no template function $randomInt",
        text,
    );
    refused(&script("", "{log: \"{{ $randmNumber(1, 9) }}\"}"), "there is no template function $randmNumber");
    refused(&script("  pool: \"{{ id }}\"\n", "{think: 1}"), "unknown key \"pool\" in config");
    refused(&script("  http: {pool: \"{{ id }}\"}\n", "{think: 1}"), "must be known before the run starts");
}

#[test]
fn a_condition_may_ask_for_what_nothing_sets() {
    let undefined = "it is undefined, as in Artillery";
    let variables = "  variables: {endpoint1: a}\n";
    for condition in ["absent", "not absent", "absent == 1"] {
        let text = script(variables, &format!("{{think: 1, ifTrue: {condition}}}"));
        tolerated(&text, "nothing sets the variable \"absent\"", undefined);
    }
    let near = script(variables, "{think: 1, ifTrue: endpoint2}");
    tolerated(&near, "nothing sets the variable \"endpoint2\"", undefined);
}

#[test]
fn signs_of_javascript_in_a_condition_mean_what_they_say() {
    let step =
        |condition: &str| script("  variables: {n: 3}\n", &format!("{{think: 1, ifTrue: \"{condition}\"}}"));
    let condition = |text: &str| {
        let plan = format!("{:?}", load_text(text).unwrap().plan.scenarios);
        plan.split("condition: ").nth(1).unwrap().to_owned()
    };
    for (theirs, ours) in [("===", "=="), ("!==", "!="), ("&&", "and"), ("||", "or")] {
        let text = step(&format!("n {theirs} 3"));
        let outcome = format!("read as `{ours}`; Artillery cannot read the condition and takes it for true");
        tolerated(&text, &format!("conditions have no `{theirs}`"), &outcome);
        assert_eq!(condition(&text), condition(&step(&format!("n {ours} 3"))));
    }
    assert_eq!(condition(&step("!n")), condition(&step("not n")));
    refused(&step("n = 3"), "`=` is not an operator");
}

#[test]
fn a_mistake_in_an_environment_that_is_not_chosen_stops_no_run() {
    let text =
        script("  environments: {far: {target: nowhere}, near: {target: \"http://n\"}}\n", "{think: 1}");
    let outcome = "not looked at: the environment \"far\" is not chosen";
    let what = "target is an address that begins with http://, https://, ws:// or wss://; got \"nowhere\"";
    tolerated(&text, what, outcome);
    let chosen = Overrides { environment: Some("far".into()), ..Overrides::default() };
    assert_eq!(load_with(&text, &chosen).unwrap_err().0[0].tolerated, None);
}

#[test]
fn a_pause_among_the_defaults_is_ignored() {
    tolerated(&script("  defaults: {think: 2}\n", "{think: 1}"), "think wants a mapping; got 2", IGNORED);
    refused(&script("  defaults: {think: soon}\n", "{think: 1}"), "think wants a mapping");
}

#[test]
fn a_threshold_on_what_nothing_measures_is_told_before_the_run() {
    let ensure = |condition: &str, config: &str| {
        script(
            &format!(
                "{config}  plugins: {{ensure: {{}}}}\n  ensure: {{thresholds: [{{\"{condition}\": 1}}]}}\n"
            ),
            "{think: 1}",
        )
    };
    tolerated(&ensure("checkouts", ""), "nothing in the script measures `checkouts`", "it is not met");
    refused(&ensure("http.respons_time.p95", ""), "did you mean `http.response_time.p95`?");
    for metric in ["operations.GET /y.response_ms.p95", "delivery.lost", "vusers.created_by_name.night"] {
        tolerated(
            &ensure(metric, ""),
            &format!("nothing in the script measures `{metric}`"),
            "it is not met",
        );
    }
    let functions = "  processor: ./people.js\n";
    assert_eq!(problems(&ensure("checkouts", functions)), [""; 0], "a function may");
    let told = notices(&load_text(&ensure("http.respons_time.p95", functions)).unwrap());
    assert!(
        told.iter().any(|told| told.contains("did you mean `http.response_time.p95`?: it is not met unless")),
        "{told:?}"
    );
    let condition = |text: &str| {
        let plugins = "  plugins: {ensure: {}}\n";
        let ensure = format!("{functions}{plugins}  ensure: {{conditions: [{{expression: \"{text}\"}}]}}\n");
        script(&ensure, "{think: 1}")
    };
    assert_eq!(problems(&condition("new carts (all) == 1")), [""; 0], "a function may report this, too");
    for unfinished in ["vusers.failed <", "vusers.failed == 0 )", "(vusers.failed == 0"] {
        refused(&condition(unfinished), "in the condition: ");
    }
}

#[test]
fn a_template_function_that_is_elsewhere_known_is_told_with_what_to_write_instead() {
    let told = notices(&load_text(&script("", "{log: \"{{ $timestamp }}\"}")).unwrap());
    assert!(told[0].ends_with("it is undefined, as in Artillery; write {{ $now }}"), "{told:?}");
}

#[test]
fn a_variable_may_end_in_a_bracket() {
    let text = script("  variables: {\"price (EUR)\": 3}\n", "{get: {url: \"/pay/{{ price (EUR) }}/now\"}}");
    let plan = format!("{:?}", load_text(&text).unwrap().plan.scenarios);
    assert!(plan.contains("/pay/") && plan.contains("/now"), "{plan}");
}

#[test]
fn ensure_and_apdex_without_their_plugins_say_that_they_are_in_force() {
    let told = |config: &str| notices(&load_text(&script(config, "{think: 1}")).unwrap());
    let ensure = "  ensure: {conditions: [{expression: vusers.failed == 0}]}\n";
    let says =
        "4:3: ensure decides the run; Artillery looks at it only with `plugins: {ensure: {}}` in config";
    assert_eq!(told(ensure), [says]);
    let says = "4:3: apdex is counted; Artillery does so only with `plugins: {apdex: {}}` in config";
    assert_eq!(told("  apdex: {threshold: 100}\n"), [says]);
    assert_eq!(told(&format!("{ensure}  apdex: {{}}\n  plugins: {{ensure: {{}}, apdex: {{}}}}\n")), [""; 0]);
}

#[test]
fn what_the_command_line_says_is_known_to_all_of_config() {
    let text = script(
        "  variables: {made: \"of {{ host }}\", host: here}\n  http: {pool: \"{{ size }}\"}\n",
        "{think: 1}",
    );
    let variables = vec![("host".to_owned(), "there".into()), ("size".to_owned(), 7.into())];
    let plan = load_with(&text, &Overrides { variables, ..Overrides::default() }).unwrap().plan;
    assert_eq!(plan.http.pool, Some(7));
    let made = plan.variables.iter().find(|(name, _)| name == "made").unwrap();
    assert_eq!(made.1, ["of there"]);
}

#[test]
fn a_form_may_take_one_of_the_files_that_a_variable_names() {
    let step = |file: &str| format!("{{post: {{url: /, formData: {{file: {{fromFile: \"{file}\"}}}}}}}}");
    let files = |text: &str| {
        let plan = format!("{:?}", load_text(text).unwrap().plan.scenarios);
        ["s.yml", "users.csv", "people.js"].map(|name| plan.matches(&format!("name: \"{name}\"")).count())
    };
    let variables = "  variables: {which: [users.csv, people.js], folder: \".\"}\n";
    assert_eq!(files(&script(variables, &step("./{{ folder }}/{{ which }}"))), [0, 1, 1]);
    let missing = "  variables: {which: [users.csv, nowhere.txt]}\n";
    refused(&script(missing, &step("./{{ which }}")), "cannot read the file ./nowhere.txt");
    let captured = format!("{{get: {{url: /, capture: {{json: $, as: which}}}}}}, {}", step("./{{ which }}"));
    refused(&script(variables, &captured), "must be known before the run starts");
}

#[test]
fn options_of_a_payload_win_over_what_stands_beside_them() {
    let payload = |more: &str| {
        script(&format!("  payload: {{path: users.csv, fields: [a, b]{more}}}\n"), "{log: \"{{ a }}\"}")
    };
    let rows = |text: &str| load_text(text).unwrap().plan.payloads[0].rows[0].clone();
    assert_eq!(rows(&payload("")), ["email", "password"]);
    let text = payload(", delimiter: \";\", options: {delimiter: \",\", relax_column_count: true}");
    assert_eq!(rows(&text), ["email", "password"]);
    refused(&payload(", options: {columns: true}"), "unknown key \"columns\" in options of a payload");
}

#[test]
fn rows_of_a_payload_that_are_short_leave_variables_undefined_where_artillery_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let payload = |rows: &str, options: &str| {
        let file = folder.path().join("rows.csv");
        std::fs::write(&file, rows).unwrap();
        let payload =
            format!("  payload: {{path: {:?}, fields: [a, b]{options}}}\n", file.display().to_string());
        script(&payload, "{get: {url: \"/{{ a }}/{{ b }}\"}}")
    };
    let what = "line 1 of the payload has 1 column; fields names 2";
    let text = payload("x\ny\n", "");
    tolerated(&text, what, "b is undefined there, as in Artillery");
    assert_eq!(load_text(&text).unwrap().plan.undefined.into_iter().collect::<Vec<_>>(), ["b"]);
    let second = "line 2 of the payload has 1 column; fields names 2";
    refused(&payload("x,1\ny\n", ""), second);
    let relaxed = ", options: {relax_column_count: true}";
    tolerated(&payload("x,1\ny\n", relaxed), second, "b is undefined there, as in Artillery");
    refused(&payload("x;1\ny;2\n", ""), what);
}

#[test]
fn functions_that_the_processor_does_not_export_are_told_where_they_are_called() {
    let steps = "{function: pickPersn}, {get: {url: /, beforeRequest: [pickPerson, sign]}}";
    let loaded = load_text(&script("  processor: ./people.js\n", steps)).unwrap();
    assert!(loaded.calls_functions());
    let told = loaded.not_exported(&["pickPerson".to_owned()]).unwrap_err();
    let told: Vec<String> = told.0.iter().map(|problem| problem.to_string()).collect();
    assert!(told[0].ends_with("s.yml:5:32: the processor exports no function \"pickPersn\"\n  hint: did you mean \"pickPerson\"?"), "{told:?}");
    assert!(
        told[1].ends_with(": the processor exports no function \"sign\"\n  hint: it exports pickPerson"),
        "{told:?}"
    );
    assert_eq!(loaded.not_exported(&["pickPerson", "pickPersn", "sign"].map(str::to_owned)), Ok(()));
}
