//! Which answers count as failed: `http_req_failed`, and the tag `expected_response`.

use rquickjs::{Ctx, Object, Value};
use std::rc::Rc;

use crate::interpreter::go_error;

/// The member that tells what `http.expectedStatuses` made from other objects.
const MARK: &str = "__sonagiExpected";

/// The statuses that are as they should be.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// These, each a first and a last one. A request without an answer has status 0, which is in no range.
    Ranges(Rc<[(u16, u16)]>),
    /// Nobody asks: the metric and the tag are left out.
    Unasked,
}

impl Default for Expected {
    fn default() -> Expected {
        Expected::Ranges(Rc::new([(200, 399)]))
    }
}

impl Expected {
    /// Whether a status is as it should be; None: nobody asks.
    pub(super) fn judge(&self, status: u16) -> Option<bool> {
        match self {
            Expected::Unasked => None,
            Expected::Ranges(ranges) => {
                Some(ranges.iter().any(|(first, last)| (*first..=*last).contains(&status)))
            }
        }
    }

    /// The argument of `responseCallback` and `setResponseCallback`: a result of `expectedStatuses`, or null; None:
    /// anything else.
    pub(super) fn given(value: &Value<'_>) -> rquickjs::Result<Option<Expected>> {
        if value.is_null() || value.is_undefined() {
            return Ok(Some(Expected::Unasked));
        }
        let made = value.as_object().filter(|object| object.contains_key(MARK).unwrap_or(false));
        let Some(made) = made else { return Ok(None) };
        let bounds: Vec<u16> = made.get(MARK)?;
        Ok(Some(Expected::Ranges(bounds.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())))
    }

    /// `http.expectedStatuses(200, { min: 400, max: 404 })`.
    pub(super) fn statuses<'js>(ctx: &Ctx<'js>, given: &[Value<'js>]) -> rquickjs::Result<Object<'js>> {
        let wrong = || {
            let rule = "http.expectedStatuses() takes whole numbers and objects such as {min: 200, max: 299}";
            go_error(ctx, rule)
        };
        if given.is_empty() {
            return Err(go_error(ctx, "no arguments"));
        }
        let mut bounds: Vec<u16> = Vec::with_capacity(2 * given.len());
        for value in given {
            let pair = match (value.as_int(), value.as_object()) {
                (Some(status), _) => (status, status),
                (None, Some(range)) => {
                    (range.get("min").map_err(|_| wrong())?, range.get("max").map_err(|_| wrong())?)
                }
                _ => return Err(wrong()),
            };
            for bound in [pair.0, pair.1] {
                bounds.push(u16::try_from(bound).map_err(|_| wrong())?);
            }
        }
        let made = Object::new(ctx.clone())?;
        made.prop(MARK, bounds)?;
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unless_asked_otherwise_answers_below_400_are_as_they_should_be() {
        let judged = [0, 199, 200, 399, 400].map(|status| Expected::default().judge(status));
        assert_eq!(judged, [Some(false), Some(false), Some(true), Some(true), Some(false)]);
        assert_eq!(Expected::Unasked.judge(200), None);
    }
}
