//! Errors between scripts and us: as k6's functions throw them, and as the log shows what a script threw.

use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Value};

/// An error as k6's own functions throw it: `instanceof Error`, and its name is `GoError`.
pub(crate) fn go_error(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    let named = Exception::from_message(ctx.clone(), message).and_then(|exception| {
        exception.as_object().prop("name", Property::from("GoError").writable().configurable())?;
        Ok(exception)
    });
    match named {
        Ok(exception) => exception.throw(),
        Err(error) => error,
    }
}

/// Whether a line of a stack says anything: what runs a file for a `require` is ours.
fn is_told(line: &str) -> bool {
    !line.trim().is_empty() && !line.contains("(sonagi:require")
}

/// A thrown value as it is logged: an error with where it came from, anything else as text.
pub(crate) fn described(value: &Value<'_>) -> String {
    let Some(exception) = value.clone().into_object().and_then(Exception::from_object) else {
        let text = value.get::<rquickjs::Coerced<String>>();
        return text.map_or_else(|_| "an object that is no text".to_owned(), |text| text.0);
    };
    let name = exception.as_object().get::<_, String>("name").unwrap_or_else(|_| "Error".to_owned());
    let mut text = match exception.message() {
        Some(message) if !message.is_empty() => format!("{name}: {message}"),
        _ => name,
    };
    let stack = exception.stack().unwrap_or_default();
    // The stack as scripts see it begins with the error itself.
    let callers = stack.strip_prefix(&text).unwrap_or(&stack).lines();
    for line in callers.filter(|line| is_told(line)) {
        text.push_str("\n\t");
        text.push_str(line.trim());
    }
    text
}
