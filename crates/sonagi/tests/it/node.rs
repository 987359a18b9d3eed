//! The Node of a script's processor: what it is told, when it starts, and what ends it.

use crate::support::{Place, Running};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A user a second that calls `tell`, then `wait`, and stays.
fn script(processor: &str) -> String {
    format!(
        "
config:
  target: \"http://127.0.0.1:9\"
  processor: ./{processor}
  phases: [{{ duration: 600, arrivalRate: 1 }}]
scenarios: [{{ flow: [{{ function: tell }}, {{ function: wait }}, {{ think: 600 }}] }}]
"
    )
}

/// Says which process it is.
const TELL: &str = "exports.tell = async () => console.error('pid %d', process.pid);";

fn placed(name: &str, code: &str) -> Place {
    let place = Place::new();
    place.write("s.yml", &script(name));
    place.write(name, code);
    place
}

fn started(place: &Place) -> Running {
    let mut command = place.command(&["run", "s.yml", "--shards", "1", "--no-folder"]);
    // A shell starts it in a group of its own, which a terminal signals as a whole.
    command.process_group(0);
    Running::start(command)
}

fn node(run: &mut Running) -> String {
    run.wait_for("pid ");
    let pid = run.said().split("pid ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    format!("/proc/{pid}")
}

#[test]
fn a_terminals_interrupt_ends_the_run_and_not_its_functions() {
    let code = format!(
        "require('fs').appendFileSync(__dirname + '/loaded', 'x');
         {TELL} exports.wait = (context, events, done) => setTimeout(done, 10);"
    );
    let place = placed("wait.js", &code);
    let mut run = started(&place);
    let node = node(&mut run);
    kill_process_group(Pid::from_raw(run.id() as i32).unwrap(), Signal::INT).unwrap();
    run.wait_for("stopping");
    let answer = run.end();
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(!answer.err.contains("ended by itself"), "{}", answer.err);
    let loaded = std::fs::read_to_string(place.path().join("loaded")).unwrap();
    assert_eq!(loaded, "x", "it was loaded once, for its exports and for the run");
    assert!(!Path::new(&node).exists());
}

#[test]
fn a_run_whose_module_is_never_loaded_ends_when_it_is_asked_to() {
    let hangs = "await new Promise(() => setInterval(() => {}, 1e6));
        export const tell = () => {}; export const wait = tell;";
    let place = placed("hangs.mjs", hangs);
    let mut run = started(&place);
    // Until the question for its exports is given up there is no run that could be asked to end.
    run.wait_for("s against");
    let begun = Instant::now();
    run.signal(Signal::INT);
    run.wait_for("stopping");
    let answer = run.end();
    assert!(begun.elapsed() < Duration::from_secs(20), "its minute was not waited for");
    assert_eq!(answer.code, Some(130), "nothing is no pass: {answer:?}");
    assert!(answer.out.contains("until then: no user was started"), "{answer:?}");
}

/// Node hangs on the socket that the generator holds; while a function runs it does not look at that.
#[test]
fn node_ends_with_a_generator_that_is_killed() {
    for wait in ["setInterval(() => {}, 1000)", "{ for (;;); }"] {
        let place = placed("wait.js", &format!("{TELL} exports.wait = async () => {wait};"));
        let mut run = started(&place);
        let node = node(&mut run);
        assert!(Path::new(&node).exists());
        run.signal(Signal::KILL);
        let deadline = Instant::now() + Duration::from_secs(20);
        while Path::new(&node).exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        let outlives_it = Path::new(&node).exists();
        if let Some(pid) = node.rsplit('/').next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw)
            && outlives_it
        {
            kill_process(pid, Signal::KILL).unwrap();
        }
        run.end();
        assert!(!outlives_it, "{wait}");
    }
}

#[test]
fn a_node_that_is_too_old_is_told_of_whatever_becomes_of_it() {
    // The first cannot read what it is to run, the second can and may fail at the module.
    let speechless = "[ \"$1\" = --version ] && echo v14.21.3\nexit 9";
    let speaks =
        "printf '\\044\\000\\000\\000[{\"is\":\"hello\",\"version\":\"v16.0.0\"}]' >&0\ncat >/dev/null";
    for (stand_in, version) in [(speechless, "v14.21.3"), (speaks, "v16.0.0")] {
        let place = placed("wait.js", TELL);
        std::fs::create_dir(place.path().join("bin")).unwrap();
        let program = place.write("bin/node", &format!("#!/bin/sh\n{stand_in}\n"));
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = place.command(&["run", "s.yml", "--shards", "1", "--no-folder"]);
        let output = command.env("PATH", path).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(&format!("needs Node 18 or newer, and `node` is {version}\n")), "{told}");
    }
}

#[test]
fn functions_find_what_templates_know_and_count_errors() {
    let place = Place::new();
    place.write("people.csv", "name\nann\nbob\n");
    place.write(
        "look.js",
        "const { basename, dirname } = require('path');
         exports.look = async ({ vars }, events) => {
           events.emit('error', 'ELOOKED');
           const { $scenarioFile: file, $processEnvironment: environment } = vars;
           const places = [basename(file), vars.$dirname === dirname(file)];
           console.log('known: %j', [vars.$environment, ...places, typeof vars.$testId, environment.STAND_IN, vars.target, vars.people]);
           if (vars.$environment === 'staging') vars.email = `${vars.people[1].name}@example.test`;
         };",
    );
    place.write(
        "s.yml",
        "
config:
  target: \"http://127.0.0.1:9\"
  processor: ./look.js
  phases: [{ duration: 1, arrivalCount: 1 }]
  environments: { staging: { variables: { word: Sesam } } }
  payload: { path: people.csv, fields: [name], skipHeader: true, loadAll: true, name: people }
scenarios: [{ flow: [{ function: look }, { log: \"sent to {{ email }}\" }] }]
",
    );
    let mut command = place.command(&["run", "s.yml", "-e", "staging", "--shards", "1", "--json"]);
    let output = command.env("STAND_IN", "here").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let people = json!([{ "name": "ann" }, { "name": "bob" }]);
    let known = json!(["staging", "s.yml", true, "string", "here", "http://127.0.0.1:9", people]);
    assert!(told.contains(&format!("known: {known}")), "{told}");
    assert!(told.contains("sent to bob@example.test"), "{told}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["metrics"]["errors.ELOOKED"]["sum"], 1.0);
}

#[test]
fn what_a_function_took_away_is_gone_for_the_node_that_comes_after_its_own() {
    let place = Place::new();
    let script = script("drop.js").replace("phases:", "variables: { word: Sesam, kept: here }\n  phases:");
    let flow = "flow: [{ function: drop }, { think: 1 }, { function: look }]";
    let script = script.replace("duration: 600, arrivalRate: 1", "duration: 1, arrivalCount: 1");
    let begin = script.find("flow:").unwrap();
    place.write("s.yml", &format!("{}{flow} }}]\n", &script[..begin]));
    place.write(
        "drop.js",
        "exports.drop = ({ vars }, events, done) => { delete vars.word; done(); setTimeout(() => process.exit(0), 50); };
         exports.look = async ({ vars }) => console.log('word: %s, kept: %s', vars.word, vars.kept);",
    );
    let answer = place.sonagi(&["run", "s.yml", "--shards", "1", "--no-folder"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.err.contains("the processor's Node ended by itself"), "{}", answer.err);
    assert!(answer.out.contains("word: undefined, kept: here"), "{}", answer.out);
}
