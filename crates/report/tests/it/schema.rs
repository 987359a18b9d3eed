use crate::fixture;
use jsonschema::Validator;
use serde_json::{Value, json};
use sonagi_measure::outcome::OperationKind;
use sonagi_measure::summary::Summary;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn document(run: &Summary) -> Value {
    serde_json::from_str(&sonagi_report::json::summary(run)).unwrap()
}

fn complaints(document: &Value) -> Vec<String> {
    let validator: Validator = jsonschema::validator_for(&schema()).unwrap();
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn every_summary_is_as_its_schema_says() {
    for run in [fixture::minimal(), fixture::fan_out(), fixture::with_plugins(), fixture::everything()] {
        assert_eq!(complaints(&document(&run)), Vec::<String>::new(), "{}", run.name);
    }
}

#[test]
fn traffic_has_the_members_that_its_schema_lists_in_that_order() {
    let (document, schema) = (document(&fixture::minimal()), schema());
    let listed = schema["properties"]["traffic"]["required"].as_array().unwrap();
    let members = document["traffic"].as_object().unwrap().keys();
    assert_eq!(members.map(|name| json!(name)).collect::<Vec<_>>(), *listed);
}

#[test]
fn the_kinds_of_operations_are_those_that_the_schema_lists() {
    let kinds: Vec<Value> = OperationKind::all().map(|kind| json!(kind.name())).collect();
    assert_eq!(json!(kinds), schema()["$defs"]["operation"]["properties"]["kind"]["enum"]);
}

#[test]
fn a_field_the_schema_does_not_know_is_refused_wherever_it_stands() {
    for place in ["", "/delivery", "/users", "/generator", "/operations/0", "/errors/0", "/traffic"] {
        let mut document = document(&fixture::everything());
        let object = document.pointer_mut(place).unwrap().as_object_mut().unwrap();
        object.insert("surprise".into(), json!(1));
        assert!(!complaints(&document).is_empty(), "{place}");
    }
}

#[test]
fn a_renamed_or_missing_field_is_refused() {
    for (place, name) in [("", "verdict"), ("/delivery", "lost"), ("/users/session_ms", "p999")] {
        let mut document = document(&fixture::everything());
        let object = document.pointer_mut(place).unwrap().as_object_mut().unwrap();
        let value = object.remove(name).unwrap();
        assert!(!complaints(&document).is_empty(), "{place} without {name}");
        document
            .pointer_mut(place)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert(format!("{name}_renamed"), value);
        assert!(!complaints(&document).is_empty(), "{place} with {name} renamed");
    }
}

#[test]
fn every_name_of_the_schema_is_described() {
    fn walk(place: &str, node: &Value, missing: &mut Vec<String>) {
        for (name, property) in node["properties"].as_object().into_iter().flatten() {
            let place = format!("{place}.{name}");
            if property["description"].as_str().is_none_or(str::is_empty) {
                missing.push(place.clone());
            }
            walk(&place, property, missing);
            walk(&place, &property["items"], missing);
            for option in property["anyOf"].as_array().into_iter().flatten() {
                walk(&place, option, missing);
            }
        }
    }
    let schema = schema();
    let mut missing = Vec::new();
    walk("", &schema, &mut missing);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        walk(name, definition, &mut missing);
    }
    assert_eq!(missing, Vec::<String>::new());
}
