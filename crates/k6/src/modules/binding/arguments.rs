//! Arguments as JavaScript has them: one that was not given is undefined.

use rquickjs::function::{FromParam, ParamRequirement, ParamsAccessor};
use rquickjs::{Coerced, Value};

/// An argument, given or not.
pub(crate) struct Argument<'js>(pub(crate) Value<'js>);

impl<'js> FromParam<'js> for Argument<'js> {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> rquickjs::Result<Self> {
        Ok(Argument(match params.is_empty() {
            true => Value::new_undefined(params.ctx().clone()),
            false => params.arg(),
        }))
    }
}

/// A text as Go's functions take one: empty where there is no argument.
pub(crate) struct TextArgument(pub(crate) String);

impl<'js> FromParam<'js> for TextArgument {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> rquickjs::Result<Self> {
        match params.is_empty() {
            true => Ok(TextArgument(String::new())),
            false => Ok(TextArgument(params.arg().get::<Coerced<String>>()?.0)),
        }
    }
}

/// The kind of a value in Go's words, as k6's messages have them.
pub(crate) fn kind(value: &Value<'_>) -> &'static str {
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

/// Whether JavaScript's `if` takes it for true.
pub(crate) fn is_true(value: &Value<'_>) -> bool {
    use rquickjs::Type;
    match value.type_of() {
        Type::Bool => value.as_bool().unwrap_or_default(),
        Type::Int | Type::Float => value.as_number().is_some_and(|number| number != 0.0 && !number.is_nan()),
        Type::String => value.get::<String>().is_ok_and(|text| !text.is_empty()),
        Type::Undefined | Type::Null | Type::Uninitialized => false,
        Type::BigInt => value.get::<Coerced<String>>().is_ok_and(|text| text.0 != "0"),
        _ => true,
    }
}
