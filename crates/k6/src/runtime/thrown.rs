//! How a script's function ended that did not return.

use rquickjs::Ctx;
use std::rc::Rc;

use crate::interpreter::described;
use crate::vu::Vu;

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
    /// It returned something that cannot be handed to others.
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

    /// The message of an error of the interpreter; takes the exception that is pending.
    pub(super) fn of(ctx: &Ctx<'_>, vu: &Rc<Vu>, error: &rquickjs::Error) -> Thrown {
        let text = match error {
            rquickjs::Error::Exception => vu.shard.common.bundle.placed(described(&ctx.catch())),
            error => error.to_string(),
        };
        if let Some(why) = vu.take_abort_reason() {
            return Thrown::Aborted(why);
        }
        let unloaded = vu.load_failure.take().filter(|why| text.contains(why));
        match vu.is_interrupted() {
            true => Thrown::Interrupted,
            false if vu.was_too_busy() => {
                let limit = vu.shard.common.options.sonagi.busy_limit.unwrap_or_default();
                Thrown::Error(format!(
                    "the script computed for longer than sonagi.busyLimit ({limit:?}) without waiting"
                ))
            }
            false if unloaded.is_some() => Thrown::Unloaded(unloaded.unwrap_or_default()),
            false if vu.rejections.was_raised() => Thrown::Rejected(format!("Uncaught (in promise) {text}")),
            false => Thrown::Error(text),
        }
    }
}
