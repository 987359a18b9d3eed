//! Tags as scripts give them.

use rquickjs::{Coerced, Ctx, Exception, Value};

use crate::interpreter::go_error;
use crate::metrics::Tags;

/// `tags` and those of an object: texts, numbers and booleans, as their texts.
pub(crate) fn given_tags<'js>(
    ctx: &Ctx<'js>,
    tags: &Tags,
    given: Option<&Value<'js>>,
) -> rquickjs::Result<Tags> {
    let Some(given) = given.filter(|given| !given.is_undefined() && !given.is_null()) else {
        return Ok(tags.clone());
    };
    let mut tags = tags.clone();
    if let Some(object) = given.as_object() {
        for pair in object.props::<String, Value<'js>>() {
            let (name, value) = pair?;
            tags = tags.with(&name, &tag(ctx, &name, &value)?);
        }
    } else if given.is_string() {
        // A text is the object of its letters, here as there.
        for (at, letter) in given.get::<String>()?.chars().enumerate() {
            tags = tags.with(&at.to_string(), letter.encode_utf8(&mut [0; 4]));
        }
    }
    Ok(tags)
}

/// The value of a tag.
pub(crate) fn tag<'js>(ctx: &Ctx<'js>, name: &str, value: &Value<'js>) -> rquickjs::Result<String> {
    if value.is_string() || value.is_number() || value.is_bool() {
        return Ok(value.get::<Coerced<String>>()?.0);
    }
    let wrong = format!(
        "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag \
         values"
    );
    Err(go_error(ctx, &wrong))
}

/// An error of ours that is pending, with what it was about before its words.
pub(crate) fn about(ctx: &Ctx<'_>, error: rquickjs::Error, what: &str) -> rquickjs::Error {
    if !matches!(error, rquickjs::Error::Exception) {
        return error;
    }
    let thrown = ctx.catch();
    let message = thrown.clone().into_object().and_then(Exception::from_object).and_then(|it| it.message());
    match message {
        Some(message) => go_error(ctx, &format!("{what}: {message}")),
        None => ctx.throw(thrown),
    }
}
