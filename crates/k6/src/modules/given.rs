//! Arguments as JavaScript has them: one that was not given is undefined.

use rquickjs::Value;
use rquickjs::function::{FromParam, ParamRequirement, ParamsAccessor};

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
