//! Mistakes in what rooms are over each transport, and in how a lost connection comes back.

use crate::support::{every_problem, problems};

const HEAD: &str = "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\n";

/// A script with these lines of `config`, from line 4, and one scenario with these items of a flow.
fn script(config: &str, engine: &str, flow: &str) -> String {
    format!("{HEAD}{config}scenarios:\n  - engine: {engine}\n    flow:\n{flow}")
}

fn check(config: &str, engine: &str, flow: &str, expected: &[&str]) {
    let text = script(config, engine, flow);
    assert_eq!(problems(&text), expected, "{text}");
}

const WS: &str = "  ws: {subscribe: {send: {join: \"{{ $room }}\"}}, publish: {send: {to: \"{{ $room }}\", what: \"{{ $message }}\"}}}\n";

#[test]
fn what_a_block_lacks_is_told_with_lines_that_work() {
    for (engine, opens) in [
        ("ws", "has no `subscribe`"),
        ("socketio", "has no `subscribe`"),
        ("socketio-v3", "has no `subscribe`"),
        ("stomp", "has no `subscribe`"),
        ("sse", "has no `url`"),
        ("poll", "has no `url`"),
        ("longpoll", "has no `url`"),
    ] {
        for (step, lacks) in [("subscribe: a", opens), ("send: x\n        to: a", "has no `publish`")] {
            let flow = format!("      - {step}\n");
            let found = problems(&script("", engine, &flow));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("7:9: config.") && found[0].contains(lacks), "{found:?}");
            let (_, hint) = found[0].split_once(" | for `sonagi serve`, add to config: `").unwrap();
            let lines = format!("  {}\n", hint.strip_suffix('`').unwrap());
            assert_eq!(problems(&script(&lines, engine, &flow)), Vec::<String>::new(), "{lines}");
        }
    }
}

#[test]
fn what_is_wrong_in_a_template_is_told_there_once_with_the_step_that_came_upon_it() {
    check(
        "  ws: {subscribe: [{sned: \"{{ $room }}\"}, {send: {a: \"{{ nobody }}\"}}]}\n",
        "ws",
        "      - subscribe: a\n      - subscribe: b\n",
        &[
            r#"4:21: unknown step "sned" (used by the `subscribe` step on line 8) | did you mean "send"?"#,
            r#"4:58: nothing sets the variable "nobody" (used by the `subscribe` step on line 8) | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    );
}

#[test]
fn what_is_wrong_with_a_room_or_a_message_is_told_at_the_step() {
    check(
        WS,
        "ws",
        "      - subscribe: \"{{ rom }}\"\n      - send: {a: \"{{ b }}\", c: \"{{ }}\"}\n        to: \"x {{ rom }}\"\n      - subscribe: [a]\n",
        &[
            r#"8:24: nothing sets the variable "rom" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
            r#"9:23: nothing sets the variable "b" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
            "9:37: an empty template: `{{ }}` needs a name",
            r#"10:19: nothing sets the variable "rom" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
            r#"11:20: subscribe wants a room, or (STOMP) a mapping with a destination; got a list of 1 | e.g. `subscribe: "{{ group }}"`"#,
        ],
    );
    check(
        "  ws: {publish: {send: \"to {{ $room }}: {{ $message }}\"}}\n",
        "ws",
        "      - send: hello\n        to: a\n      - send: {a: 1}\n        to: a\n",
        &[
            r#"4:24: a message that is no text stands alone in its value (used by the `send` step on line 10) | write "{{ $message }}""#,
        ],
    );
}

#[test]
fn templates_hold_their_holes_and_use_no_other_template() {
    check(
        "  ws: {subscribe: {subscribe: \"{{ $room }}\"}, publish: {send: nothing}}\n",
        "ws",
        "      - subscribe: a\n      - send: {a: 1}\n        to: a\n",
        &[
            "4:19: a template cannot use `subscribe`: it is what `subscribe` does (used by the `subscribe` step on line 8) | write what it does: a plain `send`, `emit` or `post`",
            "4:56: {{ $message }} is not in this template: nothing of the message would be sent (used by the `send` step on line 9) | write \"{{ $message }}\" where the message goes",
        ],
    );
    check(
        "  ws: {subscribe: yes}\n",
        "ws",
        "      - send: \"{{ $room }} {{ $cursor }}\"\n",
        &[
            r#"4:19: subscribe wants a step, or a list of steps; got the text "yes" | e.g. `subscribe: {send: {payload: {type: join, room: "{{ $room }}"}, match: {json: $.type, value: joined}}}`"#,
            "8:19: $room has no value here | a `publish` template of config knows both, a `subscribe` template $room",
            "8:31: $cursor is where a subscription takes up again; this text subscribes to nothing | put it into a `subscribe` template or step of config, or into the step that `joinedAfter` names",
        ],
    );
}

#[test]
fn a_stamped_message_goes_to_the_room_its_user_is_in() {
    check(
        WS,
        "ws",
        "      - send: \"{{ $cursor }}\"\n      - subscribe: a\n      - send: \"{{ $stamp }}\"\n        to: b\n",
        &[
            "8:19: $cursor is where a subscription takes up again; this text subscribes to nothing | put it into a `subscribe` template or step of config, or into the step that `joinedAfter` names",
            r#"11:13: a stamped message goes to the room the user is a member of, "a"; this one goes to "b" | one scenario follows one room; leave the stamp out, or make a scenario for the other room"#,
        ],
    );
}

#[test]
fn streams_and_polls_say_what_they_ask_and_how_often() {
    check(
        "  sse: {url: \"/s/{{ $room }}\", headers: 1}\n  poll: {url: /p, cursor: {json: $.a, header: b}, more: \"$[\"}\n  longpoll: {url: /l, hold: 0, cursor: {as: c}, empty: [70], more: $.a}\n",
        "sse",
        "      - connect: /elsewhere\n      - subscribe: a\n",
        &[
            r#"4:41: headers wants a mapping of names to texts; got 1 | e.g. `headers: {authorization: "Bearer {{ token }}"}`"#,
            "5:9: polling needs its rhythm | add `every: 3` (seconds from one poll to the next)",
            "5:27: a cursor needs the query parameter that gives it back | add `as: after`",
            "5:39: a cursor is in one place; this one has json and header",
            "5:57: `$[` is no JSONPath (RFC 9535) | paths look like $.user.id, $.rooms[0].id, $..id",
            "6:29: hold must be longer than 0 s",
            "6:40: a cursor needs its place in an answer | add `json: $.next`",
            "6:57: empty wants a status or a list of them; got 70 | e.g. `empty: [503]`",
            r#"6:62: unknown key "more" in config.longpoll | "more" belongs in config.poll (config.poll)"#,
            "10:18: over sse subscribing opens the connection; this flow does so on line 11 | write `connect: true`, or remove one of the two",
        ],
    );
    check(
        "  sse: {url: \"/s/{{ $room }}\"}\n",
        "sse",
        "      - expect: {channel: a}\n",
        &[
            "8:9: config.sse names a room, and no step of this flow says which | begin the flow with `subscribe: \"{{ room }}\"`",
        ],
    );
    check(
        "",
        "poll",
        "      - connect: /p\n      - expect: {channel: a}\n",
        &[
            "7:9: nothing says how often to poll | add to config: `poll: {every: 3}`",
            "8:18: polled messages have no channel | tell messages apart with `match`",
        ],
    );
    check(
        "",
        "longpoll",
        "      - send: a\n",
        &[
            r#"7:9: over longpoll a message is sent to a room; this one names none | add `to: "{{ room }}"`, or write a `post` step"#,
        ],
    );
}

/// The keys that each way of polling or streaming needs to subscribe.
const PULLS: &str = "  sse: {url: \"/s/{{ $room }}\"}\n  poll: {url: \"/p/{{ $room }}\", every: 1, cursor: {json: $.next, as: after}}\n  longpoll: {url: \"/l/{{ $room }}\"}\n";

#[test]
fn over_streams_and_polls_a_user_listens_to_one_room_at_a_time() {
    let twice = "      - subscribe: a\n      - loop:\n          - join: b\n        count: 2\n";
    for engine in ["sse", "poll", "longpoll"] {
        let said = format!(
            "12:13: over {engine} a user listens to one room at a time; this flow already does since line 10 | write `disconnect: true` before it, or make a scenario for the other room"
        );
        check(PULLS, engine, twice, &[&said]);
        check(PULLS, engine, "      - subscribe: a\n      - disconnect: true\n      - subscribe: b\n", &[]);
    }
    check(WS, "ws", "      - subscribe: a\n      - subscribe: b\n", &[]);
}

#[test]
fn a_second_room_is_refused_only_in_the_runs_in_which_it_cannot_be_heard() {
    let config = format!("{PULLS}{WS}");
    let script = script(&config, "\"{{ transport }}\"", "      - subscribe: a\n      - subscribe: b\n");
    assert_eq!(problems(&format!("{script}matrix: {{transport: [ws]}}\n")), [""; 0]);
    let text = format!("{script}matrix: {{transport: [poll, ws, sse]}}\n");
    let told = |engine: &str| {
        format!(
            "12:9: over {engine} a user listens to one room at a time; this flow already does since line 11 (with transport: {engine})"
        )
    };
    assert_eq!(every_problem(&text), [told("poll"), told("sse")]);
}

#[test]
fn stomp_is_spoken_as_its_protocol_has_it() {
    check(
        "  stomp: {versions: [1.2, \"1.3\"], heartBeat: [1, x], ack: always, receipts: [snd, all], connectHeaders: {heart-beat: \"1,1\"}}\n",
        "stomp",
        "      - subscribe: {destination: /a, headers: {id: 1}, ack: none}\n      - subscribe: {headers: {}}\n      - send: hello\n      - send: {destination: /a, body: {a: 1}}\n      - send: {destination: /a, body: a, json: b}\n      - connect: {url: /x}\n        namespace: /y\n",
        &[
            r#"4:27: versions wants a list of `1.0`, `1.1` and `1.2`; got the text "1.3" | e.g. `versions: ["1.2"]`"#,
            r#"4:50: heartBeat wants a list of two numbers of milliseconds; got the text "x" | e.g. `heartBeat: [10000, 10000]`"#,
            r#"4:59: ack wants `auto`, `client` or `client-individual`; got the text "always" | e.g. `ack: client`"#,
            r#"4:78: receipts are asked for `subscribe` and `send`; got "snd" | did you mean "send"?"#,
            r#"4:83: receipts wants a list of `subscribe` and `send`; got the text "all" | e.g. `receipts: [subscribe, send]`"#,
            "4:106: connectHeaders: the header heart-beat is set by the protocol | use `heartBeat`",
            "8:48: headers: the header id is set by the protocol",
            r#"8:61: ack wants `auto`, `client` or `client-individual`; got the text "none" | e.g. `ack: client`"#,
            "9:20: a STOMP subscription needs a destination | add `destination: /topic/news`",
            r#"10:15: a STOMP message is a mapping with a destination; got the text "hello" | write `send: {destination: /app/hello, body: hello}`, or add `to: "{{ room }}"`"#,
            "11:39: body wants a text; got a mapping | an object or a list is sent with `json:`",
            "12:42: a message has one body; this one has body and json",
            r#"13:19: unknown key "url" in a STOMP connect | "url" belongs in a WebSocket connect (flow[].connect (engine: ws))"#,
            "14:20: namespaces belong to Socket.IO; this is stomp",
        ],
    );
}

#[test]
fn a_socketio_2_server_reads_the_query_and_not_auth() {
    check(
        "  socketio: {protocol: 4, auth: {token: a}}\n",
        "socketio",
        "      - connect: {protocol: 6, subscribe: {emit: [a]}}\n      - send: a\n",
        &[
            r#"4:27: auth is of Socket.IO's protocol 5; a server of protocol 4 never sees it | write `query: {token: "{{ token }}"}`, which it reads in its place"#,
            "8:29: protocol wants `4` or `5`; got 6 | e.g. `protocol: 4`",
            "8:32: a connect has no subscribe | write it into `config.socketio.subscribe`",
            r#"9:9: over socketio a message is sent to a room; this one names none | write `emit: [message, {…}]`, or add `to: "{{ room }}"`"#,
        ],
    );
}

#[test]
fn what_becomes_of_a_lost_connection_is_said_in_full() {
    check(
        "  reconnect: {first: 20, most: 10, attempts: 0, cursor: $.seq, resume: maybe}\n",
        "ws",
        "      - reconnect: 3\n",
        &[
            "4:26: most must not be shorter than first (20 s)",
            "4:36: attempts: 0 never reconnects | remove `reconnect`, or write `automatic: false`",
            r#"4:57: cursor is the name of one member of a message; got "$.seq" | write `cursor: seq`: the largest number under that name is the cursor"#,
            r#"4:72: resume wants true or false; got the text "maybe" | e.g. `resume: false`"#,
            "8:20: reconnect wants true; got 3 | e.g. `reconnect: true`",
        ],
    );
}

#[test]
fn engine_and_transport_are_one_key() {
    check(
        "",
        "ws\n    transport: sse",
        "      - connect: /a\n",
        &["6:5: engine and transport are the same key; a scenario has one of them"],
    );
}

#[test]
fn no_function_is_called_around_a_message_to_a_room() {
    let block = "  poll: {url: \"/{{ $room }}\", every: 1, cursor: {json: $.next, as: after}, publish: {post: {url: /x, json: \"{{ $message }}\", HOOK}}}\n";
    let flow = "      - subscribe: a\n      - send: x\n        to: a\n";
    let hint = "let a `function` step set a variable, and say it in the template";
    for key in ["beforeRequest", "afterResponse"] {
        let expected = format!(
            "4:{}: {key}: no function is called around what `publish` sends (used by the `send` step on line 9) | {hint}",
            block.find("HOOK").unwrap() + 1
        );
        check(&block.replace("HOOK", &format!("{key}: sign")), "poll", flow, &[&expected]);
    }
    check(&block.replace(", HOOK", ""), "poll", flow, &[]);
}
