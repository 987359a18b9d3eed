//! Functions around requests, and what they do with variables, from the script to the service and back.

use crate::support::{Answer, Place, Service};
use serde_json::{Value, json};

/// The check in each test's functions: the first that finds something else fails its user.
const CHECK: &str = "
const { isDeepStrictEqual: same } = require('node:util');
const is = (found, wanted) => { if (!same(found, wanted)) throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`); };
";

/// Runs a flow of one user with these functions against the service.
fn run(functions: &str, config: &str, scenario: &str) -> Answer {
    let place = Place::new();
    place.write("functions.cjs", &format!("{CHECK}{functions}"));
    let head = "config:\n  target: \"http://127.0.0.1:9\"\n  phases: [{ duration: 1, arrivalCount: 1 }]\n  processor: ./functions.cjs\n";
    place.write("s.yml", &format!("{head}{config}scenarios:\n{scenario}"));
    let service = Service::start(&place, &["--seed-users", "2"]);
    place.sonagi(&["run", "s.yml", "-t", &service.url, "--json", "--shards", "1"])
}

fn operation(document: &Value, name: &str) -> Value {
    let operations = document["operations"].as_array().unwrap();
    operations.iter().find(|operation| operation["name"] == name).unwrap().clone()
}

#[track_caller]
fn all_well(answer: &Answer) -> Value {
    assert_eq!(answer.code, Some(0), "{answer:?}");
    answer.json()
}

#[test]
fn functions_around_a_request_see_what_was_sent_and_when_and_their_time_is_not_the_targets() {
    let functions = "
exports.wait = async (request) => { await new Promise((resolve) => setTimeout(resolve, 400)); request.json.extra = '{{ email }}'; };
exports.isSlow = async () => { await new Promise((resolve) => setTimeout(resolve, 400)); return true; };
exports.see = async (request, response) => {
  is(new URL(request.url).pathname, '/auth/login');
  is(request.json, { email: 'user1@example.test', password: 'password', extra: 'user1@example.test' });
  is([request.headers['x-mail'], request.headers['x-all'], request.username, request.auth], ['user1@example.test', 'of all', undefined, undefined]);
  request.seen = [1];
};
exports.seeMore = async (request, response) => {
  is(request.seen, [1]);
  is([response.statusCode, response.statusMessage, new URL(response.url).pathname], [200, 'OK', '/auth/login']);
  const { start, end, phases } = response.timings;
  const ago = Date.now() - end;
  if (!(end >= start && ago >= 0 && ago < 10000)) throw new Error(`${start} to ${end}, ${ago} ms ago`);
  const { wait, dns, tcp, request: sending, firstByte, download, total } = phases;
  const sum = wait + dns + tcp + sending + firstByte + download;
  if (!(firstByte > 0 && Math.abs(sum - total) < 0.1 && total < 300)) throw new Error(JSON.stringify(phases));
};
";
    let config =
        "  variables: { email: user1@example.test }\n  http: { defaults: { headers: { X-All: of all } } }\n";
    let scenario = "
  - flow:
      - post:
          url: /auth/login
          headers: { X-Mail: \"{{ email }}\" }
          json: { email: \"{{ email }}\", password: password }
          capture: { json: $.access_token, as: email }
          beforeRequest: wait
          afterResponse: [see, seeMore]
      - get: { url: /healthz, ifTrue: isSlow }
";
    let document = all_well(&run(functions, config, scenario));
    for name in ["POST /auth/login", "GET /healthz"] {
        let response = &operation(&document, name)["response_ms"]["max"];
        assert!(response.as_f64().unwrap() < 300.0, "{name}: {response}");
    }
}

#[test]
fn what_functions_make_of_the_configs_variables_and_of_an_element_is_so_for_templates() {
    let functions = "
exports.drop = async ({ vars }) => { delete vars.word; delete vars.user.name; };
exports.look = async ({ vars }) => { is([vars.word, 'word' in vars, vars.user], [undefined, false, { id: 'ok', list: ['ok', 2] }]); };
exports.loops = async ({ vars }) => {
  vars.$loopElement = { id: vars.$loopElement.id + 1 };
};
exports.seen = async ({ vars }) => { is(vars.$loopElement, { id: 2 }); };
";
    let config = "  variables: { word: tea, user: { name: ada, list: [1, 2] } }\n";
    let scenario = "
  - flow:
      - get: { url: \"/healthz?{{ word }}\" }
      - function: drop
      - get: { url: /healthz, capture: [{ regexp: \"(ok)\", as: user.id }, { regexp: \"(ok)\", as: user.list.0 }] }
      - function: look
      - get: { url: \"/healthz\", ifTrue: word, name: never }
      - log: \"word is {{ word }}\"
      - loop:
          - function: loops
          - log: \"element {{ $loopElement.id }} of {{ $loopElement }}\"
          - function: seen
        over: [{ id: 1 }]
";
    let answer = run(functions, config, scenario);
    let document = all_well(&answer);
    assert!(answer.err.contains("word is undefined"), "{}", answer.err);
    assert!(answer.err.contains("element 2 of {\"id\":2}"), "{}", answer.err);
    assert_eq!(operation(&document, "GET /healthz")["count"], 2);
    assert!(
        document["operations"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["name"] != "never" || one["count"] == 0)
    );
}

#[test]
fn on_error_is_called_for_requests_without_an_answer_alone_and_sees_what_was_sent() {
    let functions = "
exports.tell = (error, request, context, events, done) => { console.log(`TOLD ${error.code} of ${request.url}`); done(); };
exports.refuse = (request, response, context, events, done) => done(new Error('refused'));
";
    let told = |step: &str| {
        let scenario = format!("  - onError: tell\n    flow: [{{ get: {step} }}]\n");
        let answer = run(functions, "  variables: { word: tea }\n", &scenario);
        assert_eq!(answer.json()["users"]["failed"], 1, "{answer:?}");
        answer.err.lines().filter_map(|line| Some(line.split_once("TOLD ")?.1.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(
        told("{ url: \"http://127.0.0.1:9/{{ word }}\" }"),
        ["ECONNREFUSED of http://127.0.0.1:9/tea"]
    );
    assert_eq!(told("{ url: /healthz, capture: { json: $.absent, as: absent } }"), [""; 0]);
    assert_eq!(told("{ url: /healthz, match: { json: $.status, value: no } }"), [""; 0]);
    assert_eq!(told("{ url: /healthz, afterResponse: refuse }"), [""; 0]);
}

#[test]
fn a_condition_that_throws_holds_and_a_new_name_counts_nothing_and_both_are_told_once() {
    let functions = "
exports.broken = () => { throw new Error('no such flag'); };
exports.rename = async (request) => { request.name = 'mine'; };
";
    let scenario = "
  - flow:
      - get: { url: /healthz, ifTrue: broken, beforeRequest: rename }
      - get: { url: /healthz, ifTrue: broken, beforeRequest: rename }
";
    let answer = run(functions, "", scenario);
    let document = all_well(&answer);
    assert_eq!(operation(&document, "GET /healthz")["count"], json!(2));
    let throws = "the function \"broken\" failed: no such flag";
    let named = "a function has named a request \"mine\": it is still counted as \"GET /healthz\"";
    for told in [throws, named] {
        assert_eq!(answer.err.matches(told).count(), 1, "{told}: {}", answer.err);
    }
    assert!(answer.err.contains(": the step is taken"), "{}", answer.err);
}
