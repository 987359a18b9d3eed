//! Scripts as they are found in the field load, and the plan says what they say.
//!
//! Each `scripts/X.yml` has its plan and notices beside it in `X.plan`; `UPDATE_PLANS=1 cargo test -p sonagi-artillery`
//! writes them anew, to be read before they are committed.

use crate::sketch::sketch;
use crate::support::{load_with, loaded, notices, repository, script};
use serde_json::json;
use sonagi_artillery::plan::{Source, Step};
use sonagi_artillery::{Loaded, Overrides, load_each};

fn check_as(name: &str, golden: &str, overrides: &Overrides) -> Loaded {
    let loaded = loaded(&script(&format!("{name}.yml")), overrides);
    let mut text = sketch(&loaded.plan);
    for notice in notices(&loaded) {
        text.push_str(&format!("notice {notice}\n"));
    }
    let path = script(&format!("{golden}.plan"));
    if std::env::var_os("UPDATE_PLANS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{}", path.display());
    loaded
}

fn check(name: &str) -> Loaded {
    check_as(name, name, &Overrides::default())
}

#[test]
fn http_steps_with_their_options_load() {
    check("http-crud");
}

#[test]
fn all_forms_of_loops_load() {
    check("loops");
}

#[test]
fn conditions_steps_in_parallel_and_made_up_data_load() {
    check("turns");
}

#[test]
fn an_environment_is_laid_over_config_and_lists_merge_by_index() {
    check("environments");
    let chosen = |name: &str| Overrides { environment: Some(name.into()), ..Overrides::default() };
    check_as("environments", "environments-staging", &chosen("staging"));
    check_as("environments", "environments-load", &chosen("load"));
}

#[test]
fn payload_files_are_read_with_their_types() {
    check("payloads");
    check("ragged");
}

#[test]
fn socketio_emits_in_all_forms_load() {
    check("socketio-emit");
}

#[test]
fn a_token_from_a_login_reaches_the_socketio_handshake() {
    check("socketio-v3-token");
}

#[test]
fn websocket_steps_load() {
    check("websocket");
}

#[test]
fn a_room_is_joined_after_the_named_step_and_left_before_the_other() {
    check("websocket-room");
}

#[test]
fn a_closed_model_moves_its_population_by_stages() {
    check("closed");
}

#[test]
fn all_forms_of_ensure_become_thresholds() {
    check("ensure");
}

#[test]
fn steps_have_their_scenarios_tags_and_their_own_over_them() {
    check("tags");
}

#[test]
fn one_script_becomes_the_same_conversation_over_each_transport() {
    let runs = load_each(&script("transports.yml"), &Overrides::default()).unwrap();
    let names: Vec<String> = runs.iter().map(|run| run.plan.name.clone()).collect();
    assert_eq!(names.len(), 12);
    assert_eq!((names[0].as_str(), names[11].as_str()), ("transports-poll-1000", "transports-socketio-5000"));
    for run in runs.into_iter().step_by(2) {
        let golden = format!("transports-{}", run.combination.0[0].1.as_str().unwrap());
        let overrides = Overrides { combination: Some(run.combination), ..Overrides::default() };
        let loaded = check_as("transports", &golden, &overrides);
        let serve = loaded.serve.unwrap().arguments;
        assert_eq!(serve, ["--workers=1", "--fault=drop=3%,seed=7", "--ping-interval=2500ms"]);
    }
}

#[test]
fn stomp_steps_load() {
    check("stomp");
}

#[test]
fn streams_and_polls_load_with_and_without_a_room() {
    check("pull");
}

#[test]
fn whatever_a_part_of_a_script_may_say_loads() {
    for name in [
        "served",
        "launched",
        "launched-host",
        "restarted",
        "processor",
        "responses",
        "sockets",
        "socketio-settings",
        "pull-settings",
        "stomp-settings",
    ] {
        check(name);
    }
    check("figures");
    check("settings");
}

#[test]
fn flags_are_those_of_the_expression_they_stand_beside() {
    let plan = loaded(&script("responses.yml"), &Overrides::default()).plan;
    let Step::Http(page) = &plan.scenarios[0].flow[0] else { panic!("{:?}", plan.scenarios[0].flow) };
    for (source, text) in [(&page.captures[0].from, "id=Ab"), (&page.matches[1].from, "YES")] {
        let Source::Regexp { regex, .. } = source else { panic!("{source:?}") };
        assert!(regex.is_match(text), "{regex}");
    }
}

#[test]
fn what_before_captures_is_known_to_all_flows() {
    check("before-after");
}

#[test]
fn functions_stand_around_before_and_its_requests() {
    let functions = "beforeScenario: pickPerson, afterScenario: pickPerson, beforeRequest: pickPerson, afterResponse: pickPerson, onError: pickPerson";
    let text = format!(
        "config: {{target: http://t, processor: ./people.js}}\nbefore: {{{functions}, flow: [{{get: {{url: /}}}}]}}\nscenarios: [{{flow: [{{think: 1}}]}}]\n"
    );
    let plan = load_with(&text, &Overrides::default()).unwrap().plan;
    let [Step::Call(first), Step::Http(request), Step::Call(last)] = plan.before.as_slice() else {
        panic!("{:?}", plan.before)
    };
    assert_eq!([&first.function, &last.function], ["pickPerson"; 2]);
    let hooks = request.hooks.as_ref().unwrap();
    assert_eq!([hooks.before.len(), hooks.after.len(), hooks.on_error.len()], [1; 3]);
    assert!(!plan.unset_fails, "functions may set anything");
}

#[test]
fn an_emit_may_open_its_session_anew() {
    let text = "config: {target: http://t}\nscenarios: [{engine: socketio-v3, flow: [{emit: [a]}, {emit: [b], reconnect: true}, {emit: [c], reconnect: false}]}]\n";
    let plan = load_with(text, &Overrides::default()).unwrap().plan;
    let kinds: Vec<&str> = plan.scenarios[0]
        .flow
        .iter()
        .map(|step| match step {
            Step::Disconnect => "disconnect",
            Step::SocketioEmit(_) => "emit",
            Step::SocketioConnect(_) => "connect",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["connect", "emit", "disconnect", "emit", "emit"]);
}

#[test]
fn a_published_socketio_script_loads() {
    check("seed-blog");
}

#[test]
fn the_demo_scripts_load() {
    for name in ["chat.yml", "room.yml"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::copy(repository("examples/demo").join(name), &path).unwrap();
        let rows = "email,password,id\nuser1@example.test,password,1\n";
        std::fs::write(folder.path().join("credentials.csv"), rows).unwrap();
        let demo = loaded(&path, &Overrides::default());
        assert!(demo.plan.delivery.is_some(), "{name} stamps its messages");
    }
}

const SMALL: &str = "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}, {pause: 2}]\n  variables: {a: 1, b: [1, 2]}\nscenarios: [{flow: [{get: {url: \"/{{ a }}/{{ b }}/{{ c }}\"}}]}]\n";

#[test]
fn the_command_line_wins_over_the_script() {
    let overrides = Overrides {
        target: Some("http://u".into()),
        variables: vec![("a".into(), json!("x")), ("c".into(), json!([7, 8]))],
        overrides: Some(json!({"config": {"phases": [{"duration": 9, "arrivalCount": 4}]}})),
        insecure: true,
        name: Some("night".into()),
        ..Overrides::default()
    };
    let plan = load_with(SMALL, &overrides).unwrap().plan;
    assert_eq!(
        (plan.name.as_str(), plan.target.as_str(), plan.verify_certificates),
        ("night", "http://u", false)
    );
    assert_eq!(
        format!("{:?}", plan.variables),
        r#"[("a", [String("x")]), ("b", [Number(1), Number(2)]), ("c", [Number(7), Number(8)])]"#
    );
    let sonagi_artillery::schedule::Load::Open { phases, .. } = plan.load else { panic!("open") };
    assert_eq!(phases.len(), 1);
    assert_eq!(phases[0].shape, sonagi_artillery::schedule::Shape::Count(4));
}

#[test]
fn a_mistake_in_overrides_is_placed_there() {
    let overrides = Overrides {
        variables: vec![("c".into(), json!(1))],
        overrides: Some(json!({"config": {"phases": [{"duration": 9, "arivalCount": 4}]}})),
        ..Overrides::default()
    };
    let problems = load_with(SMALL, &overrides).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "--overrides: unknown key \"arivalCount\" in a phase\n  hint: did you mean \"arrivalCount\"?"
    );
}

#[test]
fn an_unknown_environment_names_those_there_are() {
    let overrides = Overrides { environment: Some("stagin".into()), ..Overrides::default() };
    let problems = sonagi_artillery::load(&script("environments.yml"), &overrides).unwrap_err();
    let said =
        problems.0.iter().map(|problem| (problem.what.as_str(), problem.hint.as_deref())).collect::<Vec<_>>();
    assert_eq!(said, [("the script has no environment \"stagin\"", Some("did you mean \"staging\"?"))]);
}

#[test]
fn a_json_script_is_yaml_too() {
    let text = "{\n\t\"config\": {\"target\": \"http://t\", \"phases\": [{\"duration\": 1, \"arrivalRate\": 2}]},\n\t\"scenarios\": [{\"flow\": [{\"get\": {\"url\": \"/\\u00e9\"}}]}]\n}\n";
    let plan = load_with(text, &Overrides::default()).unwrap().plan;
    assert_eq!(plan.operations[0].name, "GET /é");
}
