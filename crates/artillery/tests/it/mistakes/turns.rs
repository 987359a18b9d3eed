//! Mistakes in what says when, how often and whether steps are done: conditions, loops, parallel, phases; and in
//! made-up data.

use super::{Case, check, config, http, phases, socketio, whole, ws};

#[test]
fn mistakes_in_conditions_loops_and_parallel_are_placed_and_explained() {
    check(&CASES);
}

const CASES: [Case; 45] = [
    (
        http,
        "    - get: {url: /, ifTrue: \"$user = 5\"}\n",
        &["7:36: `=` is not an operator | equality is written `==`"],
    ),
    (
        http,
        "    - get: {url: /, ifTrue: \"$user && $user\"}\n",
        &["7:36: conditions have no `&&` | write `and`"],
    ),
    (http, "    - think: 1\n      ifTrue: \"!$user\"\n", &["8:16: conditions have no `!` | write `not`"]),
    (http, "    - log: a\n      ifTrue: \"($user\"\n", &["8:22: expected `)`, but the expression ends here"]),
    (
        http,
        "    - log: a\n      iftrue: \"$user\"\n",
        &[r#"8:7: unknown key "iftrue" in a log step | did you mean "ifTrue"?"#],
    ),
    (
        http,
        "    - log: a\n      ifTrue: [1]\n",
        &[
            r#"8:15: ifTrue wants an expression over variables, or the name of a function; got a list of 1 | e.g. `ifTrue: "tries < 3 and not done"`"#,
        ],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      whileTrue: \"sqr($user) > 4\"\n",
        &[r#"8:19: there is no function "sqr" | did you mean sqrt(…)?"#],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      count: 2\n      pace: 1\n      phase: 1\n    - loop: [{think: 1}]\n      count: 2\n      pace: often\n      phase: late\n",
        &[
            "10:14: the phase of a loop is shorter than its pace | leave it out for a random one, or write `phase: 0`",
            r#"13:13: pace wants a time: seconds, or a text like "500ms", "30s", "5m"; or a rate, like "20/s"; got the text "often" | e.g. `pace: 1`"#,
            r#"14:14: phase wants a time: seconds, or a text like "500ms", "30s", "5m"; got the text "late" | e.g. `phase: 0`"#,
        ],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      pace: 0/s\n      count: 2\n    - loop: [{think: 1}]\n      pace: 1000001/s\n      count: 2\n    - loop: [{think: 1}]\n      pace: 20/fortnight\n      count: 2\n    - loop: [{think: 1}]\n      pace: \"{{ $user }}/s\"\n      count: 2\n",
        &[
            r#"8:13: pace: a rate is at least one a year and at most 1,000,000 a second; got "0/s" | e.g. `pace: 20/s`, which is every 50 ms"#,
            r#"11:13: pace: a rate is at least one a year and at most 1,000,000 a second; got "1000001/s" | e.g. `pace: 20/s`, which is every 50 ms"#,
            r#"14:13: pace wants a time: seconds, or a text like "500ms", "30s", "5m"; or a rate, like "20/s"; got the text "20/fortnight" | e.g. `pace: 1`"#,
            "17:13: `{{ $user }}/s` must be known before the run starts, and users' values are not | here only {{ $env.NAME }}, {{ $environment }} and variables with one value can stand",
        ],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      whileTrue: \"$user\"\n      over: [1]\n",
        &[
            "8:7: a loop goes over a list or on while something is true; this one has over and whileTrue | guard its steps with `ifTrue`",
        ],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      over: \"$user + 1\"\n",
        &[
            "8:13: a loop goes over a list; `$user + 1` is none | write its name, or a list: `over: [red, blue]`",
        ],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      over: [a, \"{{ nope }}\"]\n",
        &[
            r#"8:21: nothing sets the variable "nope" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
        ],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      count: \"0\"\n",
        &[r#"8:14: count: "0" is no turn at all | write `count: 0`, as a number, for a loop without end"#],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      count: \"9-9\"\n",
        &[
            r#"8:14: count: "9-9" is no turn at all | a range ends before its second number: "9-10" is one turn"#,
        ],
    ),
    (
        http,
        "    - loop: [{think: 1}]\n      count: -2\n",
        &["8:14: count must be 0 or more; got -2 | e.g. `count: \"9-12\"`"],
    ),
    (
        http,
        "    - parallel: {get: {url: /}}\n",
        &[
            "7:17: parallel wants a list of steps; got a mapping | e.g. `parallel: [{get: {url: /a}}, {get: {url: /b}}]`",
        ],
    ),
    (
        http,
        "    - parallel: []\n",
        &["7:7: nothing is to be done in parallel | put a list of steps under `parallel:`"],
    ),
    (
        http,
        "    - paralel: [{get: {url: /}}]\n",
        &[r#"7:7: unknown step "paralel" | did you mean "parallel"?"#],
    ),
    (
        http,
        "    - parallel: [{get: {url: /}}]\n      limit: 0\n",
        &["8:7: limit: 0 lets no step begin | 1 is one after the other; leave it out for all at once"],
    ),
    (
        http,
        "    - parallel: [{get: {url: /}}]\n      limit: some\n",
        &[r#"8:14: limit wants a whole number of steps; got the text "some" | e.g. `limit: 5`"#],
    ),
    (
        http,
        "    - parallel: [{get: {url: /}}]\n      limt: 2\n",
        &[r#"8:7: unknown key "limt" in parallel | did you mean "limit"?"#],
    ),
    (
        http,
        "    - parallel: [{get: {ulr: /}}]\n",
        &[r#"7:25: unknown key "ulr" in an HTTP request | did you mean "url"?"#],
    ),
    (
        socketio,
        "    - parallel:\n      - get: {url: /}\n      - loop: [{emit: {channel: a}}]\n        count: 2\n",
        &[
            "9:16: a user has one connection, which steps in parallel cannot share: emit | requests, think, log, function and loop can stand in `parallel`",
        ],
    ),
    (
        ws,
        "    - parallel: [{connect: /ws}]\n",
        &[
            "7:18: a user has one connection, which steps in parallel cannot share: connect | requests, think, log, function and loop can stand in `parallel`",
        ],
    ),
    (
        http,
        "    - get: {url: \"/{{ $personFullName() }}\"}\n",
        &[
            "7:23: $personFullName is a function of the plugin fake-data | add `plugins: {fake-data: {}}` to `config`",
        ],
    ),
    (
        http,
        "    - get: {url: \"/{{ a[{{ $nope }}] }}\"}\n",
        &[
            r#"7:23: nothing sets the variable "a" | set it in `config.variables`, as a `payload` field, or by a `capture` with `as`"#,
            "7:28: there is no template function $nope | functions are $randomNumber, $randomString, $uuid, $loopCount, $loopElement, $stamp, $now, $user, $cursor, $quotient, $remainder",
        ],
    ),
    (
        http,
        "    - get: {url: \"/{{ a[i] }}\"}\n",
        &["7:23: `[i]` in `a[i]`: an index is a number, a name in quotes, or a variable in braces"],
    ),
    (
        config,
        "  plugins: {fake-data: {personFullNam: {}}}\n",
        &["4:25: fake-data has no personFullNam | did you mean {{ $personFullName() }}?"],
    ),
    (
        config,
        "  plugins: {fake-data: {colorHumn: {}, internetJwtAlgorithm: {}}}\n",
        &[
            "4:25: fake-data has no colorHumn | did you mean {{ $colorHuman() }}?",
            "4:40: fake-data has no internetJwtAlgorithm | fake-data here has $internetEmail, $internetExampleEmail, $internetUsername, $internetDisplayName, $internetPassword, $internetUrl, $internetDomainName, $internetDomainWord, $internetDomainSuffix, $internetIp, $internetIpv4, $internetIpv6, $internetPort, $internetMac, $internetUserAgent, $internetHttpMethod",
        ],
    ),
    (
        config,
        "  plugins: {fake-data: {personFullName: {min: 1}}}\n",
        &["4:41: personFullName has no length and no range to set"],
    ),
    (
        config,
        "  plugins: {fake-data: {numberInt: {min: 9, max: 1}}}\n",
        &["4:36: numberInt: min is no more than max, and both are whole numbers"],
    ),
    (
        config,
        "  plugins: {fake-data: 5}\n",
        &["4:24: fake-data wants a mapping; got 5 | e.g. `fake-data: {}`"],
    ),
    (
        config,
        "  fake-data: [a]\n",
        &["4:14: fake-data wants a mapping; got a list of 1 | e.g. `fake-data: {}`"],
    ),
    (
        config,
        "  engine: kafka\n",
        &[
            r#"4:11: unknown engine "kafka" | engines of this version: http, ws (or websocket), socketio (or socket.io), socketio-v3, poll, longpoll, sse, stomp"#,
        ],
    ),
    (
        config,
        "  mode: random\n",
        &["4:9: mode wants `uniform` or `poisson`; got the text \"random\" | e.g. `mode: poisson`"],
    ),
    (config, "  mod: poisson\n", &[r#"4:3: unknown key "mod" in config | did you mean "mode"?"#]),
    (
        phases,
        "{duration: 1, arrivalRate: 1, mode: even}",
        &["3:48: mode wants `uniform` or `poisson`; got the text \"even\" | e.g. `mode: poisson`"],
    ),
    (phases, "{duration: 9, arrivalCount: 0}", &["3:11: all phases are pauses: no user ever arrives"]),
    (
        socketio,
        "    - emit: [a]\n      reconnect: maybe\n",
        &[r#"8:18: reconnect wants true or false; got the text "maybe" | e.g. `reconnect: true`"#],
    ),
    (
        socketio,
        "    - emit: [a]\n      reconect: true\n",
        &[r#"8:7: unknown key "reconect" in an emit step | did you mean "reconnect"?"#],
    ),
    (
        socketio,
        "    - emit: [a]\n      response: {on: b, concatt: true}\n",
        &[r#"8:25: unknown key "concatt" in a response | did you mean "concat"?"#],
    ),
    (
        whole,
        "config:\n  target: http://t\nbefore: {engine: kafka, flow: [{think: 1}]}\nscenarios: [{flow: [{think: 1}]}]\n",
        &[
            r#"3:18: unknown engine "kafka" | engines of this version: http, ws (or websocket), socketio (or socket.io), socketio-v3, poll, longpoll, sse, stomp"#,
        ],
    ),
    (
        whole,
        "config:\n  target: http://t\nbefore: {beforeScenario: a, afterScenario: b, flow: [{get: {url: /}}]}\nscenarios: [{flow: [{think: 1}]}]\n",
        &[
            r#"3:26: the function "a" is called, and the script has no processor | add `processor: ./processor.js` to `config`"#,
            r#"3:44: the function "b" is called, and the script has no processor | add `processor: ./processor.js` to `config`"#,
        ],
    ),
    (
        whole,
        "config:\n  target: http://t\nafter: {beforRequest: a, afterResponse: b, onEror: [b], flow: [{get: {url: /}}]}\nscenarios: [{flow: [{think: 1}]}]\n",
        &[
            r#"3:9: unknown key "beforRequest" in before/after | did you mean "beforeRequest"?"#,
            r#"3:41: the function "b" is called, and the script has no processor | add `processor: ./processor.js` to `config`"#,
            r#"3:44: unknown key "onEror" in before/after | did you mean "onError"?"#,
        ],
    ),
    (
        http,
        "    -\n      - think: 1\n      - thinkk: 1\n",
        &[r#"9:9: unknown step "thinkk" | did you mean "think"?"#],
    ),
];
