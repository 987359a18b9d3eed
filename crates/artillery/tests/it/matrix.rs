//! A matrix: its runs, and what is wrong in all or some of them.

use crate::support::{load_text, notices, problems};
use serde_json::json;
use sonagi_artillery::{Combination, Loaded, Overrides, Problems, load, load_each};

const FLOW: &str = "scenarios: [{flow: [{get: {url: \"/{{ path }}/{{ n }}\"}}]}]\n";

/// A script with these lines at the top, from line 1, and `config` after them.
fn script(lines: &str) -> String {
    format!("{lines}config:\n  target: http://t\n  phases: [{{duration: 1, users: \"{{{{ n }}}}\"}}]\n{FLOW}")
}

fn each_with(text: &str, overrides: &Overrides) -> Result<Vec<Loaded>, Problems> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(&path, text).unwrap();
    load_each(&path, overrides)
}

fn said(text: &str, overrides: &Overrides) -> Vec<String> {
    let problems = each_with(text, overrides).map(|_| ()).unwrap_err();
    problems
        .0
        .into_iter()
        .map(|problem| {
            let hint = problem.hint.map(|hint| format!(" | {hint}")).unwrap_or_default();
            format!("{}:{}: {}{hint}", problem.line, problem.column, problem.what)
        })
        .collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(said(text, &Overrides::default()), expected, "{text}");
}

#[test]
fn a_script_is_read_once_per_combination_in_the_order_of_its_axes() {
    let runs = each_with(&script("matrix: {path: [a, b], n: [1, 2, 3]}\n"), &Overrides::default()).unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run.plan.name.as_str()).collect();
    assert_eq!(names, ["s-a-1", "s-a-2", "s-a-3", "s-b-1", "s-b-2", "s-b-3"]);
    assert_eq!(runs[4].combination, Combination(vec![("path".into(), json!("b")), ("n".into(), json!(2))]));
    assert_eq!(runs[4].plan.load.end().0, 1_000_000_000);
    assert_eq!(format!("{:?}", runs[4].plan.load).matches("users: 2").count(), 1);
    assert_eq!(runs[4].plan.variables, [("path".into(), vec![json!("b")]), ("n".into(), vec![json!(2)])]);
    assert_eq!(runs[4].plan.source["matrix"], json!({"path": "b", "n": 2}));
}

#[test]
fn a_script_without_a_matrix_is_one_run() {
    let text = script("").replace("{{ n }}", "3").replace("{{ path }}", "x");
    let runs = each_with(&text, &Overrides::default()).unwrap();
    assert_eq!((runs.len(), runs[0].plan.name.as_str()), (1, "s"));
    assert_eq!(runs[0].combination, Combination::default());
}

#[test]
fn loading_one_run_takes_the_first_or_the_one_that_is_asked_for() {
    let text = script("matrix: {path: [a, b], n: 1}\n");
    assert_eq!(load_text(&text).unwrap().plan.name, "s-a-1");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(&path, &text).unwrap();
    let combination = Some(Combination(vec![("path".into(), json!("b")), ("n".into(), json!(1))]));
    let one = load(&path, &Overrides { combination, ..Overrides::default() }).unwrap();
    assert_eq!(one.plan.name, "s-b-1");
}

#[test]
fn a_matrix_is_narrowed_by_the_values_left() {
    let text = script("matrix: {path: [a, b], n: [1, 2, 3]}\n");
    let narrow = |axis: &str, values: &[&str]| Overrides {
        matrix: vec![(axis.into(), values.iter().map(|value| (*value).to_owned()).collect())],
        ..Overrides::default()
    };
    let names = |overrides: &Overrides| -> Vec<String> {
        each_with(&text, overrides).unwrap().into_iter().map(|run| run.plan.name).collect()
    };
    assert_eq!(names(&narrow("n", &["3", "1"])), ["s-a-1", "s-a-3", "s-b-1", "s-b-3"]);
    assert_eq!(said(&text, &narrow("m", &["1"])), ["0:0: the matrix has no axis \"m\" | its axes: path, n"]);
    assert_eq!(
        said(&text, &narrow("n", &["1", "9"])),
        ["0:0: the axis n has no value \"9\" | its values: 1, 2, 3"]
    );
    let twice = Overrides {
        matrix: [("n", "1"), ("n", "2")].map(|(axis, value)| (axis.into(), vec![value.into()])).into(),
        ..Overrides::default()
    };
    assert_eq!(said(&text, &twice), ["0:0: the axis n is narrowed twice | write `--matrix n=1,2`"]);
    let plain = script("").replace("{{ n }}", "3").replace("{{ path }}", "x");
    assert_eq!(
        said(&plain, &narrow("n", &["1"])),
        ["0:0: the matrix has no axis \"n\" | the script has no `matrix`"]
    );
}

#[test]
fn what_is_wrong_in_some_runs_names_those() {
    check(
        &script("matrix: {path: [a, b], n: [1, some, 2]}\n"),
        &[
            r#"4:33: users wants a whole number of users; got the text "{{ n }}" (with n: some) | e.g. `users: 100`"#,
        ],
    );
    let all = script("matrix: {path: [a, b], n: [1, 2]}\n").replace("target", "tarket");
    check(&all, &[r#"3:3: unknown key "tarket" in config | did you mean "target"?"#]);
}

#[test]
fn mistakes_in_a_matrix_are_placed_and_hide_nothing_else() {
    check(
        &script("matrix: {path: [], n: [1, 1, {a: 1}], $x: 1, target: [a]}\n").replace("users:", "usrs:"),
        &[
            "1:16: the axis path has no values",
            "1:27: the axis n has 1 twice",
            "1:30: the axis n lists plain values; got a mapping | write `n: [a, b]`",
            r#"1:39: an axis has the name of a variable; got "$x""#,
            "1:46: an axis cannot be called target: every script has one | call it `service`, say, and write `target: \"{{ service }}\"` in config",
            r#"4:26: unknown key "usrs" in a phase | did you mean "users"?"#,
        ],
    );
    // A consequence of a wrong axis is not judged.
    check(&script("matrix: {path: a, n: []}\n"), &["1:22: the axis n has no values"]);
    check(
        &script("matrix: [a]\n").replace("{{ n }}", "1").replace("{{ path }}", "x"),
        &[
            "1:9: matrix wants a mapping of names to lists; got a list of 1 | e.g. `matrix: {transport: [sse, ws], users: [100, 1000]}`",
        ],
    );
}

#[test]
fn an_axis_is_no_variable_of_the_script_besides() {
    let text =
        script("matrix: {path: [a, b], n: 1}\n").replace("  phases", "  variables: {path: c}\n  phases");
    check(
        &text,
        &[
            "1:10: path is an axis of the matrix, and a variable too | call one of them otherwise; --matrix narrows an axis",
        ],
    );
    let given = Overrides { variables: vec![("n".into(), json!(3))], ..Overrides::default() };
    let text = script("matrix: {path: [a, b], n: 1}\n");
    assert_eq!(
        said(&text, &given),
        [
            "1:24: n is an axis of the matrix, and a variable too | call one of them otherwise; --matrix narrows an axis"
        ]
    );
}

#[test]
fn more_runs_than_anybody_waits_for_are_refused() {
    let numbers = |most: usize| (1..=most).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = script(&format!("matrix: {{path: [{}], n: [{}]}}\n", numbers(101), numbers(10)));
    check(
        &text,
        &[
            "1:10: a matrix is at most 1000 runs; this one has more | narrow it to the values you need: --matrix name=value,value",
        ],
    );
}

#[test]
fn a_notice_of_all_runs_is_said_once() {
    let text = script("matrix: {path: [a, b], n: [1, 2]}\n").replace("{get:", "{think: 0.5}, {get:");
    let runs = each_with(&text, &Overrides::default()).unwrap();
    assert_eq!(runs.iter().map(|run| notices(run).len()).collect::<Vec<_>>(), [1, 0, 0, 0]);
}

#[test]
fn a_service_is_brought_along_unless_a_target_is_given() {
    let text = script("serve: {workers: 2, origin: [a, b], account: \"a@b.test:1\", loginRate: 50, passwordCost: 64, null: true, grace: 500ms}\n")
        .replace("{{ n }}", "1")
        .replace("{{ path }}", "x");
    let loaded = load_text(&text).unwrap();
    assert_eq!(
        loaded.serve.as_ref().unwrap().arguments,
        [
            "--workers=2",
            "--account=a@b.test:1",
            "--login-rate=50",
            "--password-cost=64",
            "--origin=a",
            "--origin=b",
            "--grace=500ms",
            "--null"
        ]
    );
    assert_eq!(
        notices(&loaded),
        ["3:3: target: no effect; the service that `serve` starts is the target, or what --target names"]
    );
    let given = Overrides { target: Some("http://u".into()), ..Overrides::default() };
    let runs = each_with(&text, &given).unwrap();
    assert_eq!((runs[0].serve.clone(), runs[0].plan.target.as_str()), (None, "http://u"));
    let plain = text.replace("{workers: 2, origin: [a, b], account: \"a@b.test:1\", loginRate: 50, passwordCost: 64, null: true, grace: 500ms}", "true");
    let without = plain.replace("  target: http://t\n", "");
    assert_eq!(load_text(&without).unwrap().serve.unwrap().arguments, Vec::<String>::new());
}

#[test]
fn what_is_said_of_any_launched_service_may_be_said_of_the_one_that_is_brought_along() {
    let text = "config:\n  variables: {lag: 20ms}\n  phases: [{duration: 1, arrivalRate: 1}]\nmatrix: {n: [1, 2]}\n\
                serve:\n  workers: 1\n  limits: {cpu: \"{{ n }}\", network: {latency: \"{{ lag }}\"}}\n  \
                before: ./a.sh\nscenarios: [{flow: [{get: {url: /}}]}]\n";
    let runs = each_with(text, &Overrides::default()).unwrap();
    for (run, cpu) in runs.iter().zip(["1", "2"]) {
        let serve = run.serve.as_ref().unwrap();
        assert_eq!(serve.arguments, ["--workers=1"], "these are no options of the command");
        let limits = json!({ "cpu": cpu, "network": { "latency": "20ms" } });
        assert_eq!(serve.launch, json!({ "limits": limits, "before": "./a.sh" }));
        assert_eq!(run.launch, None);
    }
    let refuses: sonagi_artillery::RefusesLaunch = |said| {
        assert!(said["command"].is_string(), "it is judged as any other: {said}");
        let refused = |pointer: &str, is_key| sonagi_artillery::RefusedLaunch {
            pointer: pointer.to_owned(),
            is_key,
            what: format!("{pointer} is wrong"),
            hint: None,
        };
        vec![refused("/limits/cpu", false), refused("/limits/network", true), refused("/before", false)]
    };
    let refusing = Overrides { launch: Some(refuses), ..Overrides::default() };
    let mut told = said(text, &refusing);
    told.sort();
    told.dedup();
    let expected = ["7:17: /limits/cpu is wrong", "7:28: /limits/network is wrong", "8:11: /before is wrong"];
    assert_eq!(told, expected);
}

#[test]
fn a_launched_service_has_the_values_of_its_run_and_its_mistakes_have_their_places() {
    let text = "config:\n  target: http://t\n  launch:\n    command: [node, \"{{ n }}\"]\n    limits: { cpu: x }\n  \
                phases: [{duration: 1, arrivalRate: 1}]\nmatrix: {n: [1, 2]}\nscenarios: [{flow: [{get: {url: /}}]}]\n";
    let runs = each_with(text, &Overrides::default()).unwrap();
    let launched: Vec<_> = runs.iter().map(|run| run.launch.clone().unwrap()["command"].clone()).collect();
    assert_eq!(launched, [serde_json::json!(["node", "1"]), serde_json::json!(["node", "2"])]);
    let given = Overrides { target: Some("http://u".into()), ..Overrides::default() };
    assert_eq!(each_with(text, &given).unwrap()[0].launch, None);
    let refuses: sonagi_artillery::RefusesLaunch = |_| {
        [("/limits/cpu", false), ("/limits", true), ("/command/1", false), ("", false), ("/nowhere", false)]
            .map(|(pointer, is_key)| sonagi_artillery::RefusedLaunch {
                pointer: pointer.to_owned(),
                is_key,
                what: format!("{pointer} is wrong"),
                hint: None,
            })
            .to_vec()
    };
    let refusing = Overrides { launch: Some(refuses), ..Overrides::default() };
    let problems = each_with(text, &refusing).unwrap_err();
    let mut told: Vec<String> = problems
        .0
        .iter()
        .map(|problem| format!("{}:{} {}", problem.line, problem.column, problem.what))
        .collect();
    told.sort();
    told.dedup();
    let expected = [
        "4:21 /command/1 is wrong",
        "4:5  is wrong",
        "4:5 /nowhere is wrong",
        "5:20 /limits/cpu is wrong",
        "5:5 /limits is wrong",
    ];
    assert_eq!(told, expected);
}

#[test]
fn mistakes_in_the_options_of_the_service_are_placed_and_explained() {
    let text =
        |serve: &str| script(&format!("serve: {serve}\n")).replace("{{ n }}", "1").replace("{{ path }}", "x");
    assert_eq!(
        problems(&text(
            "{worker: 1, listen: \"127.0.0.1:1\", seedUsers: many, grace: soon, null: 3, store: [a], account: {a: 1}, loginRate: often, passwordCost: high}"
        )),
        [
            r#"1:9: unknown key "worker" in serve | did you mean "workers"?"#,
            r#"1:20: "listen" in serve is refused: each run takes a free port of 127.0.0.1 | remove it"#,
            r#"1:54: seedUsers wants a whole number of users; got the text "many" | e.g. `seedUsers: 100`"#,
            r#"1:67: grace wants a time: seconds, or a text like "500ms", "30s", "5m"; got the text "soon" | e.g. `grace: 2`"#,
            "1:79: null wants true or false; got 3 | e.g. `null: true`",
            "1:89: store wants `memory`, or a file's name; got a list of 1 | e.g. `store: memory`",
            r#"1:103: account wants `EMAIL:PASSWORD` or a list of them; got a mapping | e.g. `account: "ann@example.test:secret"`"#,
            r#"1:122: loginRate wants a whole number; got the text "often" | e.g. `loginRate: 50`"#,
            r#"1:143: passwordCost wants a whole number of KiB; got the text "high" | e.g. `passwordCost: 64`"#,
        ]
    );
    assert_eq!(
        problems(&text("1")),
        ["1:8: serve wants true, or a mapping; got 1 | e.g. `serve: {workers: 1}`"]
    );
}

#[test]
fn a_script_says_how_often_it_is_run_and_what_is_compared() {
    let lines = "matrix: {path: [a, b], n: [1, 2]}\nrepeat: 5\n\
                 compare: {across: n, primary: kinds.http.response_ms.p99, margin: 2.5%}\n";
    let experiment = &each_with(&script(lines), &Overrides::default()).unwrap()[0].experiment;
    assert_eq!(experiment.repeat, Some(5));
    let compare = experiment.compare.clone().unwrap();
    assert_eq!((compare.across.as_str(), compare.margin), ("n", Some(0.025)));
    assert_eq!(compare.primary.as_deref(), Some("kinds.http.response_ms.p99"));
    // The only axis needs no name.
    let one = script("matrix: {n: [1, 2]}\ncompare: {}\n").replace("{{ path }}", "x");
    let compare = each_with(&one, &Overrides::default()).unwrap()[0].experiment.compare.clone().unwrap();
    assert_eq!((compare.across.as_str(), compare.primary, compare.margin), ("n", None, None));
}

#[test]
fn mistakes_in_what_is_repeated_and_compared_are_said_before_the_first_run() {
    let with = |lines: &str| script(&format!("matrix: {{path: [a, b], n: [1, 2]}}\n{lines}"));
    check(
        &with(
            "repeat: 0\ncompare: {across: m, primary: operations.list.response_ms.p99, margin: 100%, best: 1}\n",
        ),
        &[
            "2:1: repeat is a whole number from 1 to 1000; got 0 | five runs are the least that decide",
            r#"3:11: the matrix has no axis "m" | its axes: path, n"#,
            "3:31: primary: nothing in the script measures `operations.list.response_ms.p99` | the operations of the script are: GET /{{ path }}/{{ n }}",
            r#"3:72: a margin is more than 0 % and less than 100 %, e.g. 5% or 0.05; got the text "100%""#,
            r#"3:78: unknown key "best" in compare | known keys: across, primary, margin"#,
        ],
    );
    check(&with("compare: {}\n"), &["2:10: compare does not say across which axis | e.g. `across: path`"]);
    let plain = script("compare: {across: n}\n").replace("{{ n }}", "3").replace("{{ path }}", "x");
    check(
        &plain,
        &[
            "1:1: compare is across an axis, and the script has no matrix | add `matrix: {pool: [2, 10, 50]}`; two sets of runs are compared by `sonagi compare`",
        ],
    );
}
