//! How a script's function ended that did not return.

use rquickjs::{Ctx, Exception, Value};
use std::rc::Rc;

use super::vu::Vu;

/// Why a function did not return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thrown {
    /// It was cut off.
    Interrupted,
    /// It asked for the end of the test, and said why.
    Aborted(String),
    /// It threw this.
    Error(String),
    /// A promise was rejected with this: the one it returned, or one nobody listened to.
    Rejected(String),
    /// A file or module that it names cannot be had, and this is why.
    Unloaded(String),
    /// What it returned is nothing that others could be given.
    Unusable(String),
}

impl Thrown {
    /// In words.
    pub(crate) fn text(&self) -> String {
        match self {
            Thrown::Interrupted => "it was interrupted".to_owned(),
            Thrown::Aborted(why) => why.clone(),
            Thrown::Error(text)
            | Thrown::Rejected(text)
            | Thrown::Unloaded(text)
            | Thrown::Unusable(text) => text.clone(),
        }
    }

    /// What an error of the interpreter says; takes the exception that is pending.
    pub(super) fn of(ctx: &Ctx<'_>, vu: &Rc<Vu>, error: &rquickjs::Error) -> Thrown {
        let text = match error {
            rquickjs::Error::Exception => vu.shard.common.bundle.placed(described(&ctx.catch())),
            error => error.to_string(),
        };
        if let Some(why) = vu.kept.aborted.borrow_mut().take() {
            return Thrown::Aborted(why);
        }
        let unloaded = vu.kept.unloaded.take().filter(|why| text.contains(why));
        match vu.is_interrupted() {
            true => Thrown::Interrupted,
            false if vu.was_too_busy() => {
                let limit = vu.shard.common.options.sonagi.busy_limit.unwrap_or_default();
                Thrown::Error(format!(
                    "the script computed for longer than sonagi.busyLimit ({limit:?}) without waiting"
                ))
            }
            false if unloaded.is_some() => Thrown::Unloaded(unloaded.unwrap_or_default()),
            false if vu.kept.rejections.was_raised() => {
                Thrown::Rejected(format!("Uncaught (in promise) {text}"))
            }
            false => Thrown::Error(text),
        }
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
    // As scripts see it, it begins with the error itself.
    let callers = stack.strip_prefix(&text).unwrap_or(&stack).lines();
    for line in callers.filter(|line| is_told(line)) {
        text.push_str("\n\t");
        text.push_str(line.trim());
    }
    text
}
