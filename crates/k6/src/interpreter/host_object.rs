//! Objects of a script that stand for something of ours.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::{Class, Ctx, Object};
use std::any::Any;
use std::rc::Rc;

/// A structure's members as scripts know them, and as Go's JSON names them.
pub(crate) type Members = &'static [(&'static str, &'static str)];

/// Something of ours that an object of a script can stand for.
pub(crate) trait HostObject: Any {
    /// The members that `setup` hands on to the users: as scripts know them, and as JSON names them.
    fn members(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Whether the console shows the object as its `toJSON` writes it.
    fn is_shown_as_json(&self) -> bool {
        false
    }
}

/// An object whose members are those of a structure of Go's in k6; nothing of ours is behind it.
pub(crate) struct Structure(pub(crate) Members);

impl HostObject for Structure {
    fn members(&self) -> Vec<(&'static str, &'static str)> {
        self.0.to_vec()
    }
}

/// Where the object keeps it.
pub(super) struct Holder(Rc<dyn HostObject>);

impl<'js> Trace<'js> for Holder {
    // A value of the script that a host object holds (a STOMP session's listeners) is released at the end of its
    // iteration, not by being traced.
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Holder {
    const NAME: &'static str = "Object";
    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> rquickjs::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// An object of the script that stands for `what`.
pub(crate) fn host_object<'js>(ctx: &Ctx<'js>, what: Rc<dyn HostObject>) -> rquickjs::Result<Object<'js>> {
    Ok(Class::instance(ctx.clone(), Holder(what))?.into_inner())
}

/// [`host_object`] with this prototype.
pub(crate) fn host_object_on<'js>(
    prototype: &Object<'js>,
    what: Rc<dyn HostObject>,
) -> rquickjs::Result<Object<'js>> {
    Ok(Class::instance_proto(Holder(what), prototype.clone())?.into_inner())
}

/// The host object behind an object of a script, if there is one.
pub(crate) fn any_host_object(object: &Object<'_>) -> Option<Rc<dyn HostObject>> {
    Class::<Holder>::from_object(object).map(|class| Rc::clone(&class.borrow().0))
}

/// The host object behind an object of a script, if it is of this type.
pub(crate) fn host_object_with<T: HostObject>(object: &Object<'_>) -> Option<Rc<T>> {
    let what: Rc<dyn Any> = any_host_object(object)?;
    what.downcast().ok()
}
