//! The key tables as a JSON Schema (draft 2020-12), for editors.
//!
//! A value's shape follows from the words of the tables' `wants`: [`shape`] knows every one of them, and a test checks
//! that. The schema does not know how keys depend on each other; `sonagi check` does.

use serde_json::{Map, Value, json};

use super::area::{Area, Key, SECONDS_OR_RATE, Support};
use super::config::SCRIPT;
use super::{AREAS, STEPS};
use crate::script::yaml;

/// The whole schema.
pub(crate) fn editor() -> Value {
    let mut definitions = Map::new();
    let is_step = |area: &Area| STEPS.iter().any(|(_, of)| of.path == area.path);
    for area in AREAS.iter().filter(|area| !is_step(area)) {
        definitions.insert(name(area), definition(area));
    }
    let mut steps = Vec::new();
    for &(verb, area) in STEPS {
        let name = format!("step-{verb}");
        steps.push(json!({ "$ref": reference(&name) }));
        definitions.insert(name, step(verb, area));
    }
    definitions.insert("step".into(), json!({ "type": "object", "anyOf": steps }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A script of Sonagi",
        "description": "What `sonagi run` reads; `sonagi check` finds more than this schema can.",
        "$ref": reference(&name(&SCRIPT)),
        "required": ["config", "scenarios"],
        "$defs": definitions,
    })
}

/// A place's name among the definitions: its path without the characters that a pointer would have to escape.
fn name(area: &Area) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    area.path.chars().map(plain).collect()
}

fn reference(name: &str) -> String {
    format!("#/$defs/{name}")
}

fn definition(area: &Area) -> Value {
    let mut definition = json!({
        "title": area.path,
        "type": ["object", "null"],
        "properties": area.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect::<Map<_, _>>(),
        "additionalProperties": false,
    });
    // Plugins of other names are taken with a notice.
    if area.path == super::PLUGINS.path {
        definition["additionalProperties"] = Value::from(true);
    }
    if area.path == SCRIPT.path {
        definition["patternProperties"] = json!({ "^x-": true });
    }
    definition
}

/// A step: its verb, and what may stand beside it: other verbs of its kind may not.
fn step(verb: &str, area: &Area) -> Value {
    let is_other =
        |name: &str| name != verb && STEPS.iter().any(|(other, of)| *other == name && of.path == area.path);
    let beside = area.keys.iter().filter(|key| !is_other(key.name));
    json!({
        "title": area.path,
        "type": "object",
        "properties": beside.map(|key| (key.name.to_owned(), property(key))).collect::<Map<_, _>>(),
        "required": [verb],
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Value {
    let (shape, description) = match key.support {
        Support::Honoured => (shape(key).unwrap_or(json!({})), format!("{} Wants {}.", key.about, key.wants)),
        Support::Refused => {
            (json!({ "not": {} }), format!("Refused: {}. Instead: {}.", key.wants, key.example))
        }
        Support::Ignored if key.wants.is_empty() => (json!({}), "Accepted; changes nothing.".to_owned()),
        Support::Ignored => (json!({}), format!("No effect: {}.", key.wants)),
    };
    let mut property = shape;
    property["description"] = Value::from(description);
    if key.support == Support::Ignored {
        property["deprecated"] = Value::from(true);
    }
    if key.support == Support::Honoured
        && let Some(example) = yaml::parse(key.example, &mut Vec::new())
    {
        property["examples"] = json!([example.to_value()]);
    }
    property
}

/// A text with a template, which may become anything.
fn template() -> Value {
    json!({ "type": "string", "pattern": "\\{\\{" })
}

fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn number(kind: &str) -> Value {
    json!({ "anyOf": [{ "type": kind, "minimum": 0 }, { "type": "string", "pattern": "^\\s*[0-9.]+\\s*$|\\{\\{" }] })
}

/// A number without a sign, as a pattern.
const DIGITS: &str = "[0-9]*\\.?[0-9]+";
/// The units of times, as a pattern.
const UNITS: &str = "(ms|msecs?|millis|milliseconds?|s|sec|secs|seconds?|\
                     m|min|mins|minutes?|h|hr|hrs|hours?|d|days?|w|weeks?)";

fn time() -> Value {
    let pattern = format!("^\\s*{DIGITS}\\s*{UNITS}?\\s*$|\\{{\\{{");
    json!({ "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": pattern }] })
}

fn time_or_rate() -> Value {
    let rate = format!("^\\s*{DIGITS}\\s*/\\s*{UNITS}\\s*$");
    either(&[time(), json!({ "type": "string", "pattern": rate })])
}

fn boolean() -> Value {
    json!({ "anyOf": [{ "enum": [true, false, "true", "false"] }, template()] })
}

/// The words in backticks, and the numbers they may be without quotes.
fn words(wants: &str) -> Value {
    let mut words: Vec<Value> = Vec::new();
    for word in wants.split('`').skip(1).step_by(2) {
        words.push(Value::from(word));
        words.extend(yaml::number(word).map(Value::Number));
    }
    json!({ "anyOf": [{ "enum": words }, template()] })
}

fn either(shapes: &[Value]) -> Value {
    json!({ "anyOf": shapes })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn one_or_more(of: Value) -> Value {
    either(&[of.clone(), list(of)])
}

fn names_to(of: Value) -> Value {
    json!({ "type": ["object", "null"], "additionalProperties": of })
}

/// The mappings a key may hold.
fn mapping(key: &Key) -> Value {
    match key.of {
        [] => json!({ "type": ["object", "null"] }),
        [one] => json!({ "$ref": reference(&name(one)) }),
        several => {
            let several: Vec<Value> =
                several.iter().map(|area| json!({ "$ref": reference(&name(area)) })).collect();
            either(&several)
        }
    }
}

/// The schema of a value that the tables describe by `wants`; None: these words are unknown here.
fn shape(key: &Key) -> Option<Value> {
    let step = || json!({ "$ref": reference("step") });
    let text_or_null = || json!({ "type": ["string", "number", "boolean", "null"] });
    Some(match key.wants {
        "true" => json!({ "enum": [true, null] }),
        "true or false" => boolean(),
        // Anything; the mappings that mean something are there for the editor to complete.
        "a text, or a value sent as JSON" if !key.of.is_empty() => either(&[json!({}), mapping(key)]),
        "any value" | "a text, or a value sent as JSON" => json!({}),
        "a plain value" => text_or_null(),
        "true, or a mapping" => either(&[boolean(), mapping(key)]),
        "an address, true, or a mapping of options" => {
            either(&[json!({ "type": "string" }), json!({ "const": true }), mapping(key)])
        }
        "a text, or a mapping" | "a room, or (STOMP) a mapping with a destination" => {
            either(&[scalar(), mapping(key)])
        }
        "a channel with data, or a list [event, …arguments]" => {
            either(&[json!({ "type": "array", "minItems": 1 }), mapping(key)])
        }
        "a mapping"
        | "a request"
        | "a mapping with a flow"
        | "a mapping with user and pass"
        | "a mapping with capture or match" => mapping(key),
        wants if wants.starts_with("a mapping of names to ") => return names_shape(key),
        "a mapping of named settings" => names_to(json!({ "$ref": reference("config") })),
        "a list of metric: limit" => one_or_more(names_to(number("number"))),
        "a list of conditions" => one_or_more(either(&[json!({ "type": "string" }), mapping(key)])),
        "a list of scenarios" => list(mapping(key)),
        "a list of phases"
        | "a capture or a list of them"
        | "a match or a list of them"
        | "a payload or a list of them"
        | "a mapping or a list of them" => one_or_more(mapping(key)),
        // An anchor may bring several steps to the place of one.
        "a list of steps" => json!({ "type": "array", "items": one_or_more(step()), "minItems": 1 }),
        "a step, or a list of steps" => one_or_more(step()),
        "a list of texts" | "a list of variable names" => one_or_more(scalar()),
        "a text for the shell, or a list of a program and its arguments" => one_or_more(scalar()),
        "an address, a port, or a mapping" => either(&[scalar(), mapping(key)]),
        "a list of a header's name and its value" => {
            json!({ "type": "array", "items": scalar(), "minItems": 2, "maxItems": 2 })
        }
        "a list of two numbers of milliseconds" => {
            json!({ "type": "array", "items": number("integer"), "minItems": 2, "maxItems": 2 })
        }
        "a list, or the name of a variable that is one" => json!({ "type": ["array", "string"] }),
        "a status or a list of them" => one_or_more(either(&[
            json!({ "type": "integer", "minimum": 100, "maximum": 599 }),
            json!({ "type": "string" }),
        ])),
        "a number" | "a number of users per second" | "a percentage, 0 to 100" | "milliseconds" => {
            number("number")
        }
        "milliseconds, or a percentage" | "a share, or a percentage" => {
            json!({ "type": ["number", "string"] })
        }
        "`first`, `last`, `random` or a whole number from 0" => {
            either(&[words(key.wants), number("integer")])
        }
        "a whole number, or a range" | "the number or name of a group" => {
            json!({ "type": ["integer", "string"] })
        }
        "a whole number from 1" => json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, template()] }),
        wants if wants.starts_with("a whole number") => number("integer"),
        SECONDS_OR_RATE => time_or_rate(),
        wants if wants.starts_with("a time") => time(),
        wants if wants.ends_with("or a list of them") => one_or_more(scalar()),
        wants if wants.starts_with("a list of `") => one_or_more(words(wants)),
        wants if wants.starts_with('`') && wants.ends_with('`') => words(wants),
        wants => return is_text(wants).then(scalar),
    })
}

/// The same of what is a mapping whose names are free.
fn names_shape(key: &Key) -> Option<Value> {
    let text_or_null = || json!({ "type": ["string", "number", "boolean", "null"] });
    Some(match key.wants {
        "a mapping of names to texts" => names_to(text_or_null()),
        "a mapping of names to texts or lists of them" => {
            names_to(either(&[text_or_null(), list(text_or_null())]))
        }
        "a mapping of names to texts or parts" => names_to(either(&[text_or_null(), mapping(key)])),
        "a mapping of names to texts, or a text" => {
            either(&[json!({ "type": "string" }), names_to(text_or_null())])
        }
        "a mapping of names to values" => names_to(json!(true)),
        "a mapping of names to lists" => names_to(either(&[
            scalar(),
            json!({ "type": "array", "items": scalar(), "minItems": 1, "uniqueItems": true }),
        ])),
        _ => return None,
    })
}

/// Words for what is one line of text to a schema.
fn is_text(wants: &str) -> bool {
    const TEXTS: &[&str] = &[
        "`memory`, or a file's name",
        "a CSS selector",
        "a folder's name, relative to the script",
        "a number of cores",
        "a number of CPU credits",
        "a size",
        "bits a second",
        "the name of a machine",
        "the name of a signal",
        "a JMESPath",
        "a JSONPath",
        "a file name",
        "a media type",
        "a media type, or `json`",
        "a member's name",
        "a path",
        "a path, relative to the script",
        "a regular expression",
        "a room",
        "a text",
        "a variable name",
        "an XPath",
        "an address",
        "an address, absolute or relative to the target",
        "an expression over metrics",
        "any of the letters i, m, s, g, u",
        "one character",
        "the address of the service",
        "the name of a function of the processor",
        "the name of an attribute",
        "the name of a header",
        "the name of a query parameter",
        "the name of an axis of the matrix",
        "the name of a figure of the summary",
        "the name of a step, or the channel of an emit",
        "the name of a step, the channel of an emit, or `connect`",
        "an expression over variables, or the name of a function",
        "the path of a file, relative to the script",
    ];
    TEXTS.contains(&wants)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_schema_knows_what_every_key_wants() {
        for area in AREAS {
            for key in area.keys.iter().filter(|key| key.support == Support::Honoured) {
                assert!(shape(key).is_some(), "{} in {} wants {:?}", key.name, area.path, key.wants);
            }
        }
        let names: BTreeSet<String> = AREAS.iter().map(|area| name(area)).collect();
        assert_eq!(names.len(), AREAS.len(), "every place has a name of its own");
    }

    #[test]
    fn every_place_of_a_mapping_is_reached_from_the_script() {
        let text = editor().to_string();
        for area in AREAS.iter().filter(|area| !STEPS.iter().any(|(_, of)| of.path == area.path)) {
            assert!(text.contains(&format!("\"{}\"", reference(&name(area)))), "{} is reached", area.path);
        }
    }
}
