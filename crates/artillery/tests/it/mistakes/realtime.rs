//! Mistakes in WebSocket and Socket.IO steps, and in rooms.

use super::{Case, check, scenario, socketio, ws};

#[test]
fn mistakes_in_real_time_steps_are_placed_and_explained() {
    check(&CASES);
}

const CASES: [Case; 31] = [
    (
        ws,
        "    - connect: {url: ws://x}\n    - send: a\n",
        &[
            r#"7:17: "url" in a WebSocket connect is refused: a WebSocket connect has no `url` (Artillery ignores it) | write `target:`, or the address itself: `connect: "ws://…"`"#,
        ],
    ),
    (
        ws,
        "    - connect: tcp://x\n    - connect: {target: \"ws://\", headers: {\"\": a}}\n",
        &[
            r#"7:16: URL must have the scheme http, https, ws or wss, got "tcp://x""#,
            r#"8:25: URL must have a host of letters, digits, dots and dashes, got "ws://""#,
            r#"8:44: a header's name is one word of letters, digits and dashes; got """#,
        ],
    ),
    (
        socketio,
        "    - connect: {url: \"unix://x\", extraHeaders: {\"a b\": c}}\n",
        &[
            r#"7:22: URL must have the scheme http, https, ws or wss, got "unix://x""#,
            r#"7:49: a header's name is one word of letters, digits and dashes; got "a b""#,
        ],
    ),
    (
        ws,
        "    - emit: {channel: a}\n",
        &[
            r#"7:7: the engine ws has no step "emit" | set `engine: socketio` or `engine: socketio-v3` on the scenario"#,
        ],
    ),
    (
        ws,
        "    - send:\n",
        &[r#"7:7: send has no value | write `send: {type: send, content: "{{ $stamp }}"}`"#],
    ),
    (
        ws,
        "    - send: {capture: {json: $.a, as: b}}\n",
        &[
            "7:13: a send with capture or match needs a payload | add `payload:`, or wait without sending: `wait:`",
        ],
    ),
    (
        ws,
        "    - send: {payload: x, capture: {header: x, as: b}}\n",
        &["7:36: a message has no headers | use `json` or `regexp`"],
    ),
    (ws, "    - wait: 5\n", &["7:13: wait waits for a message, not for a time; got 5 | write `think: 5`"]),
    (
        ws,
        "    - expect: {channel: a}\n",
        &["7:16: WebSocket messages have no channel | tell messages apart with `match`"],
    ),
    (
        ws,
        "    - send: \"{{ $stamp }}\"\n",
        &[
            r#"7:17: a stamped message needs a room: who is owed a copy of it? | add `room: "{{ roomId }}"` to the scenario, or a `subscribe` step"#,
        ],
    ),
    (
        ws,
        "    - connect: {function: f}\n",
        &[
            r#"7:27: the function "f" is called, and the script has no processor | add `processor: ./processor.js` to `config`"#,
        ],
    ),
    (
        socketio,
        "    - emit: hello\n",
        &[
            r#"7:13: emit wants a channel with data, or a list [event, …arguments]; got the text "hello" | e.g. `emit: {channel: sendMessage, data: {text: hi}}`"#,
        ],
    ),
    (
        socketio,
        "    - emit: []\n",
        &["7:13: an emit needs the event's name | write `emit: [message, {text: hi}]`"],
    ),
    (
        socketio,
        "    - emit: [5]\n      acknowledge: {capture: {json: $.0, as: id}}\n    - emit: [say, \"{{ id }}\"]\n",
        &["7:14: an event's name is a text; got 5 | write `emit: [message, {text: hi}]`"],
    ),
    (
        socketio,
        "    - emit: [a, {$base64: \"A{{ $user }}\"}]\n    - emit: [a, {$base64: 5}]\n",
        &[
            "7:27: a binary argument is the same for all users: it has no templates | what users fill in is sent as JSON or text",
            r#"8:27: $base64 wants a text; got 5 | write `{$base64: "AAEC"}`: standard base64 with its padding"#,
        ],
    ),
    (
        socketio,
        "    - emit: {channel: a, data: {$base64: AAE}}\n    - emit: [a, {$base64: AAEC, name: b}]\n",
        &[
            r#"7:42: not base64: Invalid padding | write `{$base64: "AAEC"}`: standard base64 with its padding"#,
            "8:33: a binary argument has the key $base64 alone; this one has name too | send it as an argument of its own",
        ],
    ),
    (
        socketio,
        "    - emit: [a, {picture: {$base64: AAEC}}, [{$base64: AAEC}]]\n",
        &[
            "7:28: binary data is an argument of its own, not a part of one | write `emit: [event, {…}, {$base64: …}]`",
            "7:47: binary data is an argument of its own, not a part of one | write `emit: [event, {…}, {$base64: …}]`",
        ],
    ),
    (
        socketio,
        "    - emit: {chanel: a, data: 1}\n",
        &[r#"7:14: unknown key "chanel" in an emit | did you mean "channel"?"#],
    ),
    (
        socketio,
        "    - emit: {channel: a}\n      acknowlege: true\n",
        &[r#"8:7: unknown key "acknowlege" in an emit step | did you mean "acknowledge"?"#],
    ),
    (
        socketio,
        "    - emit: {channel: a}\n      acknowledge: 5\n",
        &["8:20: acknowledge wants true, or a mapping; got 5 | e.g. `acknowledge: true`"],
    ),
    (
        socketio,
        "    - emit: {channel: a}\n      response: {data: 1}\n",
        &["8:17: a response needs the event to wait for | add `on: newMessage`"],
    ),
    (
        socketio,
        "    - emit: {channel: a}\n      namespace: chat\n",
        &[r#"8:18: a namespace begins with `/`; got "chat" | write `namespace: /chat`"#],
    ),
    (
        socketio,
        "    - emit: {channel: a, response: {on: x}}\n      response: {on: y}\n",
        &["7:26: response stands inside emit and beside it | remove one"],
    ),
    (socketio, "    - expect: {within: 0, channel: a}\n", &["7:16: within must be longer than 0 s"]),
    (
        socketio,
        "    - expect: {within: 2}\n",
        &["7:15: an expect over Socket.IO needs a channel | add `channel: newMessage`"],
    ),
    (
        socketio,
        "    - emit: [a, \"{{ $stamp }}\"]\n",
        &[
            r#"7:21: a stamped message needs a room: who is owed a copy of it? | add `room: "{{ roomId }}"` to the scenario, or a `subscribe` step"#,
        ],
    ),
    (
        socketio,
        "    - send: a\n",
        &[
            r#"7:7: over socketio a message is sent to a room; this one names none | write `emit: [message, {…}]`, or add `to: "{{ room }}"`"#,
        ],
    ),
    (
        scenario,
        "    engine: socketio\n    room: {name: a, joinedAfter: joinRom}\n    flow: [{emit: [joinRoom], acknowledge: true}]\n",
        &[r#"7:34: joinedAfter: no step of this flow is called "joinRom" | did you mean "joinRoom"?"#],
    ),
    (
        scenario,
        "    room: a\n    flow: [{get: {url: /}}]\n",
        &[
            r#"6:11: this scenario has a room but no connection through which copies could arrive | subscribe to it (`subscribe: "{{ room }}"`), or set `engine: ws` or `engine: socketio`"#,
        ],
    ),
    (
        scenario,
        "    engine: ws\n    room: {joinedAftr: connect}\n    flow: [{send: a}]\n",
        &[
            r#"7:11: a room needs a name | add `name: "{{ roomId }}"`"#,
            r#"7:12: unknown key "joinedAftr" in room | did you mean "joinedAfter"?"#,
        ],
    ),
    (
        scenario,
        "    engine: ws\n    room: \"{{ nowhere }}\"\n    flow: [{send: a}]\n",
        &[
            r#"7:15: nothing sets the variable "nowhere" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
];
