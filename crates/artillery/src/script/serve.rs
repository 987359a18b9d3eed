//! `serve:`: the reference service a run brings along.
//!
//! Only its options are read here. Starting it is the caller's business, and what an option may be worth is the
//! command's to say ([`crate::script::Overrides::serve`]): a script has the same rules as the command line, written
//! down once. What else may be said of any service that is launched is said of it as there, and judged by the same
//! rules ([`crate::script::Overrides::launch`]).

use crate::script::launch::{self, RefusesLaunch};
use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema::{self, Key, Support};
use crate::script::yaml::{Kind, Node, Place};
use crate::script::{Overrides, config};
use serde_json::{Map, Value};

/// The keys that are none of the command's options: what they say is said of any service that is launched.
const OF_LAUNCH: [&str; 4] = ["limits", "host", "before", "after"];

/// A `sonagi serve` that is started before a run and is its target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Serve {
    /// The arguments of the command `sonagi serve`, beside the address it listens on: `--workers=1`.
    pub arguments: Vec<String>,
    /// What is said of it as in `config.launch`: a mapping of `limits`, `host`, `before` and `after`, templates filled
    /// in, or nothing.
    pub launch: Value,
}

/// The command's objection to one of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedArgument {
    /// The argument's index, from 0.
    pub argument: usize,
    /// The rule and what breaks it, as what follows the option's name.
    pub why: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// Finds the arguments that a command does not accept.
pub type Refuses = fn(&[String]) -> Vec<RefusedArgument>;

/// The names of all options a script can set, as the command line has them: `seed-users`.
pub fn serve_options() -> Vec<String> {
    options().map(|key| flag(key.name)).collect()
}

/// The keys that are options of the command.
fn options() -> impl Iterator<Item = &'static Key> {
    let is_option = |key: &&Key| key.support == Support::Honoured && !OF_LAUNCH.contains(&key.name);
    schema::SERVE.keys.iter().filter(is_option)
}

/// Reads `serve:` of a script.
pub(crate) fn serve(reader: &mut Reader, script: &Fields<'_>, overrides: &Overrides) -> Option<Serve> {
    let entry = script.entry("serve")?;
    match &entry.value.kind {
        Kind::Map(_) | Kind::Bool(true) | Kind::Null => {}
        Kind::Bool(false) => return None,
        _ => {
            reader.wrong(script, "serve", &entry.value);
            return None;
        }
    }
    if !matches!(entry.value.kind, Kind::Map(_)) {
        return Some(Serve::default());
    }
    let fields = reader.fields(&entry.value, &schema::SERVE)?;
    let problems = reader.problems.len();
    let mut arguments = Vec::new();
    let mut said: Vec<(&str, Place)> = Vec::new();
    for key in options() {
        if let Some(node) = fields.get(key.name) {
            let values = option(reader, &fields, key, node);
            said.extend(values.iter().map(|_| (key.name, node.place)));
            arguments.extend(values.into_iter().map(|value| match value {
                Some(value) => format!("--{}={value}", flag(key.name)),
                None => format!("--{}", flag(key.name)),
            }));
        }
    }
    // A mistake in the script would be reported twice.
    if let Some(refuses) = overrides.serve.filter(|_| reader.problems.len() == problems) {
        for RefusedArgument { argument, why, hint } in refuses(&arguments) {
            let (name, place) = said.get(argument).copied().unwrap_or(("serve", entry.place));
            reader.problem(place, format!("{name}: {why}"), hint);
        }
    }
    let launch = of_launch(reader, &fields, &entry.value, overrides.launch);
    Some(Serve { arguments, launch })
}

/// What is said of the service as of any that is launched.
fn of_launch(
    reader: &mut Reader,
    fields: &Fields<'_>,
    serve: &Node,
    refuses: Option<RefusesLaunch>,
) -> Value {
    let problems = reader.problems.len();
    let mut said = Map::new();
    for key in OF_LAUNCH {
        if let Some(value) = fields.get(key) {
            said.insert(key.to_owned(), config::filled(reader, value));
        }
    }
    if said.is_empty() {
        return Value::Null;
    }
    // What could not be filled in would be reported twice.
    if let Some(refuses) = refuses.filter(|_| reader.problems.len() == problems) {
        // Whoever judges it wants a command, which is not the script's to say here.
        let mut whole = said.clone();
        whole.insert("command".to_owned(), Value::from("sonagi serve"));
        launch::report(reader, serve, refuses(&Value::Object(whole)));
    }
    Value::Object(said)
}

/// The values an option is given, one flag each; None: the flag alone.
fn option(reader: &mut Reader, fields: &Fields<'_>, key: &'static Key, node: &Node) -> Vec<Option<String>> {
    match key.wants {
        "true or false" => {
            let set = reader.boolean(fields, key.name) == Some(true);
            if set { vec![None] } else { Vec::new() }
        }
        wants if wants.starts_with("a whole number") => {
            reader.whole(fields, key.name).map(|number| Some(number.to_string())).into_iter().collect()
        }
        wants if wants.starts_with("a time") => {
            let time = reader.duration(fields, key.name);
            time.map(|time| Some(format!("{}ms", time.as_millis()))).into_iter().collect()
        }
        wants if wants.contains("list") => {
            crate::script::options::texts(reader, fields, key.name).into_iter().map(Some).collect()
        }
        _ => {
            if plain_text(node).is_none() {
                reader.wrong(fields, key.name, node);
            }
            reader.constant(node).map(Some).into_iter().collect()
        }
    }
}

/// `seedUsers` as the command line writes it: `seed-users`; `longExpiry503`: `long-expiry-503`.
fn flag(name: &str) -> String {
    let mut flag = String::new();
    let mut in_number = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() || (c.is_ascii_digit() && !in_number) {
            flag.push('-');
        }
        in_number = c.is_ascii_digit();
        flag.push(c.to_ascii_lowercase());
    }
    flag
}
