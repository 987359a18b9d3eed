//! Text and JSON with holes, compiled: rendering is concatenation.
//!
//! Parsing `{{ … }}` belongs to the script languages; here is only what a user's values fill in.

use serde_json::Value;

pub use crate::fake::Fake;

/// The contents of a `{{ … }}`.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// Always the same.
    Constant(Value),
    /// A variable, then keys and indexes into it (`friends[0].id`).
    Path {
        /// Its name.
        variable: String,
        /// The way into its value.
        keys: Vec<Key>,
    },
    /// The result of a built-in function.
    Call {
        /// The function.
        function: Function,
        /// In order.
        arguments: Vec<Expression>,
    },
    /// A template used as a value: always a string.
    Text(Template),
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// A member of an object.
    Name(String),
    /// An element of a list, from 0.
    Index(usize),
    /// The member that the user's value of it names or counts.
    Of(Box<Expression>),
}

impl Key {
    /// The key a value is: a number counts, anything else names.
    pub(crate) fn of(value: &Value) -> Key {
        let index = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        match index.and_then(|index| usize::try_from(index).ok()) {
            Some(index) => Key::Index(index),
            None => Key::Name(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        }
    }
}

/// Built-in functions and per-user values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `$stamp`: a fresh stamp for the message being rendered; several in one message are the same stamp.
    Stamp,
    /// `$randomNumber(a, b)`: integer in a..=b.
    RandomNumber,
    /// `$randomString(n)`: n letters and digits (default 10).
    RandomString,
    /// `$uuid`: one per user.
    Uuid,
    /// `$now`: milliseconds since the Unix epoch.
    Now,
    /// `$loopCount`: number of the innermost loop's iteration: from 0, or the range's first number.
    LoopCount,
    /// `$loopElement`: element of the innermost loop over a list.
    LoopElement,
    /// Made-up data: a name, an address, …
    Fake(Fake),
    /// `$user`: number of the user in the run, from 0.
    User,
    /// `$quotient(a, b)`: how often b goes into a, a whole number rounded down.
    Quotient,
    /// `$remainder(a, b)`: what is left of a then, from 0 to b − 1.
    Remainder,
    /// `$cursor`: what the user's connection has received up to now, for a subscription that resumes; null in JSON and
    /// nothing in text before there is any.
    Cursor,
}

/// Text with holes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// In order.
    pub pieces: Vec<Piece>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Copied as it is.
    Text(String),
    /// Filled with a user's value.
    Hole(Expression),
}

/// JSON text with holes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonTemplate {
    /// In order; together they are JSON.
    pub pieces: Vec<JsonPiece>,
}

/// A part of a JSON text.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonPiece {
    /// JSON text, copied as it is.
    Raw(String),
    /// A whole value: keeps its type (a whole-string tag in the script).
    Value(Expression),
    /// Inside a string literal: rendered as text and escaped.
    InString(Expression),
}

/// A JSON value with holes, for whoever compares or walks what comes of it instead of sending it.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueTemplate {
    /// Always the same.
    Constant(Value),
    /// A whole value: keeps its type.
    Hole(Expression),
    /// A text with holes.
    Text(Template),
    /// The elements of a list.
    List(Vec<ValueTemplate>),
    /// The members of an object.
    Object(Vec<(Template, ValueTemplate)>),
}

impl ValueTemplate {
    /// Compiles a value as [`JsonTemplate::compile`] does.
    ///
    /// # Errors
    /// What `parse` says.
    pub fn compile<E>(
        value: &Value,
        parse: &mut dyn FnMut(&str) -> Result<Template, E>,
    ) -> Result<ValueTemplate, E> {
        Ok(match value {
            Value::String(text) => {
                let template = parse(text)?;
                match template.pieces.as_slice() {
                    [] => ValueTemplate::Constant("".into()),
                    [Piece::Text(text)] => ValueTemplate::Constant(text.as_str().into()),
                    [Piece::Hole(hole)] if !hole.is_written() => ValueTemplate::Hole(hole.clone()),
                    _ => ValueTemplate::Text(template),
                }
            }
            Value::Array(items) => {
                let items: Result<Vec<_>, E> =
                    items.iter().map(|item| ValueTemplate::compile(item, parse)).collect();
                let items = items?;
                let constant: Option<Value> = items.iter().map(|item| item.constant().cloned()).collect();
                constant.map_or(ValueTemplate::List(items), ValueTemplate::Constant)
            }
            Value::Object(members) => {
                let mut compiled = Vec::with_capacity(members.len());
                for (key, member) in members {
                    compiled.push((parse(key)?, ValueTemplate::compile(member, parse)?));
                }
                let constant = compiled.iter().map(|(key, member)| match key.pieces.as_slice() {
                    [Piece::Text(key)] => Some((key.clone(), member.constant()?.clone())),
                    _ => None,
                });
                let constant: Option<Value> = constant.collect();
                constant.map_or(ValueTemplate::Object(compiled), ValueTemplate::Constant)
            }
            plain => ValueTemplate::Constant(plain.clone()),
        })
    }

    fn constant(&self) -> Option<&Value> {
        if let ValueTemplate::Constant(value) = self { Some(value) } else { None }
    }
}

impl Template {
    /// A template without holes.
    pub fn constant(text: impl Into<String>) -> Template {
        Template { pieces: vec![Piece::Text(text.into())] }
    }
    /// Whether any hole is a stamp.
    pub fn is_stamped(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Hole(hole) if hole.is_stamped()))
    }
}

impl JsonTemplate {
    /// Compiles a value whose strings may hold holes: `parse` turns one string into its pieces, and every other value
    /// is copied. A string that is one hole keeps the hole's type, unless that is a function's, which is a string. The
    /// keys of objects are strings like others.
    pub fn compile<E>(
        value: &Value,
        parse: &mut dyn FnMut(&str) -> Result<Template, E>,
    ) -> Result<JsonTemplate, E> {
        let mut compiled = JsonTemplate::default();
        compiled.append(value, parse)?;
        Ok(compiled)
    }

    /// Whether any hole is a stamp.
    pub fn is_stamped(&self) -> bool {
        self.pieces.iter().any(|piece| match piece {
            JsonPiece::Raw(_) => false,
            JsonPiece::Value(hole) | JsonPiece::InString(hole) => hole.is_stamped(),
        })
    }

    fn raw(&mut self, text: &str) {
        if let Some(JsonPiece::Raw(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else {
            self.pieces.push(JsonPiece::Raw(text.to_owned()));
        }
    }

    fn append<E>(
        &mut self,
        value: &Value,
        parse: &mut dyn FnMut(&str) -> Result<Template, E>,
    ) -> Result<(), E> {
        match value {
            Value::String(text) => self.append_string(parse(text)?),
            Value::Array(items) => {
                self.raw("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.raw(",");
                    }
                    self.append(item, parse)?;
                }
                self.raw("]");
            }
            Value::Object(members) => {
                self.raw("{");
                for (index, (key, member)) in members.iter().enumerate() {
                    if index > 0 {
                        self.raw(",");
                    }
                    let key = parse(key)?;
                    self.append_text(key);
                    self.raw(":");
                    self.append(member, parse)?;
                }
                self.raw("}");
            }
            plain => self.raw(&plain.to_string()),
        }
        Ok(())
    }

    fn append_string(&mut self, template: Template) {
        match template.pieces.as_slice() {
            [Piece::Hole(hole)] if !hole.is_written() => self.pieces.push(JsonPiece::Value(hole.clone())),
            _ => self.append_text(template),
        }
    }

    fn append_text(&mut self, template: Template) {
        self.raw("\"");
        for piece in template.pieces {
            match piece {
                Piece::Text(text) => {
                    let quoted = Value::from(text).to_string();
                    self.raw(&quoted[1..quoted.len() - 1]);
                }
                Piece::Hole(hole) => self.pieces.push(JsonPiece::InString(hole)),
            }
        }
        self.raw("\"");
    }
}

impl Expression {
    /// Whether it is a text wherever it stands: what Artillery's functions give is put into the text they stand in.
    fn is_written(&self) -> bool {
        use Function::{Fake, RandomNumber, RandomString};
        let function = if let Expression::Call { function, .. } = self { Some(function) } else { None };
        matches!(function, Some(RandomNumber | RandomString | Fake(_)))
    }

    fn is_stamped(&self) -> bool {
        match self {
            Expression::Constant(_) | Expression::Path { .. } => false,
            Expression::Call { function, arguments } => {
                *function == Function::Stamp || arguments.iter().any(Expression::is_stamped)
            }
            Expression::Text(template) => template.is_stamped(),
        }
    }
}
