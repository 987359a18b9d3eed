//! Scripts with a processor, from the command line to the run folder.

use crate::support::{Place, Service};
use serde_json::{Value, json};

/// Logs in by itself, changes the request after it, looks at its response, and fails every tenth user.
const PEOPLE: &str = r#"
import { DoneCallback } from 'passport'; // only a type: the package is not there
import { person, type Person } from './people';

let users = 0;
export const pick = async (context: any, events: any) => {
  users += 1;
  const chosen: Person = person(users);
  context.vars = { ...context.vars, ...chosen, number: users };
  events.emit('counter', 'picked', 1);
  events.emit('histogram', 'numbers', users);
};
export function sign(request: any, context: any, events: any, done: DoneCallback): void {
  request.json = { email: '{{ email }}', password: context.vars.password };
  setTimeout(done, 1);
}
export function look(request: any, response: any, context: any, events: any, done: DoneCallback): void {
  const { access_token: token } = JSON.parse(response.body);
  context.vars.token = token;
  console.log('logged in as %s', context.vars.email);
  done();
}
export const every_tenth = async ({ vars }: any) => {
  if (vars.number % 10 === 0) throw new Error('a tenth fails');
};
export const again = (context: any, next: (again: boolean) => void) => next(context.vars.$loopCount < 3);
"#;

const HELPER: &str = "export interface Person { email: string; password: string }
export const person = (n: number): Person => ({ email: `user${n}@example.test`, password: 'password' });";

const SCRIPT: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 1, arrivalRate: 20 }]
  processor: ./functions.ts
  ensure: { thresholds: [{ picked: 21 }] }
scenarios:
  - beforeScenario: pick
    flow:
      - post: { url: /auth/login, beforeRequest: sign, afterResponse: look }
      - function: every_tenth
      - loop:
          - get: { url: /users/friends, headers: { authorization: "Bearer {{ token }}" }, expect: { statusCode: 200 } }
        whileTrue: again
"#;

fn written(script: &str) -> Place {
    let place = Place::new();
    place.write("functions.ts", PEOPLE);
    place.write("people.ts", HELPER);
    place.write("s.yml", script);
    place
}

fn operation<'d>(document: &'d Value, name: &str) -> &'d Value {
    let operations = document["operations"].as_array().unwrap();
    operations.iter().find(|operation| operation["name"] == name).unwrap()
}

#[test]
fn functions_set_variables_change_requests_and_see_responses() {
    let place = written(SCRIPT);
    let service = Service::start(&place, &["--seed-users", "20"]);
    let arguments = ["run", "s.yml", "-t", &service.url, "--json", "--shards", "1"];
    let answer = place.sonagi(&arguments);
    assert_eq!(answer.code, Some(1), "two of twenty users failed: {answer:?}");
    let document = answer.json();
    assert_eq!((&document["users"]["completed"], &document["users"]["failed"]), (&json!(18), &json!(2)));
    assert_eq!(document["http_codes"], json!({ "200": 20 + 18 * 3 }));
    assert_eq!(operation(&document, "every_tenth")["failed"], 2);
    let error = &document["errors"][0];
    assert_eq!((&error["code"], &error["count"]), (&json!("function_failed"), &json!(2)));
    assert_eq!(error["called"], "a tenth fails", "it is counted by its message");
    let example = error["example"].as_str().unwrap();
    assert!(example.starts_with("the function \"every_tenth\" failed: a tenth fails (at "), "{example}");
    assert!(example.contains("functions.ts:24:"), "lines are those of the source: {example}");
    assert_eq!(document["metrics"]["picked"]["sum"], 20.0);
    assert_eq!(document["metrics"]["numbers"]["values"]["count"], 20);
    assert_eq!(place.reported()["metrics"], document["metrics"], "the folder knows them, too");
    assert!(answer.err.contains("logged in as user7@example.test"), "{}", answer.err);
    assert!(document["thresholds"][0]["held"] == true, "{}", document["thresholds"]);
}

#[test]
fn a_run_whose_functions_are_not_there_does_not_start() {
    let place = written(&SCRIPT.replace("function: every_tenth", "function: every_tenht"));
    let answer = place.sonagi(&["run", "s.yml", "-t", "http://127.0.0.1:9"]);
    let line = 1 + SCRIPT.lines().position(|line| line.contains("function: every_tenth")).unwrap();
    for (command, heard) in [("run", &answer.err), ("check", &place.sonagi(&["check", "s.yml"]).out)] {
        assert!(heard.contains(&format!("s.yml:{line}:")), "{command}: {heard}");
        assert!(heard.contains("the processor exports no function \"every_tenht\""), "{command}: {heard}");
        assert!(heard.contains("hint: did you mean \"every_tenth\"?"), "{command}: {heard}");
    }
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let place = written(SCRIPT);
    place.write("people.ts", "export const person = (n: number => n;");
    let answer = place.sonagi(&["run", "s.yml"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.err.contains("people.ts:1:"), "{answer:?}");
    let answer = place.command(&["run", "s.yml"]).env("PATH", "/nowhere").output().unwrap();
    let place = written(SCRIPT);
    let without_node = place.command(&["run", "s.yml"]).env("PATH", "/nowhere").output().unwrap();
    let told = String::from_utf8_lossy(&without_node.stderr).into_owned();
    assert!(told.contains("needs Node 18 or newer, and `node` was not found"), "{told}");
    assert_ne!(answer.status.code(), Some(0));
    let without_node = place.command(&["check", "s.yml"]).env("PATH", "/nowhere").output().unwrap();
    let told = String::from_utf8_lossy(&without_node.stdout).into_owned();
    assert!(told.starts_with("notice: s.yml: whether its functions are there is not known: "), "{told}");
    assert_eq!(without_node.status.code(), Some(0));
}

/// A script whose functions set what its steps depend on, and leave some of it out.
const UNSET: &str = r#"
config:
  target: "http://127.0.0.1:9"
  phases: [{ duration: 1, arrivalCount: 3 }]
  processor: ./flags.js
scenarios:
  - beforeScenario: raise
    flow:
      - get: { url: "/healthz?flag", ifTrue: flag }
      - get: { url: "/healthz?lowered", ifTrue: lowered }
      - get: { url: "/healthz?nobody", ifTrue: nobody }
      - get: { url: "/healthz?odd", ifTrue: isOdd, name: odd }
      - get: { url: "/healthz?sum", ifTrue: "flag and made.size > 1", name: sum }
      - get: { url: "/healthz?{{ nobody }}", headers: { x-nobody: "{{ nobody }}" }, name: unset }
      - parallel:
          - function: wait
          - get: { url: /healthz, capture: { regexp: "(.)", as: letter }, name: beside }
      - function: check
"#;

const FLAGS: &str = r"
exports.raise = ({ vars }, events, done) => (Object.assign(vars, { flag: true, lowered: 0, made: { size: 2 }, n: 1 }), done());
exports.isOdd = (vars) => vars.n % 2;
exports.wait = async ({ vars }) => { vars.waits = true; await new Promise((resolve) => setTimeout(resolve, 300)); vars.waited = true; };
exports.check = async ({ vars }) => {
  if (!vars.waited || !vars.letter) throw new Error(`branches left ${JSON.stringify(vars)}`);
};
";

#[test]
fn what_functions_set_decides_and_what_they_leave_out_is_told_once() {
    let place = Place::new();
    place.write("flags.js", FLAGS);
    place.write("s.yml", UNSET);
    let service = Service::start(&place, &[]);
    let answer = place.sonagi(&["run", "s.yml", "-t", &service.url, "--json", "--shards", "1"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let document = answer.json();
    assert_eq!(document["users"]["completed"], 3, "{answer:?}");
    let operations = document["operations"].as_array().unwrap();
    let counts: Vec<_> = operations
        .iter()
        .filter(|operation| operation["kind"] == "http")
        .map(|operation| (operation["name"].as_str().unwrap(), operation["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [("GET /healthz", 3), ("odd", 3), ("sum", 3), ("unset", 3), ("beside", 3)]);
    let told = "the variable `nobody` has no value in \"unset\": it is written as `undefined`, or left out";
    assert_eq!(answer.err.matches(told).count(), 1, "{}", answer.err);
}

#[test]
fn a_module_is_loaded_once_for_the_check_and_the_first_shard_and_what_it_prints_is_printed_once() {
    let module = "require('fs').appendFileSync(__dirname + '/loads', 'x'); console.log('loaded');";
    let script = r#"
config: { target: "http://127.0.0.1:9", phases: [{ duration: 1, arrivalCount: 2 }], processor: ./f.cjs }
scenarios: [{ flow: [{ function: go }] }]
"#;
    for (end, code) in [("exports.go = async () => {};", 0), ("throw new Error('broken');", 4)] {
        let place = Place::new();
        place.write("f.cjs", &format!("{module} {end}"));
        place.write("s.yml", script);
        let answer = place.sonagi(&["run", "s.yml", "-q", "--no-folder", "--shards", "1"]);
        assert_eq!((answer.code, answer.out.as_str()), (Some(code), "loaded\n"), "{answer:?}");
        assert_eq!(std::fs::read_to_string(place.path().join("loads")).unwrap(), "x", "{end}");
        let answer = place.sonagi(&["run", "s.yml", "--json", "--no-folder", "--shards", "1"]);
        assert!(answer.err.starts_with("loaded\n"), "standard output is the document's: {answer:?}");
        let answer = place.sonagi(&["check", "s.yml"]);
        assert_eq!(answer.err, "loaded\n", "{answer:?}");
    }
}

#[test]
fn a_run_whose_functions_cannot_follow_is_invalid_and_its_target_not_accused() {
    let place = Place::new();
    place.write(
        "burn.js",
        "exports.burn = () => { for (const since = Date.now(); Date.now() - since < 100; ); };",
    );
    // Two seconds of work are queued, and a request is a small part of a session: whoever else wants the cores, the
    // functions hardly ever wait for work.
    let script = r"
config:
  target: http://127.0.0.1:9
  phases: [{ duration: 10, users: 20 }]
  processor: ./burn.js
scenarios:
  - flow: [{ function: burn }, { get: { url: /healthz } }]
";
    place.write("s.yml", script);
    let service = Service::start(&place, &[]);
    let answer = place.sonagi(&["run", "s.yml", "-t", &service.url, "--json", "--shards", "1"]);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    let document = answer.json();
    let finding = document["generator"]["findings"].to_string();
    assert!(
        finding.contains("the script's functions (shard 0) wanted more than 90 % of a core for"),
        "{finding}"
    );
    assert_eq!(document["generator"]["cause"], "overloaded");
    let folder = document["run_folder"].as_str().unwrap();
    let explained = place.sonagi(&["explain", folder]);
    let is_just = ["the target kept up", "The load generator fell behind"]
        .iter()
        .any(|text| explained.out.contains(text));
    assert!(is_just, "{explained:?}");
}
