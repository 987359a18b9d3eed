//! The schema for editors: what loads fits it, and what editors should mark does not.

use crate::support::repository;
use jsonschema::Validator;
use serde_json::{Value, json};
use sonagi_artillery::{Overrides, json_schema, load_each};
use std::path::Path;

fn validator() -> Validator {
    jsonschema::draft202012::new(&json_schema()).unwrap()
}

/// A YAML text as the value its author wrote.
fn value(text: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("users.csv"), "email,password\na@b.test,x\n").unwrap();
    std::fs::write(folder.path().join("people.js"), "exports.pickPerson = async () => {};\n").unwrap();
    written(&path)
}

/// A script file as the value its author wrote: a plan keeps it.
fn written(path: &Path) -> Value {
    let runs = load_each(path, &Overrides::default()).unwrap_or_else(|problems| panic!("{problems}"));
    let matrix = runs[0].combination.0.len();
    let mut source = runs.into_iter().next().unwrap().plan.source;
    if matrix > 0 {
        source["matrix"] = json!({"a": [1, 2]});
    }
    source
}

fn complaints(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect()
}

#[test]
fn every_script_that_is_shown_or_tested_fits_the_schema() {
    let validator = validator();
    let mut seen = 0;
    let mut judge = |what: String, value: Value| {
        let complaints = complaints(&validator, &value);
        assert!(complaints.is_empty(), "{what}: {complaints:#?}");
        seen += 1;
    };
    for folder in [repository("examples"), repository("crates/artillery/tests/it/scripts")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.display().to_string();
            if name.ends_with(".yml") && !name.ends_with("twelve-mistakes.yml") {
                judge(name, written(&path));
            }
        }
    }
    for document in ["docs/scripts.md", "README.md"] {
        let text = std::fs::read_to_string(repository(document)).unwrap();
        for block in text.split("```yaml\n").skip(1) {
            judge(document.to_owned(), value(block.split("```").next().unwrap()));
        }
    }
    assert!(seen >= 20, "{seen} scripts were looked at");
}

#[test]
fn what_an_editor_should_mark_does_not_fit() {
    let validator = validator();
    let plain = json!({
        "config": {"target": "http://t", "phases": [{"duration": 1, "arrivalRate": 1}]},
        "scenarios": [{"engine": "ws", "flow": [{"send": "x"}]}],
    });
    assert_eq!(complaints(&validator, &plain), Vec::<String>::new());
    for (path, wrong) in [
        ("/x", json!(1)),
        ("/config/fases", json!([])),
        ("/config/target", json!({})),
        ("/config/phases/0/duration", json!("soon")),
        ("/config/phases/0/users", json!(-1)),
        ("/config/phases/0/users", json!(1.5)),
        ("/config/spacing", json!("random")),
        ("/config/processor", json!(["./p.js"])),
        ("/config/ws", json!({"subprotocol": ["a"]})),
        ("/config/stomp", json!({"versions": ["1.3"]})),
        ("/config/stomp", json!({"heartBeat": [1]})),
        ("/config/poll", json!({"cursor": {"jsn": "$.next"}})),
        ("/config/reconnect", json!({"attempts": "often"})),
        ("/config/environments", json!({"a": {"fases": []}})),
        ("/matrix", json!({"users": []})),
        ("/matrix", json!({"users": [1, 1]})),
        ("/serve", json!({"worker": 1})),
        ("/config/launch", json!({"comand": "x"})),
        ("/config/launch", json!({"command": "x", "limits": {"network": {"latency": "soon"}}})),
        ("/scenarios/0/engine", json!("telnet")),
        ("/scenarios/0/flow", json!([])),
        ("/scenarios/0/flow/0", json!({"sned": "x"})),
        ("/scenarios/0/flow/0", json!({"send": "x", "too": "y"})),
        ("/scenarios/0/flow/0", json!({"get": {"ulr": "/"}})),
        ("/scenarios/0/flow/0", json!({"loop": [{"thnk": 1}]})),
        ("/scenarios/0/flow/0", json!({"disconnect": 3})),
    ] {
        let mut script = plain.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let holder = if parent.is_empty() { Some(&mut script) } else { script.pointer_mut(parent) };
        match holder.unwrap() {
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = wrong.clone(),
            other => other[key] = wrong.clone(),
        }
        assert!(!validator.is_valid(&script), "{path}: {wrong} fits");
    }
}

#[test]
fn an_editor_takes_a_rate_for_a_pace_and_for_no_other_time() {
    let validator = validator();
    let fits = |key: &str, value: &Value| {
        let mut step = json!({"loop": [{"get": {"url": "/"}}], "pace": 1});
        step[key] = value.clone();
        validator.is_valid(&json!({
            "config": {"target": "http://t", "phases": [{"duration": 1, "arrivalRate": 1}]},
            "scenarios": [{"flow": [step]}],
        }))
    };
    for rate in [json!("20/s"), json!("0.5 / min")] {
        assert!(fits("pace", &rate) && !fits("phase", &rate), "{rate}");
    }
    for time in [json!(2), json!("500ms"), json!("{{ messages }}/s")] {
        assert!(fits("pace", &time) && fits("phase", &time), "{time}");
    }
    for wrong in [json!("20/"), json!("/s"), json!("20 per second"), json!("20/fortnight"), json!(-1)] {
        assert!(!fits("pace", &wrong), "{wrong}");
    }
}

/// The example of every key is one an author could copy.
#[test]
fn every_example_of_a_key_fits_what_is_said_of_it() {
    let schema = json_schema();
    let mut seen = 0;
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let Some(properties) = definition["properties"].as_object() else { continue };
        let mut place = json!({"$ref": format!("#/$defs/{name}")});
        place["$defs"] = schema["$defs"].clone();
        let validator = jsonschema::draft202012::new(&place).unwrap();
        let required = |verb: &str| properties[verb]["examples"][0].clone();
        for (key, property) in properties {
            let Some(example) = property["examples"].get(0) else { continue };
            let mut value = json!({});
            for verb in definition["required"].as_array().into_iter().flatten() {
                value[verb.as_str().unwrap()] = required(verb.as_str().unwrap());
            }
            value[key] = example.clone();
            let complaints = complaints(&validator, &value);
            assert!(complaints.is_empty(), "{key} of {name}: {complaints:#?}");
            seen += 1;
        }
    }
    assert!(seen > 250, "{seen} examples were looked at");
}
