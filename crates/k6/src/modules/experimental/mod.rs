//! `k6/experimental/fs`, `…/csv` and `…/streams`.

mod csv;

use rquickjs::object::Property;
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Value};
use std::rc::Rc;
use std::sync::Arc;

use crate::interpreter::{HostObject, go_error, host_object, host_object_with};
use crate::modules::binding::{Builtin, callable, object_of, own};
use crate::modules::files::opened;
use crate::vu::{Phase, Vu};

pub(super) const FS: Builtin = Builtin {
    names: &[FS_NAME],
    exports: &["open", "SeekMode"],
    build: |ctx, object| {
        let library = library(ctx)?;
        for name in ["open", "SeekMode"] {
            object.set(name, library.get::<_, Value<'_>>(name)?)?;
        }
        // Both modules share a library: each must know the other's files.
        object.prop(LIBRARY, Property::from(library))
    },
};

pub(super) const CSV: Builtin = Builtin {
    names: &["k6/experimental/csv"],
    exports: &["parse", "Parser"],
    build: |ctx, object| {
        let library: Object<'_> = object_of(ctx, FS_NAME)?.get(LIBRARY)?;
        object.set("parse", library.get::<_, Value<'_>>("parse")?)?;
        object.set("Parser", callable(ctx, library.get("Parser")?)?)
    },
};

pub(super) const STREAMS: Builtin = Builtin {
    names: &[STREAMS_NAME],
    exports: CLASSES,
    build: |ctx, object| {
        let classes: Object<'_> = own(ctx, STREAMS_NAME, STREAMS_SOURCE)?.call(())?;
        CLASSES.iter().try_for_each(|name| object.set(*name, callable(ctx, classes.get(*name)?)?))
    },
};

const CLASSES: &[&str] = &[
    "ReadableStream",
    "ReadableStreamDefaultReader",
    "WritableStream",
    "WritableStreamDefaultWriter",
    "CountQueuingStrategy",
];
/// The name by which another module gets the streams, once its script asks for one.
pub(super) const STREAMS_NAME: &str = "k6/experimental/streams";
pub(super) const STREAMS_SOURCE: &str = include_str!("streams.js");
const FS_NAME: &str = "k6/experimental/fs";
const LIBRARY: &str = "__sonagiFiles";

fn library<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    native.set("isInit", Function::new(ctx.clone(), is_init)?)?;
    native.set("fail", Function::new(ctx.clone(), fail)?)?;
    native.set("open", Function::new(ctx.clone(), open)?)?;
    native.set("size", Function::new(ctx.clone(), size)?)?;
    native.set("read", Function::new(ctx.clone(), read)?)?;
    native.set("records", Function::new(ctx.clone(), csv::records)?)?;
    native.set("reader", Function::new(ctx.clone(), csv::reader)?)?;
    own(ctx, FS_NAME, include_str!("files.js"))?.call((native,))
}

fn is_init(ctx: Ctx<'_>) -> bool {
    Vu::of(&ctx).phase.get() == Phase::Init
}

fn fail(ctx: Ctx<'_>, what: String) -> rquickjs::Result<()> {
    Err(go_error(&ctx, &what))
}

fn open(ctx: Ctx<'_>, path: String) -> rquickjs::Result<Object<'_>> {
    let vu = Vu::of(&ctx);
    let bytes = opened(&ctx, &vu, None, &path)?;
    host_object(&ctx, Rc::new(File(bytes)))
}

/// A file's bytes.
struct File(Arc<[u8]>);

impl HostObject for File {}

/// The bytes behind a file's object.
fn file<'js>(ctx: &Ctx<'js>, handle: &Object<'js>) -> rquickjs::Result<Arc<[u8]>> {
    let file: Option<Rc<File>> = host_object_with(handle);
    file.map(|file| Arc::clone(&file.0)).ok_or_else(|| Exception::throw_type(ctx, "this is no file"))
}

fn size<'js>(ctx: Ctx<'js>, handle: Object<'js>) -> rquickjs::Result<usize> {
    Ok(file(&ctx, &handle)?.len())
}

fn read<'js>(
    ctx: Ctx<'js>,
    handle: Object<'js>,
    at: usize,
    most: usize,
) -> rquickjs::Result<ArrayBuffer<'js>> {
    let bytes = file(&ctx, &handle)?;
    let from = at.min(bytes.len());
    ArrayBuffer::new_copy(ctx, &bytes[from..from.saturating_add(most).min(bytes.len())])
}
