//! Mistakes in the text, in config, phases and scenarios.

use super::{Case, check, config, phases, scenario, whole};

#[test]
fn mistakes_in_config_phases_and_scenarios_are_placed_and_explained() {
    check(CASES);
}

const CASES: &[Case] = &[
    (whole, "config: [1\n", &["2:1: not valid YAML: while parsing a flow sequence, expected ',' or ']'"]),
    (whole, "", &["1:1: the script is empty | a script has `config:` and `scenarios:`"]),
    (
        whole,
        "- a\n- b\n",
        &[
            r#"1:1: a script is a mapping; got a list of 2 | e.g. `config: {target: "http://127.0.0.1:8080"}`"#,
        ],
    ),
    (
        whole,
        "config:\n\ttarget: x\n",
        &[
            "2:2: not valid YAML: tabs disallowed within this context (block indentation) | YAML indents with spaces; this line begins with a tab",
        ],
    ),
    (
        whole,
        "config:\n  target: http://t\n  target: http://u\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: [{flow: [{think: 1}]}]\n",
        &[r#"3:3: duplicate key "target": a mapping has each key once | the first one is on line 2"#],
    ),
    (
        whole,
        "config:\n  target: {{ host }}/x\n",
        &[r#"2:12: a mapping cannot be a key | a value that begins with `{{` needs quotes: "{{ name }}""#],
    ),
    (
        whole,
        "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: [{flow: [{think: 1}]}]\n---\nconfig: {}\n",
        &["5:1: a script is one YAML document; a second one starts here | remove the `---` line"],
    ),
    (whole, "config: &c\n  target: *c\n", &["2:11: an alias inside the value it names never ends"]),
    (
        whole,
        "config:\n  target: !secret x\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: [{flow: [{think: 1}]}]\n",
        &[
            r#"2:11: target is an address that begins with http://, https://, ws:// or wss://; got "x" | did you mean "http://x"?"#,
            "2:11: the YAML tag !secret means nothing here | remove it",
        ],
    ),
    (
        whole,
        "confg:\n  target: http://t\nscenarios: [{flow: [{think: 1}]}]\n",
        &[r#"1:1: unknown key "confg" in a script | did you mean "config"?"#],
    ),
    (
        whole,
        "config:\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: [{flow: [{think: 1}]}]\n",
        &[
            r#"2:3: the script has no target | add `target: "http://127.0.0.1:8080"` to config, or give one on the command line"#,
        ],
    ),
    (
        whole,
        "config:\n  target: localhost:8080\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: [{flow: [{think: 1}]}]\n",
        &[
            r#"2:11: target is an address that begins with http://, https://, ws:// or wss://; got "localhost:8080" | did you mean "http://localhost:8080"?"#,
        ],
    ),
    (
        whole,
        "config:\n  target: http//t:8080/a\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: [{flow: [{think: 1}]}]\n",
        &[
            r#"2:11: target is an address that begins with http://, https://, ws:// or wss://; got "http//t:8080/a" | did you mean "http://t:8080/a"?"#,
        ],
    ),
    (
        whole,
        "config:\n  phases: [{duration: 1, arrivalRate: 1}]\n  environments: {local: {target: http://t}}\nscenarios: [{flow: [{think: 1}]}]\n",
        &["2:3: the script has no target | choose an environment that has one with -e: local"],
    ),
    (
        whole,
        "config:\n  target: http://t\n  phases: []\nscenarios: [{flow: [{think: 1}]}]\n",
        &["3:11: `phases` is empty: nothing says when users arrive"],
    ),
    (
        whole,
        "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\n",
        &[
            "1:1: the script has no scenarios: users have nothing to do | add `scenarios: [{flow: [{get: {url: /}}]}]`; of a file that has only the config say `--config` before the script",
        ],
    ),
    (
        whole,
        "config:\n  target: http://t\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: []\n",
        &["4:12: `scenarios` is empty: users have nothing to do"],
    ),
    (
        config,
        "  processor: ./p.js\n",
        &[r#"4:14: the processor "./p.js" is not there | its path is relative to the script's folder"#],
    ),
    (
        config,
        "  arrivalRate: 5\n",
        &[r#"4:3: unknown key "arrivalRate" in config | "arrivalRate" belongs in a phase (config.phases[])"#],
    ),
    // The name of a key far away is no help: `pingInterval` is one of `serve`.
    (
        config,
        "  socketio: {pingInterval: 5}\n",
        &[
            r#"4:14: unknown key "pingInterval" in the Socket.IO options | known keys: url, path, query, extraHeaders, auth, transports, timeout, rejectUnauthorized, upgrade, protocol, subscribe, publish, verbose, forceNew, multiplex, autoConnect, secure, withCredentials, reconnection, reconnectionAttempts, reconnectionDelay, reconnectionDelayMax, rememberUpgrade"#,
        ],
    ),
    (
        config,
        "  ws: {origin: x, cert: a.pem}\n",
        &[
            "4:8: \"origin\" in config.ws is refused: it is a header like others | write `headers: {origin: …}`",
            "4:19: \"cert\" in config.ws is refused: certificates are not read from files in this version | remove it",
        ],
    ),
    (
        config,
        "  plugins: {fake-data: {}, metrics-by-endpint: {}}\n",
        &[
            r#"4:28: unknown key "metrics-by-endpint" in config.plugins | did you mean "metrics-by-endpoint"?"#,
        ],
    ),
    (
        config,
        "  environments: {staging: {phaes: [], target: http://s, phases: [{durtion: 1}]}}\n",
        &[
            r#"4:28: unknown key "phaes" in config | did you mean "phases"?"#,
            r#"4:67: unknown key "durtion" in a phase | did you mean "duration"?"#,
        ],
    ),
    (
        config,
        "  variables: [a]\n  http: -1\n",
        &[
            "4:14: variables wants a mapping of names to values; got a list of 1 | e.g. `variables: {color: [red, blue]}`",
            "5:9: http wants a mapping; got -1 | e.g. `http: {timeout: 5}`",
        ],
    ),
    (
        config,
        "  variables: {a: [], b: '{{ c }}'}\n",
        &[
            r#"4:15: the variable "a" has no values to pick from"#,
            "4:25: `{{ c }}` must be known before the run starts, and users' values are not | here only {{ $env.NAME }}, {{ $environment }} and variables with one value can stand",
        ],
    ),
    (
        config,
        "  payload: {fields: [a]}\n",
        &["4:12: a payload needs a path | add `path: users.csv`, relative to the script"],
    ),
    (
        config,
        "  payload: {path: nowhere.csv, order: sequential}\n",
        &[
            "4:19: cannot read the payload nowhere.csv: No such file or directory (os error 2) | the path is relative to the script",
            r#"4:39: order wants `random` or `sequence`; got the text "sequential" | e.g. `order: sequence`"#,
        ],
    ),
    (
        config,
        "  http: {timeout: soon, pool: 0, defaults: {headers: [a]}}\n",
        &[
            r#"4:19: timeout wants a time: seconds, or a text like "500ms", "30s", "5m"; got the text "soon" | e.g. `timeout: 10`"#,
            "4:25: pool: 0 leaves no connection | remove it: then each user has its own",
            "4:54: headers wants a mapping of names to texts; got a list of 1 | e.g. `headers: {accept: application/json}`",
        ],
    ),
    (
        config,
        "  tls: {rejectUnauthorized: no-way}\n",
        &[
            r#"4:29: rejectUnauthorized wants true or false; got the text "no-way" | e.g. `rejectUnauthorized: false`"#,
        ],
    ),
    (
        config,
        "  socketio: {transports: [carrier-pigeon], parser: x, query: 5}\n",
        &[
            "4:26: transports wants a list of `websocket` and `polling`; got a list of 1 | e.g. `transports: [websocket]`",
            r#"4:44: "parser" in the Socket.IO options is refused: only the standard packet encoding is spoken | remove it"#,
            r#"4:62: query wants a mapping of names to texts, or a text; got 5 | e.g. `query: {token: "{{ token }}"}`"#,
        ],
    ),
    (
        config,
        "  engines: {kafka: {}}\n",
        &[r#"4:13: unknown key "kafka" in config.engines | known keys: socketio-v3, http, ws, socketio"#],
    ),
    (
        config,
        "  ensure: {thresholds: [{http.response_time.p95: fast}], conditions: [{expression: 'a <'}], maxErrorRate: 200}\n",
        &[
            r#"4:50: the threshold on http.response_time.p95 wants a number; got the text "fast" | other comparisons, and `abortOnFail`, go into `conditions`"#,
            "4:88: in the condition: expected a name, a number, a text in double quotes or `(`, but the expression ends here",
            "4:93: maxErrorRate is a percentage, 0 to 100; got 200",
        ],
    ),
    (
        config,
        "  ensure: {thresholds: ['x'], conditions: [{strict: true}]}\n",
        &[
            r#"4:25: a threshold is a metric and its limit; got the text "x" | a comparison goes into `conditions`, beside `thresholds`: `- expression: "x"`"#,
            r#"4:44: a condition needs an expression | add `expression: "vusers.failed == 0"`"#,
        ],
    ),
    (
        config,
        "  delivery: {deadline: 0, echo: maybe, drian: 1}\n",
        &[
            "4:14: deadline must be longer than 0 s: every copy would be late",
            r#"4:33: echo wants true or false; got the text "maybe" | e.g. `echo: false`"#,
            r#"4:40: unknown key "drian" in delivery | did you mean "drain"?"#,
        ],
    ),
    (
        config,
        "  target2: \"{{ $env.SONAGI_NO_SUCH_VARIABLE }}\"\n",
        &[r#"4:3: unknown key "target2" in config | did you mean "target"?"#],
    ),
    (
        config,
        "  http: {timeout: \"{{ $env.SONAGI_NO_SUCH_VARIABLE }}\"}\n",
        &[
            "4:23: the environment variable SONAGI_NO_SUCH_VARIABLE is not set | set it when you run the script: SONAGI_NO_SUCH_VARIABLE=… sonagi run …",
        ],
    ),
    (
        config,
        "  http: {timeout: \"{{ $user }}\"}\n",
        &[
            "4:19: `{{ $user }}` must be known before the run starts, and users' values are not | here only {{ $env.NAME }}, {{ $environment }} and variables with one value can stand",
        ],
    ),
    (
        phases,
        "{duration: 60, arivalRate: 5}",
        &[r#"3:27: unknown key "arivalRate" in a phase | did you mean "arrivalRate"?"#],
    ),
    (
        phases,
        "{duration: 60, arrivalRate: five}",
        &[
            r#"3:40: arrivalRate wants a number of users per second; got the text "five" | e.g. `arrivalRate: 5`"#,
        ],
    ),
    (
        phases,
        "{duration: 60, arrivalRate: -1}",
        &["3:40: arrivalRate must be 0 or more; got -1 | e.g. `arrivalRate: 5`"],
    ),
    (phases, "{duration: 60, arrivalRate: 0}", &["3:11: all phases are pauses: no user ever arrives"]),
    (phases, "{duration: 0, arrivalRate: 1}", &["3:23: duration must be longer than 0 s"]),
    (
        phases,
        "{duration: a while, arrivalRate: 1}",
        &[
            r#"3:23: duration wants a time: seconds, or a text like "30s", "5m"; got the text "a while" | e.g. `duration: 60`"#,
        ],
    ),
    (phases, "{arrivalRate: 1}", &["3:12: a phase needs a duration | add `duration: 60` (seconds)"]),
    (
        phases,
        "{duration: 60}",
        &[
            "3:12: a phase needs arrivalRate, arrivalCount, users or pause | add `arrivalRate: 5` (users per second)",
        ],
    ),
    (
        phases,
        "{duration: 60, arrivalCount: 1.5}",
        &["3:41: arrivalCount wants a whole number of users; got 1.5 | e.g. `arrivalCount: 100`"],
    ),
    (
        phases,
        "{duration: 60, arrivalCount: 5, arrivalRate: 1}",
        &["3:44: a phase has arrivalCount or arrivalRate, not both"],
    ),
    (phases, "{pause: 5, arrivalRate: 1}", &["3:23: a pause has no arrivalRate | make two phases of it"]),
    (phases, "{pause: 5}", &["3:11: all phases are pauses: no user ever arrives"]),
    (
        phases,
        "{duration: 5, users: 3}, {duration: 5, arrivalRate: 3}",
        &[
            "3:51: arrivalRate and users do not mix: with users a population repeats its scenario, and nobody arrives | write users in all phases, or in none",
        ],
    ),
    (phases, "{duration: 5, users: 0}", &["3:12: the population is 0 in all phases: nothing runs"]),
    (
        phases,
        "{duration: 60, arrivalRate: 1, maxVusers: 0}",
        &["3:54: maxVusers: 0 lets no user start | a phase without arrivals is `pause: 30`"],
    ),
    (phases, "[60, 5]", &["3:12: a phase is a mapping; got a list of 2 | e.g. `duration: 60`"]),
    (
        phases,
        "{duration: 60, arrivalRate: 5000000}",
        &["3:40: arrivalRate is a number of users per second up to 1000000; got 5000000"],
    ),
    (
        scenario,
        "    engine: kafka\n    flow: [{think: 1}]\n",
        &[
            r#"6:13: unknown engine "kafka" | engines of this version: http, ws (or websocket), socketio (or socket.io), socketio-v3, poll, longpoll, sse, stomp"#,
        ],
    ),
    (
        scenario,
        "    engine: socket-io\n    flow: [{think: 1}]\n",
        &[r#"6:13: unknown engine "socket-io" | did you mean "socketio"?"#],
    ),
    (scenario, "    name: x\n", &["6:5: a scenario needs a flow | add `flow:` with a list of steps"]),
    (scenario, "    flow: []\n", &["6:11: the flow is empty: users have nothing to do"]),
    (
        scenario,
        "    weight: -1\n    flow: [{think: 1}]\n",
        &["6:13: weight must be 0 or more; got -1 | e.g. `weight: 3`"],
    ),
    (
        phases,
        "{duration: -1, arrivalRate: 1}",
        &["3:23: duration must be 0 or more; got -1 | e.g. `duration: 60`"],
    ),
    (
        config,
        "  plugins: [ensure]\n",
        &["4:12: plugins wants a mapping; got a list of 1 | e.g. `plugins: {ensure: {}}`"],
    ),
    (
        config,
        "  plugins: {apdex: {treshold: 1}, metrics-by-endpoint: {stripQueryString: maybe, useOnlyRequestName: true}}\n",
        &[
            r#"4:21: unknown key "treshold" in apdex | did you mean "threshold"?"#,
            r#"4:75: stripQueryString wants true or false; got the text "maybe" | e.g. `stripQueryString: true`"#,
            r#"4:82: unknown key "useOnlyRequestName" in metrics-by-endpoint | did you mean "useOnlyRequestNames"?"#,
        ],
    ),
    (
        config,
        "  plugins: {metrics-by-endpoint: {groupDynamicURLs: [a]}}\n",
        &["4:53: groupDynamicURLs wants true or false; got a list of 1 | e.g. `groupDynamicURLs: true`"],
    ),
    (
        config,
        "  http: {extendedMetrics: yes please}\n",
        &[
            r#"4:27: extendedMetrics wants true or false; got the text "yes please" | e.g. `extendedMetrics: true`"#,
        ],
    ),
    (
        config,
        "  apdex: {threshold: 0}\n",
        &["4:11: threshold must be longer than 0 ms: no answer would satisfy"],
    ),
    (config, "  apdex: 100\n", &["4:10: apdex wants a mapping; got 100 | e.g. `apdex: {threshold: 100}`"]),
    (
        whole,
        "config:\n  target: http://user:pw@t\n  phases: [{duration: 1, arrivalRate: 1}]\nscenarios: [{flow: [{think: 1}]}]\n",
        &[r#"2:11: URL must not carry a user and password, got "http://user:pw@t""#],
    ),
    (
        scenario,
        "    weight: heavy\n    flow: [{think: 1}]\n",
        &[r#"6:13: weight wants a number; got the text "heavy" | e.g. `weight: 3`"#],
    ),
    (
        scenario,
        "    weight: 0\n    flow: [{think: 1}]\n",
        &["5:3: all scenarios have weight 0: users have nothing to do"],
    ),
    (
        scenario,
        "    beforeScenario: prepare\n    flow: [{think: 1}]\n",
        &[
            r#"6:21: the function "prepare" is called, and the script has no processor | add `processor: ./processor.js` to `config`"#,
        ],
    ),
    (
        scenario,
        "    target: x\n    flow: [{think: 1}]\n",
        &[r#"6:5: unknown key "target" in a scenario | "target" belongs in config (config)"#],
    ),
    (
        scenario,
        "    flow:\n      get: {url: /}\n",
        &["7:7: flow wants a list of steps; got a mapping | e.g. `flow: [{get: {url: /}}]`"],
    ),
];
