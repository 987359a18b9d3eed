//! Values from templates of values, and what of a message is sent.

use serde_json::Value;
use std::borrow::Cow;

use super::{Unfilled, Values};
use crate::plan::template::{JsonPiece, Piece};
use crate::plan::{Content, ValueTemplate};

/// What a message carries, with a user's values; a text without holes is the plan's own.
pub(crate) enum Outgoing<'c> {
    Text(Cow<'c, str>),
    Binary(&'c [u8]),
}

impl Values {
    /// What a message carries.
    pub(crate) fn outgoing<'c>(&mut self, content: &'c Content) -> Result<Outgoing<'c>, Unfilled> {
        Ok(match content {
            Content::Text(text) => Outgoing::Text(match text.pieces.as_slice() {
                [Piece::Text(text)] => Cow::Borrowed(text.as_str()),
                _ => Cow::Owned(self.text(text)?),
            }),
            Content::Json(json) => Outgoing::Text(match json.pieces.as_slice() {
                [JsonPiece::Raw(text)] => Cow::Borrowed(text.as_str()),
                _ => Cow::Owned(self.json(json)?),
            }),
            Content::Binary(bytes) => Outgoing::Binary(bytes),
        })
    }

    /// A value with its holes filled. As in JSON that is sent, members of objects that are nothing are left out, and
    /// elements of lists become null; None: the whole is nothing.
    pub(crate) fn filled<'t>(
        &mut self,
        template: &'t ValueTemplate,
    ) -> Result<Option<Cow<'t, Value>>, Unfilled> {
        Ok(Some(Cow::Owned(match template {
            ValueTemplate::Constant(value) => return Ok(Some(Cow::Borrowed(value))),
            ValueTemplate::Hole(hole) => match self.value(hole) {
                Ok(value) => value,
                Err(_) if self.is_nothing(hole) => return Ok(None),
                Err(unfilled) => return Err(unfilled),
            },
            ValueTemplate::Text(text) => Value::from(self.text(text)?),
            ValueTemplate::List(items) => {
                let filled = items.iter().map(|item| {
                    let filled = self.filled(item)?;
                    Ok(filled.map_or(Value::Null, Cow::into_owned))
                });
                Value::Array(filled.collect::<Result<_, _>>()?)
            }
            ValueTemplate::Object(members) => {
                let mut filled = serde_json::Map::new();
                for (key, member) in members {
                    let key = self.text(key)?;
                    if let Some(member) = self.filled(member)? {
                        filled.insert(key, member.into_owned());
                    }
                }
                Value::Object(filled)
            }
        })))
    }
}
