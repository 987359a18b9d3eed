//! The values for a user's templates: its variables, its row, its loops, and the stamp of the current message.
//!
//! Values all users have in common stay in the plan; a user holds only what is its own, so that ten thousand idle users
//! stay small.

use serde_json::{Map, Value};
use sonagi_measure::outcome::Failure;
use sonagi_measure::stamp::Stamp;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cursor::Cursor;
use crate::plan::template::{JsonPiece, Key, Piece};
use crate::plan::{Expression, Function, JsonTemplate, Plan, RowOrder, Template};
use sonagi_engine::delivery::Room;
use sonagi_transport::link::is_truthy;
use sonagi_transport::net::Failed;

const LETTERS_AND_DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The values that all users of a run see.
pub(crate) struct RunValues {
    pub(crate) plan: Arc<Plan>,
    /// Set by the `before` flow.
    pub(crate) before: Vec<(String, Value)>,
    /// The run's tag in stamps.
    pub(crate) run: u32,
    /// Variables that are secret because of where they are captured from.
    pub(crate) captured_secrets: Vec<String>,
}

/// A user's own values.
pub(crate) struct Values {
    common: Rc<RunValues>,
    /// The user's number in the run: its member id in the ledger.
    pub(crate) member: u32,
    pub(crate) rng: fastrand::Rng,
    own: Vec<(String, Value)>,
    /// The row it has of each payload.
    rows: Box<[u32]>,
    seldom: Option<Box<Seldom>>,
    pub(crate) loops: Vec<LoopValues>,
    /// Where its next stamped message goes.
    pub(crate) room: Option<Arc<Room>>,
    /// The processor's knowledge of the user.
    pub(crate) acquaintance: Option<Box<Acquaintance>>,
    /// How far its connection has come.
    pub(crate) cursor: Option<Box<Cursor>>,
    /// A subscription is being taken that does not resume: `$cursor` is nothing to it.
    pub(crate) hides_cursor: bool,
    stamp: Option<Stamp>,
}

/// What few users ever have.
#[derive(Default)]
struct Seldom {
    uuid: Option<Box<str>>,
    /// A variable that had no value since this was asked last.
    unset: Option<Box<str>>,
}

/// A hole that cannot be filled with this user's values; says which and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfilled(pub(crate) String);

impl From<Unfilled> for Failed {
    fn from(Unfilled(detail): Unfilled) -> Failed {
        Failed::new(Failure::Template, detail)
    }
}

impl Values {
    /// A user's values at its arrival; `arrival` numbers the rows it gets of payloads in sequence.
    pub(crate) fn new(common: Rc<RunValues>, member: u32, arrival: u64, mut rng: fastrand::Rng) -> Values {
        let plan = Arc::clone(&common.plan);
        let row = |payload: &crate::plan::Payload, rng: &mut fastrand::Rng| match payload.order {
            _ if payload.rows.is_empty() => 0,
            RowOrder::Sequence => (arrival % payload.rows.len() as u64) as u32,
            RowOrder::Random => rng.usize(..payload.rows.len()) as u32,
        };
        let rows = plan.payloads.iter().map(|payload| row(payload, &mut rng)).collect();
        let own = plan
            .variables
            .iter()
            .filter(|(_, choices)| choices.len() > 1)
            .map(|(name, choices)| (name.clone(), choices[rng.usize(..choices.len())].clone()))
            .collect();
        Values { own, rows, ..Values::empty(common, member, rng) }
    }

    /// Placeholders for values that are lent to a branch of the user.
    pub(crate) fn hollow(&self) -> Values {
        Values::empty(Rc::clone(&self.common), self.member, fastrand::Rng::with_seed(0))
    }

    fn empty(common: Rc<RunValues>, member: u32, rng: fastrand::Rng) -> Values {
        Values {
            common,
            member,
            rng,
            own: Vec::new(),
            rows: Box::default(),
            seldom: None,
            loops: Vec::new(),
            room: None,
            acquaintance: None,
            cursor: None,
            hides_cursor: false,
            stamp: None,
        }
    }

    /// Sets one of the user's variables.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        if let Some(known) = &mut self.acquaintance {
            known.note_set(name);
        }
        match self.own.iter_mut().find(|(own, _)| own == name) {
            Some((_, old)) => *old = value,
            None => self.own.push((name.to_owned(), value)),
        }
    }

    /// A variable that the user set itself.
    pub(crate) fn own_value(&self, name: &str) -> Option<Value> {
        self.own.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    /// Every variable that is not the same for all users ([`RunValues::shared`]), as a function sees it.
    pub(crate) fn all(&mut self) -> Map<String, Value> {
        let mut all = Map::from_iter([("$uuid".to_owned(), self.uuid().into())]);
        let of_rows = self.common.plan.payloads.iter().filter(|payload| payload.all_as.is_none());
        for field in of_rows.flat_map(|payload| &payload.fields) {
            // Something nearer to the user may hide it.
            if let Some(value) = self.find(field) {
                all.insert(field.clone(), value.into_owned());
            }
        }
        all.extend(self.own.iter().cloned());
        all
    }

    /// All the user set itself (what a `before` flow leaves to others).
    pub(crate) fn into_own(self) -> Vec<(String, Value)> {
        self.own
    }

    /// The stamp of the message rendered last, if it had one; the next message draws a new one.
    pub(crate) fn take_stamp(&mut self) -> Option<Stamp> {
        self.stamp.take()
    }

    /// Text with its holes filled.
    pub(crate) fn text(&mut self, template: &Template) -> Result<String, Unfilled> {
        let mut out = String::new();
        self.append(template, &mut out)?;
        Ok(out)
    }

    /// Appends text with its holes filled.
    pub(crate) fn append(&mut self, template: &Template, out: &mut String) -> Result<(), Unfilled> {
        for piece in &template.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Hole(hole) => self.append_text(hole, out)?,
            }
        }
        Ok(())
    }

    /// JSON text with its holes filled.
    pub(crate) fn json(&mut self, template: &JsonTemplate) -> Result<String, Unfilled> {
        let mut out = String::new();
        self.append_json(template, &mut out)?;
        Ok(out)
    }

    /// Appends JSON text with its holes filled.
    pub(crate) fn append_json(&mut self, template: &JsonTemplate, out: &mut String) -> Result<(), Unfilled> {
        let (begin, mut has_gaps) = (out.len(), false);
        for piece in &template.pieces {
            match piece {
                JsonPiece::Raw(text) => out.push_str(text),
                JsonPiece::Value(hole) => has_gaps |= self.append_whole(hole, out)?,
                JsonPiece::InString(hole) => {
                    let mut text = String::new();
                    self.append_text(hole, &mut text)?;
                    let quoted = Value::from(text).to_string();
                    out.push_str(&quoted[1..quoted.len() - 1]);
                }
            }
        }
        if has_gaps {
            let whole = unset::without_nothing(&out[begin..]);
            out.truncate(begin);
            out.push_str(&whole);
        }
        Ok(())
    }

    /// Rendered name-value pairs (headers, query, cookies, form fields).
    pub(crate) fn pairs(&mut self, pairs: &[(String, Template)]) -> Result<Vec<(String, String)>, Unfilled> {
        pairs.iter().map(|(name, template)| Ok((name.clone(), self.text(template)?))).collect()
    }

    /// [`Values::pairs`] without those whose value renders empty.
    pub(crate) fn given_pairs(
        &mut self,
        pairs: &[(String, Template)],
    ) -> Result<Vec<(String, String)>, Unfilled> {
        let mut pairs = self.pairs(pairs)?;
        pairs.retain(|(_, value)| !value.is_empty());
        Ok(pairs)
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expression: &Expression) -> Result<Value, Unfilled> {
        match expression {
            Expression::Constant(value) => Ok(value.clone()),
            Expression::Path { variable, keys } => {
                let keys = self.resolved(keys)?;
                self.at(variable, &keys).map(Cow::into_owned)
            }
            Expression::Call { function, arguments } => self.call(*function, arguments),
            Expression::Text(template) => self.text(template).map(Value::from),
        }
    }

    /// A number, from a number or from text that is one.
    pub(crate) fn number(&mut self, expression: &Expression) -> Result<f64, Unfilled> {
        let value = self.value(expression)?;
        let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        number.ok_or_else(|| Unfilled(format!("a number is wanted, got {value}")))
    }

    /// Whether a condition holds; a variable that has no value is false.
    pub(crate) fn is_truthy(&mut self, expression: &Expression) -> bool {
        self.value(expression).is_ok_and(|value| is_truthy(&value))
    }

    fn append_text(&mut self, hole: &Expression, out: &mut String) -> Result<(), Unfilled> {
        match hole {
            Expression::Call { function: Function::Stamp, .. } => self.stamp()?.write(out),
            // Most holes name a variable or an element in it: written from where it is, without a copy of it.
            Expression::Path { .. } => self.append_path(hole, out)?,
            Expression::Constant(value) => append_value(value, out),
            Expression::Text(template) => self.append(template, out)?,
            // In a text what is not there yet is nothing.
            Expression::Call { function: Function::Cursor, .. } if self.cursor().is_null() => {}
            Expression::Call { .. } => append_value(&self.value(hole)?, out),
        }
        Ok(())
    }

    fn at(&self, variable: &str, keys: &[Key]) -> Result<Cow<'_, Value>, Unfilled> {
        let value = self
            .find(variable)
            .ok_or_else(|| Unfilled(format!("the variable `{variable}` has no value for this user")))?;
        let none = || Unfilled(format!("the variable `{variable}` has no value at `{}`", spell(keys)));
        match value {
            Cow::Borrowed(value) => inner(value, keys).ok_or_else(none),
            Cow::Owned(value) => {
                inner(&value, keys).map(|value| Cow::Owned(value.into_owned())).ok_or_else(none)
            }
        }
    }

    /// Keys with those worked out that hang on other values.
    fn resolved<'k>(&mut self, keys: &'k [Key]) -> Result<Cow<'k, [Key]>, Unfilled> {
        if !keys.iter().any(|key| matches!(key, Key::Of(_))) {
            return Ok(Cow::Borrowed(keys));
        }
        let resolved = keys.iter().map(|key| match key {
            Key::Of(inner) => self.value(inner).map(|value| Key::of(&value)),
            plain => Ok(plain.clone()),
        });
        resolved.collect::<Result<_, _>>().map(Cow::Owned)
    }

    fn find(&self, variable: &str) -> Option<Cow<'_, Value>> {
        let named = |(name, _): &&(String, Value)| name == variable;
        if variable == turns::ELEMENT
            && let Some(element) = self.loop_element()
        {
            return Some(Cow::Borrowed(element));
        }
        if let Some((_, value)) = self.own.iter().find(named) {
            return Some(Cow::Borrowed(value));
        }
        if self.acquaintance.as_ref().is_some_and(|known| known.has_lost(variable)) {
            return None;
        }
        let variables = &self.common.plan.variables;
        let constant =
            variables.iter().find(|(name, _)| name == variable).and_then(|(_, values)| values.first());
        let before = || self.common.before.iter().find(named).map(|(_, value)| Cow::Borrowed(value));
        constant.map(Cow::Borrowed).or_else(|| self.in_payloads(variable)).or_else(before)
    }

    fn in_payloads(&self, variable: &str) -> Option<Cow<'_, Value>> {
        self.common.plan.payloads.iter().zip(&self.rows).find_map(|(payload, row)| {
            if let Some(name) = &payload.all_as {
                return (name == variable).then(|| Cow::Owned(payload.all()));
            }
            let column = payload.fields.iter().position(|field| field == variable)?;
            payload.rows.get(*row as usize)?.get(column).map(Cow::Borrowed)
        })
    }

    fn call(&mut self, function: Function, arguments: &[Expression]) -> Result<Value, Unfilled> {
        Ok(match function {
            Function::Stamp => {
                let mut text = String::with_capacity(Stamp::LEN);
                self.stamp()?.write(&mut text);
                Value::from(text)
            }
            Function::RandomNumber => {
                let (a, b) = match arguments {
                    [a, b, ..] => (self.number(a)? as i64, self.number(b)? as i64),
                    [a] => (0, self.number(a)? as i64),
                    [] => (0, 1),
                };
                Value::from(self.rng.i64(a.min(b)..=a.max(b)))
            }
            Function::RandomString => {
                let length = arguments.first().map_or(Ok(10.0), |length| self.number(length))?;
                let letter =
                    |rng: &mut fastrand::Rng| LETTERS_AND_DIGITS[rng.usize(..LETTERS_AND_DIGITS.len())];
                let text: String =
                    (0..length.clamp(0.0, 1e6) as usize).map(|_| char::from(letter(&mut self.rng))).collect();
                Value::from(text)
            }
            Function::Fake(fake) => Value::from(fake.text(&mut self.rng)),
            Function::Uuid => Value::from(self.uuid()),
            Function::Now => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Value::from(since.as_millis() as u64)
            }
            Function::LoopCount => Value::from(self.loops.last().map_or(0, |innermost| innermost.count)),
            Function::LoopElement => self.loop_element().cloned().unwrap_or_default(),
            Function::User => Value::from(self.member),
            Function::Cursor => self.cursor(),
            Function::Quotient => {
                let (a, b) = self.division(arguments)?;
                Value::from(a.div_euclid(b))
            }
            Function::Remainder => {
                let (a, b) = self.division(arguments)?;
                Value::from(a.rem_euclid(b))
            }
        })
    }

    /// The whole numbers of a division, the divisor above 0.
    fn division(&mut self, arguments: &[Expression]) -> Result<(i64, i64), Unfilled> {
        let [a, b] = arguments else { return Err(Unfilled("a division wants two numbers".to_owned())) };
        let (a, b) = (self.number(a)?.floor() as i64, self.number(b)?.floor() as i64);
        if b < 1 {
            return Err(Unfilled(format!("a divisor is a whole number from 1 on, got {b}")));
        }
        Ok((a, b))
    }

    fn cursor(&self) -> Value {
        let cursor = self.cursor.as_ref().filter(|_| !self.hides_cursor);
        cursor.map_or(Value::Null, |cursor| cursor.value())
    }

    /// The stamp of the message being rendered: drawn at its first mention.
    fn stamp(&mut self) -> Result<Stamp, Unfilled> {
        if let Some(stamp) = self.stamp {
            return Ok(stamp);
        }
        let Some(room) = &self.room else {
            return Err(Unfilled("a stamped message needs a room, and this user has joined none".to_owned()));
        };
        let stamp =
            Stamp { run: self.common.run, room: room.id, sender: self.member, number: room.draw_number() };
        self.stamp = Some(stamp);
        Ok(stamp)
    }

    fn uuid(&mut self) -> String {
        let rng = &mut self.rng;
        // From the run's seed.
        let seldom = self.seldom.get_or_insert_default();
        let uuid = seldom.uuid.get_or_insert_with(|| crate::fake::uuid_of(rng.u128(..)).into());
        uuid.to_string()
    }
}

/// The value at the end of a path of keys and indexes.
fn inner<'v>(value: &'v Value, keys: &[Key]) -> Option<Cow<'v, Value>> {
    let (last, before) = match keys.split_last() {
        Some((Key::Name(name), before)) if name == "length" => (Some(name), before),
        _ => (None, keys),
    };
    let found = before.iter().try_fold(value, |value, key| match key {
        Key::Name(name) => value.get(name.as_str()),
        Key::Index(index) if value.is_object() => value.get(index.to_string()),
        Key::Index(index) => value.get(index),
        // Worked out before.
        Key::Of(_) => None,
    })?;
    match (last, found) {
        (None, found) => Some(Cow::Borrowed(found)),
        (Some(_), Value::Array(items)) => Some(Cow::Owned(items.len().into())),
        (Some(_), Value::String(text)) => Some(Cow::Owned(text.encode_utf16().count().into())),
        (Some(name), found) => found.get(name.as_str()).map(Cow::Borrowed),
    }
}

fn append_value(value: &Value, out: &mut String) {
    use std::fmt::Write as _;
    match value {
        Value::String(text) => out.push_str(text),
        // Writing to a text cannot fail.
        other => drop(write!(out, "{other}")),
    }
}

fn spell(keys: &[Key]) -> String {
    let spelt = keys.iter().map(|key| match key {
        Key::Name(name) => format!(".{name}"),
        Key::Index(index) => format!("[{index}]"),
        Key::Of(_) => "[…]".to_owned(),
    });
    spelt.collect::<String>().trim_start_matches('.').to_owned()
}

mod acquaintance;
mod filled;
mod members;
mod secrets;
mod shared;
mod turns;
mod unset;
mod written;

pub(crate) use acquaintance::Acquaintance;
pub(crate) use filled::Outgoing;
pub(crate) use turns::LoopValues;

#[cfg(test)]
mod tests;
