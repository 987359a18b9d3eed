//! `{{ … }}`: what may stand in a hole, compiled to the engine's templates.
//!
//! A hole is a variable with a path into it, or one of the functions below; there are no operators. What is known
//! before the run (`$env.X`, `target`, …) is filled in here. Whether a variable can ever be set is decided elsewhere
//! ([`crate::script::names`]), because captures further down count too.

use crate::plan::template::{Key, Piece};
use crate::plan::{Expression, Function, Template};
use serde_json::Value;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::script::fakes::{self, Fakes};

mod path;
pub(crate) mod unknown;

use path::{operator, split_path};

/// The template values known before the run.
#[derive(Clone)]
pub(crate) struct Constants {
    /// The name given by `-e`.
    pub(crate) environment: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) test_id: String,
    /// The folder of the script.
    pub(crate) dirname: String,
    /// The script, absolute.
    pub(crate) script: String,
    /// Variables whose names look like something else: `user.name`, `$i`.
    pub(crate) odd_names: BTreeSet<String>,
    /// Made-up data, when the script has it.
    pub(crate) fakes: Option<Fakes>,
    /// Reads an environment variable.
    pub(crate) env: fn(&str) -> Option<String>,
    /// Stand in for environment variables that are not set.
    pub(crate) dotenv: Vec<(String, String)>,
}

impl Constants {
    /// An environment variable, or what stands in for it.
    fn variable(&self, name: &str) -> Option<String> {
        let stand_in = || self.dotenv.iter().rfind(|(known, _)| known == name);
        (self.env)(name).or_else(|| stand_in().map(|(_, value)| value.clone()))
    }

    /// Whether an environment variable is set, be it empty.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    /// The stand-ins for environment variables that are not set.
    pub(crate) fn stand_ins(&self) -> Vec<(String, String)> {
        self.dotenv.iter().filter(|(name, _)| (self.env)(name).is_none()).cloned().collect()
    }
}

impl Constants {
    /// The values that functions find among their variables; they have the environment themselves.
    pub(crate) fn known(&self) -> serde_json::Map<String, Value> {
        let environment = self.environment.as_deref().map(|name| ("$environment", name));
        let others =
            [("$testId", &self.test_id), ("$dirname", &self.dirname), ("$scenarioFile", &self.script)];
        let all = environment.into_iter().chain(others.map(|(name, value)| (name, value.as_str())));
        all.map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
    }

    /// Takes note of a variable's name, should it look like something else.
    pub(crate) fn note(&mut self, name: &str) {
        if name.starts_with('$') || name.contains(['.', '[', ' ']) {
            self.odd_names.insert(name.to_owned());
        }
    }
}

/// A mistake in a text with template expressions.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    /// In characters from the start of the text.
    pub(crate) offset: usize,
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
}

/// The built-in functions: one line each. `bare`: works without parentheses.
struct Builtin {
    name: &'static str,
    function: Function,
    arguments: std::ops::RangeInclusive<usize>,
    bare: bool,
    example: &'static str,
}

const fn builtin(
    name: &'static str,
    function: Function,
    arguments: std::ops::RangeInclusive<usize>,
    bare: bool,
    example: &'static str,
) -> Builtin {
    Builtin { name, function, arguments, bare, example }
}

const BUILTINS: &[Builtin] = &[
    builtin("$randomNumber", Function::RandomNumber, 0..=2, false, "{{ $randomNumber(1, 100) }}"),
    builtin("$randomString", Function::RandomString, 0..=1, false, "{{ $randomString(10) }}"),
    builtin("$uuid", Function::Uuid, 0..=0, true, "{{ $uuid }}"),
    builtin("$loopCount", Function::LoopCount, 0..=0, true, "{{ $loopCount }}"),
    builtin("$loopElement", Function::LoopElement, 0..=0, true, "{{ $loopElement }}"),
    builtin("$stamp", Function::Stamp, 0..=0, true, "{{ $stamp }}"),
    builtin("$now", Function::Now, 0..=0, true, "{{ $now }}"),
    builtin("$user", Function::User, 0..=0, true, "{{ $user }}"),
    builtin("$cursor", Function::Cursor, 0..=0, true, "{{ $cursor }}"),
    builtin("$quotient", Function::Quotient, 2..=2, false, "{{ $quotient($user, 10) }}"),
    builtin("$remainder", Function::Remainder, 2..=2, false, "{{ $remainder($user, 10) }}"),
];

/// Names beginning with `$` that are no functions.
const CONSTANTS: &[&str] =
    &["$env", "$processEnvironment", "$environment", "$testId", "$dirname", "$scenarioFile"];

/// The functions a template may call.
fn functions() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|builtin| builtin.name)
}

/// Compiles a text, or says what is wrong in each of its holes. Either way `seen` hears of every variable and loop
/// function with its offset.
pub(crate) fn parse(
    text: &str,
    constants: &Constants,
    seen: &mut dyn FnMut(&str, usize),
) -> Result<Template, Vec<Fault>> {
    let mut template = Template::default();
    let mut faults = Vec::new();
    let mut rest = text;
    let mut offset = 0;
    while let Some(open) = rest.find("{{") {
        push_text(&mut template, &rest[..open]);
        let start = offset + rest[..open].chars().count();
        let mut inner = &rest[open + 2..];
        let Some(mut close) = closing(inner) else {
            faults.push(fault(start, "`{{` without `}}`", None));
            return Err(faults);
        };
        // Three braces are as good as two.
        let is_triple = inner.starts_with('{') && inner[close..].starts_with("}}}");
        if is_triple {
            inner = &inner[1..];
            close -= 1;
        }
        let braces = 2 + usize::from(is_triple);
        let hole = Hole { text: &inner[..close], offset: start + braces, constants };
        match hole.parse(seen) {
            Ok(Expression::Constant(Value::String(text))) => push_text(&mut template, &text),
            Ok(expression) => template.pieces.push(Piece::Hole(expression)),
            Err(fault) => faults.push(fault),
        }
        rest = &inner[close + braces..];
        offset = start + 2 * braces + inner[..close].chars().count();
    }
    push_text(&mut template, rest);
    if faults.is_empty() { Ok(unknown::alone(template)) } else { Err(faults) }
}

/// Where the hole ends: the first `}}` outside quotes that closes no hole inside it.
fn closing(inner: &str) -> Option<usize> {
    let mut quote = None;
    let (mut depth, mut skip) = (0_usize, 0_usize);
    for (at, c) in inner.char_indices() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if inner[at..].starts_with("[{{") => (depth, skip) = (depth + 1, 2),
            None if inner[at..].starts_with("}}") && depth > 0 => (depth, skip) = (depth - 1, 1),
            None if inner[at..].starts_with("}}") => return Some(at),
            None => {}
        }
    }
    // A stray apostrophe must not hide the end.
    quote.and_then(|_| inner.find("}}"))
}

fn push_text(template: &mut Template, text: &str) {
    if text.is_empty() {
        return;
    }
    match template.pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(text),
        _ => template.pieces.push(Piece::Text(text.to_owned())),
    }
}

/// The result of a random function that is drawn once, for the whole run. None for other functions, and with users'
/// values among the arguments.
pub(crate) fn drawn(function: Function, arguments: &[Expression]) -> Option<String> {
    let numbers: Option<Vec<i64>> = arguments
        .iter()
        .map(|argument| match argument {
            Expression::Constant(value) => value.as_i64(),
            _ => None,
        })
        .collect();
    let random = || RandomState::new().build_hasher().finish();
    match (function, numbers?.as_slice()) {
        (Function::RandomNumber, ends) => {
            let (least, most) = match ends {
                [least, most, ..] => (least, most),
                [most] => (&0, most),
                [] => (&0, &1),
            };
            let span = most.abs_diff(*least).saturating_add(1);
            Some(least.saturating_add_unsigned(random() % span).to_string())
        }
        (Function::RandomString, length) => {
            const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
            let letter = |_| char::from(LETTERS[(random() % LETTERS.len() as u64) as usize]);
            Some((0..length.first().copied().unwrap_or(10).clamp(0, 10_000)).map(letter).collect())
        }
        _ => None,
    }
}

fn fault(offset: usize, what: impl Into<String>, hint: Option<String>) -> Fault {
    Fault { offset, what: what.into(), hint }
}

struct Hole<'a> {
    text: &'a str,
    offset: usize,
    constants: &'a Constants,
}

impl Hole<'_> {
    fn parse(&self, seen: &mut dyn FnMut(&str, usize)) -> Result<Expression, Fault> {
        let text = self.text.trim();
        let offset = self.offset + (self.text.chars().count() - self.text.trim_start().chars().count());
        if text.is_empty() {
            return Err(fault(offset, "an empty template: `{{ }}` needs a name", None));
        }
        if self.constants.odd_names.contains(text) {
            seen(text, offset);
            return Ok(Expression::Path { variable: text.to_owned(), keys: Vec::new() });
        }
        if let Some(operator) = operator(text) {
            return Err(self.refuse_operator(offset, text, operator));
        }
        match text.find('(') {
            Some(open) if text.ends_with(')') && text[..open].trim().starts_with('$') => {
                self.call(offset, text[..open].trim(), &text[open + 1..text.len() - 1], seen)
            }
            Some(_) => Err(fault(
                offset,
                format!(
                    "`{text}` is not a valid variable name: a template holds one name, or a function like \
                     $randomNumber(1, 9)"
                ),
                None,
            )),
            None => self.path(offset, text, seen),
        }
    }

    fn refuse_operator(&self, offset: usize, text: &str, operator: &str) -> Fault {
        if matches!(operator, "||" | "??") {
            let default = text.split(operator).nth(1).unwrap_or("").trim();
            let name = text.split(operator).next().unwrap_or("").trim();
            let hint = match name.strip_prefix("$env.").or_else(|| name.strip_prefix("$processEnvironment."))
            {
                Some(variable) => format!(
                    "set {variable} when you run it, or write {default} in an environment and choose it with -e"
                ),
                None => format!("put the default in `config.variables`: `{name}: {default}`"),
            };
            return fault(
                offset,
                format!("templates have no defaults: `{operator}` in `{text}`"),
                Some(hint),
            );
        }
        let hint = match operator {
            "/" => "write {{ $quotient($user, 10) }}: the first number divided by the second, rounded down",
            "%" => "write {{ $remainder($user, 10) }}: what is left of the first number",
            _ => "a template holds one name; capture or load the value in the form you need it",
        };
        fault(offset, format!("templates have no expressions: `{operator}` in `{text}`"), Some(hint.into()))
    }

    fn call(
        &self,
        offset: usize,
        name: &str,
        arguments: &str,
        seen: &mut dyn FnMut(&str, usize),
    ) -> Result<Expression, Fault> {
        let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.name == name) else {
            return self.made_up(offset, name, arguments, seen);
        };
        let mut values = Vec::new();
        for argument in arguments.split(',').map(str::trim).filter(|argument| !argument.is_empty()) {
            values.push(self.argument(offset, argument, seen)?);
        }
        if !builtin.arguments.contains(&values.len()) {
            let (least, most) = (builtin.arguments.start(), builtin.arguments.end());
            let wants = match most - least {
                0 => least.to_string(),
                1 => format!("{least} or {most}"),
                _ => format!("{least} to {most}"),
            };
            return Err(fault(
                offset,
                format!("{name} wants {wants} arguments; got {}", values.len()),
                Some(format!("write {}", builtin.example)),
            ));
        }
        if builtin.function == Function::RandomNumber
            && let [Expression::Constant(least), Expression::Constant(most)] = values.as_slice()
            && let (Some(least), Some(most)) = (least.as_f64(), most.as_f64())
            && least > most
        {
            return Err(fault(
                offset,
                format!("{name} wants the smaller number first; got {least}, {most}"),
                None,
            ));
        }
        if matches!(builtin.function, Function::Quotient | Function::Remainder)
            && let [_, Expression::Constant(divisor)] = values.as_slice()
            && divisor.as_f64().is_none_or(|divisor| divisor < 1.0)
        {
            let what = format!("{name} wants a divisor from 1 on; got {divisor}");
            return Err(fault(offset, what, Some(format!("write {}", builtin.example))));
        }
        if builtin.bare {
            seen(name, offset);
        }
        Ok(Expression::Call { function: builtin.function, arguments: values })
    }

    /// Data that `fake-data` makes up; and what no function makes.
    fn made_up(
        &self,
        offset: usize,
        name: &str,
        arguments: &str,
        seen: &mut dyn FnMut(&str, usize),
    ) -> Result<Expression, Fault> {
        let plain = name.trim_start_matches('$');
        let found = self.constants.fakes.as_ref().map(|fakes| fakes.named(plain));
        if let Some(Some(fake)) = found {
            if !arguments.trim().is_empty() {
                let hint =
                    format!("set them under `fake-data` in `config.plugins`: `{plain}: {{min: 1, max: 6}}`");
                return Err(fault(offset, format!("{name} takes no arguments here"), Some(hint)));
            }
            return Ok(Expression::Call { function: Function::Fake(fake), arguments: Vec::new() });
        }
        if let Some(slip) = unknown::slip(offset, name) {
            return Err(slip);
        }
        // Artillery may well have it: Faker's names are many.
        if found.is_some() && !unknown::is_foreign(name) {
            return Err(fault(offset, unknown::no_function(name), Some(fakes::instead_of(plain))));
        }
        let variable = unknown::call(name, arguments);
        seen(&variable, offset);
        Ok(Expression::Path { variable, keys: Vec::new() })
    }

    fn argument(
        &self,
        offset: usize,
        text: &str,
        seen: &mut dyn FnMut(&str, usize),
    ) -> Result<Expression, Fault> {
        if let Some(number) = crate::script::yaml::number(text) {
            return Ok(Expression::Constant(Value::Number(number)));
        }
        for quote in ['"', '\''] {
            if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
                let value =
                    crate::script::yaml::number(inner).map_or_else(|| Value::from(inner), Value::Number);
                return Ok(Expression::Constant(value));
            }
        }
        self.path(offset, text, seen)
    }

    fn path(
        &self,
        offset: usize,
        text: &str,
        seen: &mut dyn FnMut(&str, usize),
    ) -> Result<Expression, Fault> {
        let nested = &mut |inner: &str| {
            // `inner` is a slice of this text.
            let before = &text[..inner.as_ptr() as usize - text.as_ptr() as usize];
            let offset = offset + before.chars().count();
            Hole { text: inner, offset, constants: self.constants }.parse(seen)
        };
        let (variable, keys) = split_path(text, &|what| fault(offset, what, None), nested)?;
        if !variable.starts_with('$') {
            if variable == "target"
                && keys.is_empty()
                && let Some(target) = &self.constants.target
            {
                return Ok(Expression::Constant(Value::from(target.as_str())));
            }
            seen(&variable, offset);
            return Ok(Expression::Path { variable, keys });
        }
        if let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.name == variable) {
            if !builtin.bare {
                return Err(fault(
                    offset,
                    format!("{variable} is a function and needs its parentheses"),
                    Some(format!("write {}", builtin.example)),
                ));
            }
            if keys.is_empty() {
                seen(&variable, offset);
                return Ok(Expression::Call { function: builtin.function, arguments: Vec::new() });
            }
            if builtin.function != Function::LoopElement {
                return Err(fault(offset, format!("{variable} is a plain value: nothing is in it"), None));
            }
            // The engine knows the element by this name too, so that paths reach into it.
            seen(&variable, offset);
            return Ok(Expression::Path { variable, keys });
        }
        if let Some(known) = self.constant(offset, &variable, &keys) {
            return known;
        }
        let is_odd = self.constants.odd_names.contains(&variable);
        if let Some(slip) = unknown::slip(offset, &variable).filter(|_| !is_odd) {
            return Err(slip);
        }
        seen(&variable, offset);
        Ok(Expression::Path { variable, keys })
    }

    /// The value known before the run; None when there is none of that name.
    fn constant(&self, offset: usize, variable: &str, keys: &[Key]) -> Option<Result<Expression, Fault>> {
        let value = match (variable, keys) {
            ("$env" | "$processEnvironment", [Key::Name(name)]) => match self.constants.variable(name) {
                Some(value) => Value::from(value),
                None => {
                    return Some(Err(fault(
                        offset,
                        format!("the environment variable {name} is not set"),
                        Some(format!("set it when you run the script: {name}=… sonagi run …")),
                    )));
                }
            },
            ("$env" | "$processEnvironment", _) => {
                return Some(Err(fault(
                    offset,
                    format!("{variable} wants the name of one environment variable"),
                    Some(format!("write {{{{ {variable}.NAME }}}}")),
                )));
            }
            ("$environment", []) => self.constants.environment.as_deref().map_or(Value::Null, Value::from),
            ("$testId", []) => Value::from(self.constants.test_id.as_str()),
            ("$dirname", []) => Value::from(self.constants.dirname.as_str()),
            ("$scenarioFile", []) => Value::from(self.constants.script.as_str()),
            _ => return None,
        };
        Some(Ok(Expression::Constant(value)))
    }
}

#[cfg(test)]
mod tests;
