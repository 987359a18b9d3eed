//! `serve:`: the reference service a run brings along.
//!
//! Only its options are read here. Starting it is the caller's business, and what an option may be worth is the
//! command's to say ([`crate::script::Overrides::serve`]): a script has the same rules as the command line, written
//! down once.

use crate::script::reader::{Fields, Reader, plain_text};
use crate::script::schema;
use crate::script::yaml::{Kind, Node, Place};

/// A `sonagi serve` that is started before a run and is its target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serve {
    /// The arguments of the command `sonagi serve`, beside the address it listens on: `--workers=1`.
    pub arguments: Vec<String>,
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
    schema::SERVE
        .keys
        .iter()
        .filter(|key| key.support == schema::Support::Honoured)
        .map(|key| flag(key.name))
        .collect()
}

/// Reads `serve:` of a script.
pub(crate) fn serve(reader: &mut Reader, script: &Fields<'_>, refuses: Option<Refuses>) -> Option<Serve> {
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
    for key in schema::SERVE.keys.iter().filter(|key| key.support == schema::Support::Honoured) {
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
    if let Some(refuses) = refuses.filter(|_| reader.problems.len() == problems) {
        for RefusedArgument { argument, why, hint } in refuses(&arguments) {
            let (name, place) = said.get(argument).copied().unwrap_or(("serve", entry.place));
            reader.problem(place, format!("{name}: {why}"), hint);
        }
    }
    Some(Serve { arguments })
}

/// The values an option is given, one flag each; None: the flag alone.
fn option(
    reader: &mut Reader,
    fields: &Fields<'_>,
    key: &'static schema::Key,
    node: &Node,
) -> Vec<Option<String>> {
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
