//! Tags as scripts give them.

use rquickjs::{Coerced, Ctx, Exception, Value};

use crate::metrics::Tags;

/// `tags` and those of an object: texts, numbers and booleans, as their texts.
pub(super) fn given_tags<'js>(
    ctx: &Ctx<'js>,
    tags: &Tags,
    given: Option<&Value<'js>>,
) -> rquickjs::Result<Tags> {
    let Some(given) = given.filter(|given| !given.is_undefined() && !given.is_null()) else {
        return Ok(tags.clone());
    };
    let wrong =
        || Exception::throw_type(ctx, "tags must be an object whose values are texts, numbers or booleans");
    let given = given.as_object().ok_or_else(wrong)?;
    let mut tags = tags.clone();
    for pair in given.props::<String, Value<'js>>() {
        let (name, value) = pair?;
        if value.is_object() || value.is_undefined() || value.is_null() {
            return Err(wrong());
        }
        tags = tags.with(&name, &value.get::<Coerced<String>>()?.0);
    }
    Ok(tags)
}
