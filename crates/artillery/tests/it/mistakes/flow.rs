//! Mistakes in HTTP steps, think, loop and the rest of a flow.

use super::{Case, check, http};

#[test]
fn mistakes_in_http_steps_are_placed_and_explained() {
    check(&CASES);
}

const CASES: [Case; 43] = [
    (http, "    - gett: {url: /}\n", &[r#"7:7: unknown step "gett" | did you mean "get"?"#]),
    (
        http,
        "    - get:\n      url: /\n",
        &[r#"7:7: get has no value | indent "url" further than "get", so that it belongs to it"#],
    ),
    (
        http,
        "    - get: /\n",
        &[r#"7:12: get wants a mapping with a url; got the text "/" | write `get: {url: "/"}`"#],
    ),
    (
        http,
        "    - get: {url: /}\n      post: {url: /}\n",
        &["8:7: a step does one thing; this one has get and post | begin the second with its own `-`"],
    ),
    (http, "    - get: {ulr: /}\n", &[r#"7:13: unknown key "ulr" in an HTTP request | did you mean "url"?"#]),
    (
        http,
        "    - get: {url: /, uri: /}\n",
        &["7:21: url and uri are the same key; a request has one of them"],
    ),
    (
        http,
        "    - post: {url: /, json: {}, form: {a: x}}\n",
        &["7:32: a request has one body; this one has json and form"],
    ),
    (
        http,
        "    - post: {url: /, json: {x: \"{{ $nope }}\"}, body: \"{{ missing }}\"}\n",
        &[
            "7:36: there is no template function $nope | functions are $randomNumber, $randomString, $uuid, $loopCount, $loopElement, $stamp, $now, $user, $cursor, $quotient, $remainder",
            r#"7:58: nothing sets the variable "missing" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: \"$[\", regexp: \"(\", as: b}}\n",
        &[
            "7:37: `$[` is no JSONPath (RFC 9535) | paths look like $.user.id, $.rooms[0].id, $..id",
            "7:43: a capture looks in one place; this one has json and regexp",
            "7:51: not a regular expression: unclosed group",
        ],
    ),
    (
        http,
        "    - post: {url: /, body: {a: 1}}\n",
        &["7:28: body wants a text; got a mapping | an object or a list is sent with `json:`"],
    ),
    (
        http,
        "    - post: {url: /, formData: {a: 1}, beforeRequest: f}\n",
        &[
            r#"7:55: the function "f" is called, and the script has no processor | add `processor: ./processor.js` to `config`"#,
        ],
    ),
    (
        http,
        "    - get: {url: \"ftp://a/b\"}\n    - get: {url: \"gopher://{{ target }}\"}\n",
        &[
            r#"7:18: URL must have the scheme http, https, ws or wss, got "ftp://a/b""#,
            r#"8:18: URL must have the scheme http, https, ws or wss, got "gopher://http://t""#,
        ],
    ),
    (
        http,
        "    - get: {url: \"file://{{ $user }}\"}\n",
        &[r#"7:18: URL must have the scheme http, https, ws or wss, got "file""#],
    ),
    (
        http,
        "    - get: {url: \"http://a:99999/\"}\n    - get: {url: \"/go?to=ftp://b\"}\n",
        &[r#"7:18: URL must have a port between 1 and 65535, got "http://a:99999/""#],
    ),
    (
        http,
        "    - get: {url: /, headers: {\"x y\": a, \"{{ b }}\": c, ok: \"a\\nb\"}}\n",
        &[
            r#"7:31: a header's name is one word of letters, digits and dashes; got "x y""#,
            r#"7:41: a header's name is one word of letters, digits and dashes; got "{{ b }}" | only values have templates"#,
            r"7:59: a header's value is one line without control characters; ok has '\n' | a YAML text after `|` ends with a line break; after `>-` it does not",
        ],
    ),
    (
        http,
        "    - get: {url: /, cookie: {\"a=b\": c, d: \"e\\r{{ $user }}\"}}\n",
        &[
            r#"7:30: a cookie's name is one word; got "a=b""#,
            r"7:43: a cookie's value is one line without control characters; d has '\r'",
        ],
    ),
    (
        http,
        "    - get: {url: /, headers: [a]}\n",
        &[
            "7:30: headers wants a mapping of names to texts; got a list of 1 | e.g. `headers: {accept: application/json}`",
        ],
    ),
    (
        http,
        "    - get: {url: /, headers: {a: {b: 1}}}\n",
        &["7:34: a in headers wants a text or a list of them; got a mapping"],
    ),
    (
        http,
        "    - get: {url: /, expect: {statusCode: ok}}\n",
        &[r#"7:42: statusCode wants a status from 100 to 599; got the text "ok" | e.g. `statusCode: 200`"#],
    ),
    (http, "    - get: {url: /, auth: {user: a}}\n", &["7:27: auth needs pass | e.g. `pass: secret`"]),
    (
        http,
        "    - get: {url: /, capture: {json: $.a}}\n",
        &["7:30: a capture needs a name for its value | add `as: token`"],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: '$.a[', as: b}}\n",
        &["7:37: `$.a[` is no JSONPath (RFC 9535) | paths look like $.user.id, $.rooms[0].id, $..id"],
    ),
    (
        http,
        "    - get: {url: /, capture: {regexp: '(a)', group: 2, as: b}}\n",
        &["7:53: the expression has no such group: it has 1; got 2"],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: $.a, regexp: a, as: b}}\n",
        &["7:42: a capture looks in one place; this one has json and regexp"],
    ),
    (
        http,
        "    - get: {url: /, capture: {as: b}}\n",
        &["7:30: a capture needs json, regexp, header, selector or xpath | add `json: $.token`"],
    ),
    (
        http,
        "    - get: {url: /, capture: {json: $.a, as: user..id}}\n",
        &[
            r#"7:46: `as` is the name of a variable, or of a member within one; got "user..id" | names are like `token` and `user.id`"#,
        ],
    ),
    (
        http,
        "    - get: {url: /, match: {json: $.a}}\n",
        &["7:28: a match needs a value to compare with | add `value: true`"],
    ),
    (
        http,
        "    - get: {url: /, match: {regexp: lat}}\n",
        &["7:28: a match needs a value to compare with | add `value: lat`"],
    ),
    (
        http,
        "    - get: {url: /, match: {regexp: 'id=(\\d+)'}}\n",
        &[r#"7:28: a match needs a value to compare with | add `value: "what the expression must find"`"#],
    ),
    (
        http,
        "    - get: {url: /, ifTrue: \"a == 1\"}\n",
        &[
            r#"7:30: nothing sets the variable "a" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
    (
        http,
        "    - get: {url: /, probability: 150}\n",
        &["7:21: probability is a percentage, 0 to 100; got 150"],
    ),
    (
        http,
        "    - think: soon\n",
        &[
            r#"7:14: think wants a time: seconds, or a text like "500ms", "2s"; got the text "soon" | e.g. `think: 1`"#,
        ],
    ),
    (http, "    - think: -1\n", &["7:14: think must be 0 or more; got -1 | e.g. `think: 1`"]),
    (
        http,
        "    - think: 1\n      jitter: lots\n",
        &[r#"8:15: jitter wants milliseconds, or a percentage; got the text "lots" | e.g. `jitter: "20%"`"#],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      count: many\n",
        &[r#"8:14: count wants a whole number, or a range; got the text "many" | e.g. `count: "9-12"`"#],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      count: 2\n      over: x\n",
        &[
            r#"9:13: nothing sets the variable "x" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
    (
        http,
        "    - loop: []\n      count: 2\n",
        &["7:7: the loop is empty | put a list of steps under `loop:`"],
    ),
    (
        http,
        "    - function: doIt\n",
        &[
            r#"7:17: the function "doIt" is called, and the script has no processor | add `processor: ./processor.js` to `config`"#,
        ],
    ),
    (http, "    - think\n", &[r#"7:7: a step is a mapping; got the text "think" | e.g. `think: 1`"#]),
    (
        http,
        "    - disconnect\n",
        &[r#"7:7: a step is a mapping; got the text "disconnect" | write `disconnect: true`"#],
    ),
    (
        http,
        "    - emit: {channel: a}\n",
        &[
            r#"7:7: the engine http has no step "emit" | set `engine: socketio` or `engine: socketio-v3` on the scenario"#,
        ],
    ),
    (
        http,
        "    - send: a\n",
        &[
            r#"7:7: the engine http has no step "send" | set `engine: ws` or `engine: socketio` or `engine: socketio-v3` or `engine: poll` or `engine: longpoll` or `engine: sse` or `engine: stomp` on the scenario"#,
        ],
    ),
    (
        http,
        "    - connect: a\n",
        &[
            r#"7:7: the engine http has no step "connect" | set `engine: ws` or `engine: socketio` or `engine: socketio-v3` or `engine: poll` or `engine: longpoll` or `engine: sse` or `engine: stomp` on the scenario"#,
        ],
    ),
];
