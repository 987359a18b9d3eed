//! Objects of a script that stand for something of ours.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::{Class, Ctx, Object};
use sonagi_transport::http::Jar;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::modules::StompSession;
use crate::modules::http::Received;

/// What an object can stand for: a closed set, modules add theirs.
#[derive(Clone)]
pub(crate) enum Opaque {
    Jar(Rc<RefCell<Jar>>),
    Response(Rc<Received>),
    /// A file's bytes.
    File(Arc<[u8]>),
    Stomp(Rc<StompSession>),
    /// Nothing of ours: what a structure of Go's is in k6, with these members.
    Structure(Members),
}

/// A structure's members as scripts know them, and as Go's JSON names them.
pub(crate) type Members = &'static [(&'static str, &'static str)];

impl Opaque {
    /// What of it `setup` hands on to the users.
    pub(super) fn members(&self) -> Vec<(&'static str, &'static str)> {
        match self {
            Opaque::Response(_) => Received::members().map(|name| (name, name)).collect(),
            Opaque::Structure(members) => members.to_vec(),
            Opaque::Jar(_) | Opaque::File(_) | Opaque::Stomp(_) => Vec::new(),
        }
    }
}

/// Where the object keeps it.
pub(super) struct Holder(Opaque);

impl<'js> Trace<'js> for Holder {
    // What of ours holds values of the script (a STOMP session's listeners) lets go of them when its iteration ends, not by being
    // traced.
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Holder {
    const NAME: &'static str = "Object";
    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> rquickjs::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// An object that stands for something.
pub(crate) fn opaque<'js>(ctx: &Ctx<'js>, what: Opaque) -> rquickjs::Result<Object<'js>> {
    Ok(Class::instance(ctx.clone(), Holder(what))?.into_inner())
}

/// [`opaque`] with this prototype.
pub(crate) fn opaque_on<'js>(prototype: &Object<'js>, what: Opaque) -> rquickjs::Result<Object<'js>> {
    Ok(Class::instance_proto(Holder(what), prototype.clone())?.into_inner())
}

/// What an object stands for, if for anything.
pub(crate) fn opaque_in(object: &Object<'_>) -> Option<Opaque> {
    Class::<Holder>::from_object(object).map(|class| class.borrow().0.clone())
}
