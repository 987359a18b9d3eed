//! Arguments as JavaScript has them: one that was not given is undefined.

use rquickjs::function::{FromParam, ParamRequirement, ParamsAccessor};
use rquickjs::{Coerced, Value};

/// An argument, given or not.
pub(super) struct Given<'js>(pub(super) Value<'js>);

impl<'js> FromParam<'js> for Given<'js> {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> rquickjs::Result<Self> {
        Ok(Given(match params.is_empty() {
            true => Value::new_undefined(params.ctx().clone()),
            false => params.arg(),
        }))
    }
}

/// A text as Go's functions take one: empty where there is no argument.
pub(super) struct Word(pub(super) String);

impl<'js> FromParam<'js> for Word {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> rquickjs::Result<Self> {
        match params.is_empty() {
            true => Ok(Word(String::new())),
            false => Ok(Word(params.arg().get::<Coerced<String>>()?.0)),
        }
    }
}

/// What a value is, in the words of Go's values, as k6's messages have them.
pub(super) fn kind(value: &Value<'_>) -> &'static str {
    use rquickjs::Type;
    match value.type_of() {
        Type::Undefined | Type::Null => "<nil>",
        Type::Int => "int64",
        Type::Float => "float64",
        Type::Object => "map[string]interface {}",
        Type::Array => "[]interface {}",
        _ => value.type_name(),
    }
}
