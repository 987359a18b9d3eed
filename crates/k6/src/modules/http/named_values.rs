//! Values by names that a server chose.

use rquickjs::object::Property;
use rquickjs::{Ctx, IntoJs, Object, Value};

/// They are gathered here and not in an object of the script's: there, a name such as `constructor` is found before it
/// was set, and `__proto__` sets something else. They keep the order in which the names came.
pub(super) struct NamedValues<T>(Vec<(String, T)>);

impl<T> Default for NamedValues<T> {
    fn default() -> NamedValues<T> {
        NamedValues(Vec::new())
    }
}

impl<T> NamedValues<T> {
    pub(super) fn known(&mut self, name: &str) -> Option<&mut T> {
        self.0.iter_mut().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(super) fn add(&mut self, name: String, value: T) -> &mut T {
        self.0.push((name, value));
        &mut self.0.last_mut().expect("just pushed").1
    }

    /// An object whose own members they are, whatever their names.
    pub(super) fn object<'js>(self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>>
    where
        T: IntoJs<'js>,
    {
        let object = Object::new(ctx.clone())?;
        for (name, value) in self.0 {
            match &*name {
                "__proto__" => object
                    .prop(name.as_str(), Property::from(value).writable().enumerable().configurable())?,
                name => object.set(name, value)?,
            }
        }
        Ok(object.into_value())
    }
}
