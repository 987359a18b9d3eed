//! Notices for the author of a script that runs.

use crate::support::{load_text, notices};

const HEAD: &str = "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios:\n";

fn said(scenarios: &str) -> Vec<String> {
    notices(&load_text(&format!("{HEAD}{scenarios}")).unwrap())
}

#[test]
fn a_scenario_that_only_listens_in_a_room_is_tracked_when_another_stamps_into_it() {
    let listens = "  - {engine: ws, room: lobby, flow: [{connect: /ws}]}\n";
    let says = "  - {engine: ws, room: lobby, flow: [{send: \"{{ $stamp }}\"}]}\n";
    assert_eq!(said(&format!("{listens}{says}")), [""; 0]);
    assert_eq!(said(listens), ["5:18: rooms are not tracked: no message of any scenario holds {{ $stamp }}"]);
}

#[test]
fn a_stamp_in_a_scenario_that_no_user_runs_tracks_nothing() {
    let scenarios = "  - {engine: ws, room: lobby, flow: [{connect: /ws}]}\n\
        \x20 - {name: off, weight: 0, engine: ws, room: lobby, flow: [{send: \"{{ $stamp }}\"}]}\n";
    assert_eq!(
        said(scenarios),
        [
            "5:18: rooms are not tracked: no message of any scenario holds {{ $stamp }}",
            "6:17: the scenario \"off\" has weight 0 and is left out",
        ]
    );
}

#[test]
fn of_json_and_body_the_json_is_sent() {
    let post = "  - flow: [{post: {url: /, body: x, json: {a: 1}}}]\n";
    let text = "json is sent and body is not: a request has one body; remove one of them";
    assert_eq!(said(post), [format!("5:28: {text}")]);
}

/// A scenario over this engine with these lines of `config` (from line 4) and steps, and what is said of it.
fn of(engine: &str, config: &str, flow: &str) -> Vec<String> {
    let head = HEAD.trim_end_matches("scenarios:\n");
    let scenario = format!("scenarios:\n  - engine: {engine}\n    flow: [{flow}]\n");
    notices(&load_text(&format!("{head}{config}{scenario}")).unwrap())
}

#[test]
fn a_reconnect_that_takes_up_nothing_says_so() {
    const STEPS: &str = "{subscribe: a}, {think: 1}, {reconnect: true}, {reconnect: true}";
    let mute = "so what is sent meanwhile is not owed";
    for (engine, subscribe, unless) in [
        ("ws", "send: {join: \"{{ $room }}\" AFTER}", ""),
        ("stomp", "destination: \"/{{ $room }}\", headers: {x: y AFTER}", ""),
        (
            "socketio",
            "emit: [join, {room: \"{{ $room }}\" AFTER}]",
            ", unless the server recovers the session",
        ),
    ] {
        let lines = |after: &str, reconnect: &str| {
            let subscribe = subscribe.replace("AFTER", after);
            format!("  reconnect: {{cursor: seq{reconnect}}}\n  {engine}: {{subscribe: {{{subscribe}}}}}\n")
        };
        let said = format!(
            "8:40: reconnect: the subscription does not resume{unless}: nothing in it says {{{{ $cursor }}}}, {mute}"
        );
        assert_eq!(of(engine, &lines("", ""), STEPS), [said], "{engine}");
        assert_eq!(of(engine, &lines(", after: \"{{ $cursor }}\"", ""), STEPS), [""; 0], "{engine}");
        assert_eq!(of(engine, &lines("", ", resume: false"), STEPS), [""; 0], "it is not meant to: {engine}");
        let without = STEPS.replace(", {reconnect: true}", "");
        assert_eq!(of(engine, &lines("", ""), &without), [""; 0], "{engine}");
    }
    assert_eq!(of("sse", "  sse: {url: \"/{{ $room }}\"}\n", STEPS), [""; 0], "a stream has its own cursor");
}

#[test]
fn polls_that_all_ask_the_same_say_so() {
    let lines = |cursor: &str| format!("  poll: {{url: \"/{{{{ $room }}}}\", every: 1{cursor}}}\n");
    assert_eq!(of("poll", &lines(", cursor: {json: $.next, as: after}"), "{subscribe: a}"), [""; 0]);
    assert_eq!(
        of("poll", &lines(""), "{subscribe: a}"),
        [
            "4:9: polls without `cursor` all ask the same: what the target does not forget once it is answered comes with each of them, and counts as duplicates"
        ]
    );
    assert_eq!(of("ws", &lines(""), "{connect: /ws}"), [""; 0], "nobody polls");
}

/// A script that names a host there loads the target in Artillery: going elsewhere would load who was not meant.
#[test]
fn a_url_among_the_options_of_socketio_opens_nothing_there() {
    let text = format!("{HEAD}  - {{engine: socketio, socketio: {{url: \"http://c\"}}, flow: [{{emit: [a]}}, {{connect: {{url: \"http://d\"}}}}]}}\n")
        .replace("target: http://t", "target: http://t\n  socketio: {url: \"http://b\"}");
    let loaded = load_text(&text).unwrap();
    let plan = format!("{:?}", loaded.plan);
    let opened: Vec<_> = plan.match_indices("url: Some").map(|(at, _)| &plan[at..at + 50]).collect();
    assert_eq!(
        opened,
        ["url: Some(Template { pieces: [Text(\"http://d\")] })"],
        "only a connect step says where"
    );
    let told = notices(&loaded);
    assert_eq!(
        told.iter().filter(|notice| notice.contains("url: no effect, as in Artillery")).count(),
        1,
        "said once: {told:?}"
    );
}

/// The notices about a flow of HTTP steps, from line 6.
fn told(engine: &str, steps: &str) -> Vec<String> {
    said(&format!("  - {{engine: {engine}, flow: [{steps}]}}\n"))
}

#[test]
fn what_artillery_makes_something_else_of_is_told_once_where_it_is_used() {
    let check = |engine: &str, steps: &str, expected: &str| {
        let told = told(engine, steps);
        assert_eq!(told.iter().filter(|notice| notice.contains(expected)).count(), 1, "{steps}: {told:#?}");
    };
    let user = "{get: {url: /, capture: {json: $, as: user}}}";
    let dotted = "{think: 1, ifTrue: user.id == 1}";
    check(
        "http",
        &format!("{user}, {dotted}, {dotted}"),
        "a dot in a condition reaches into a variable here",
    );
    check("http", "{think: 1, ifTrue: $user != true}", "true and false in a condition are what they say");
    check(
        "http",
        "{parallel: [{think: 1}]}",
        "parallel: requests of one user are under way at the same time",
    );
    let nested = "{loop: [{log: '{{ $loopCount }}'}, {loop: [{think: 1}], count: 2}], count: 2}";
    check("http", nested, "$loopCount counts this loop's turns here");
    check("http", "{loop: [{think: 1}], count: 2, over: [1]}", "count: no effect beside over");
    let captures = "{emit: [a], acknowledge: {capture: {json: $.id, as: id}}}";
    check("socketio", captures, "a capture that finds nothing in a Socket.IO answer fails its user");
    let waits = "{wait: {match: {json: $.a, value: 1}}}";
    check("ws", &format!("{waits}, {waits}"), "non-matching messages are skipped");
}

#[test]
fn what_artillery_makes_the_same_of_is_not_told() {
    let quiet = [
        ("http", "{think: 1, ifTrue: '$user != 1'}"),
        (
            "http",
            "{loop: [{log: '{{ $loopCount }}'}, {loop: [{think: 1}], count: 2, loopValue: i}], count: 2}",
        ),
        (
            "http",
            "{loop: [{log: '{{ i }}'}, {loop: [{log: '{{ $loopCount }}'}], count: 2}], count: 2, loopValue: i}",
        ),
        ("http", "{loop: [{loop: [{log: '{{ $loopCount }}'}], count: 2}], count: 2}"),
        ("http", "{loop: [{think: 1}], over: [1]}"),
        ("socketio", "{emit: [a]}"),
        ("ws", "{send: a}"),
    ];
    for (engine, steps) in quiet {
        assert_eq!(told(engine, steps), [""; 0], "{steps}");
    }
}

#[test]
fn a_script_without_phases_has_one_user() {
    let text = "config: {target: http://t}\nscenarios: [{weight: 0.5, flow: [{think: 1}]}]\n";
    let loaded = load_text(text).unwrap();
    assert_eq!(loaded.plan.load.arrivals(1).count(), 1);
    assert_eq!(
        notices(&loaded),
        [
            "1:9: the script has no phases: one user runs, once; more come with `phases: [{duration: 60, arrivalRate: 5}]` in config",
            "2:14: weight: a fraction counts as it is here; Artillery takes its whole part, 0 of 0.5",
        ]
    );
}

#[test]
fn a_timeout_of_the_whole_config_wins_over_those_of_its_sections() {
    let head = HEAD.trim_end_matches("scenarios:\n");
    let script = |config: &str| {
        load_text(&format!("{head}{config}scenarios: [{{flow: [{{get: {{url: /}}}}]}}]\n")).unwrap()
    };
    let both = script("  timeout: 2\n  http: {timeout: 30}\n  ws: {timeout: 40}\n");
    assert_eq!((both.plan.http.timeout.as_secs(), both.plan.websocket.timeout.as_secs()), (2, 2));
    let text = "timeout: no effect, as in Artillery; `config.timeout` wins";
    assert_eq!(notices(&both), [format!("5:10: {text}")], "once");
    let own = script("  http: {timeout: 30}\n  ws: {timeout: 40}\n");
    assert_eq!((own.plan.http.timeout.as_secs(), own.plan.websocket.timeout.as_secs()), (30, 40));
    assert_eq!(notices(&own), [""; 0]);
}

#[test]
fn what_before_sets_under_a_name_of_config_is_told_to_be_hidden() {
    let head = HEAD.trim_end_matches("scenarios:\n");
    let said = |variables: &str| {
        let config = format!(
            "{head}  variables: {variables}\nbefore: {{flow: [{{get: {{url: /, capture: {{json: $.t, as: token}}}}}}]}}\n"
        );
        notices(
            &load_text(&format!("{config}scenarios: [{{flow: [{{get: {{url: \"/{{{{ token }}}}\"}}}}]}}]\n"))
                .unwrap(),
        )
    };
    let text =
        r#"what it sets as "token" no user sees: `config.variables` or a payload wins, as in Artillery"#;
    assert_eq!(said("{token: x}"), [format!("5:9: {text}")]);
    assert_eq!(said("{other: x}"), [""; 0]);
}

#[test]
fn a_scenarios_functions_around_requests_are_not_called_for_its_messages() {
    let config = "  processor: ./people.js\n  poll: {url: \"/{{ $room }}\", every: 1, cursor: {json: $.next, as: after}, publish: {post: {url: /x, json: \"{{ $message }}\"}}}\n";
    let scenario = |hook: &str| {
        let head = HEAD.trim_end_matches("scenarios:\n");
        let flow = "[{subscribe: a}, {send: x, to: a}, {send: y, to: a}, {get: {url: /}}]";
        let text = format!("{head}{config}scenarios:\n  - engine: poll\n{hook}    flow: {flow}\n");
        notices(&load_text(&text).unwrap())
    };
    for hook in ["beforeRequest", "afterResponse", "onError"] {
        let told = scenario(&format!("    {hook}: pickPerson\n"));
        let text = "the scenario's functions around requests are not called for what `publish` sends";
        assert_eq!(told.iter().filter(|told| told.contains(text)).count(), 1, "{hook}: {told:?}");
    }
    assert_eq!(scenario(""), [""; 0]);
}

/// The notices about a payload with these keys, and the first values that a user gets from it.
fn of_payload(keys: &str, file: &str) -> Result<(Vec<String>, Vec<serde_json::Value>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(folder.path().join("rows.csv"), file).unwrap();
    let text = format!(
        "config:\n  target: http://t\n  phases: [{{duration: 1, arrivalRate: 1}}]\n  payload: {{path: rows.csv, {keys}}}\n\
         scenarios:\n  - flow: [{{get: {{url: /}}}}]\n"
    );
    std::fs::write(&path, text).unwrap();
    let loaded = sonagi_artillery::load(&path, &sonagi_artillery::Overrides::default());
    let loaded =
        loaded.map_err(|problems| problems.to_string().replace(&path.display().to_string(), "s.yml"))?;
    let rows = &loaded.plan.payloads[0].rows;
    Ok((notices(&loaded), rows[0].clone()))
}

#[test]
fn a_first_row_that_names_the_fields_is_no_values_unless_the_script_says_so() {
    let skipped = "4:19: the payload's first row names the fields: it is skipped (Artillery would use it as values); \
                   set `skipHeader: true` or `skipHeader: false` to say which is meant";
    let file = "email,password,id,token\na@example.test,secret,1,x\n";
    let fields = "fields: [email, password]";
    for (more, said, first) in [
        ("", &[skipped][..], "a@example.test"),
        (", skipHeader: true", &[], "a@example.test"),
        (", skipHeader: false", &[], "email"),
    ] {
        let (notices, row) = of_payload(&format!("{fields}{more}"), file).unwrap();
        assert_eq!(
            (notices.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), row[0].as_str()),
            (said, Some(first))
        );
    }
    // Other names for the columns: the first row may be anything.
    assert_eq!(of_payload("fields: [mail, word]", file).unwrap().0, [""; 0]);
}

#[test]
fn fields_in_another_order_than_the_first_row_has_them_are_a_problem() {
    let said = of_payload("fields: [email, id]", "id,email,password\n1,a@example.test,x\n").unwrap_err();
    assert_eq!(
        said,
        "s.yml:4:19: `fields` names the payload's columns in their order; its first row says id, email, password, \
         fields says email, id\n  hint: remove `fields`, and the first row names the columns; or list its names in that order"
    );
}
