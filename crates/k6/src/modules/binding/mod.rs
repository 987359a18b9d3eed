//! The base of every module: arguments, values, tags, parts written in JavaScript, and the object a module is.

mod arguments;
mod builtin;
mod javascript;
mod tags;
mod values;

pub(crate) use arguments::{Argument, TextArgument, is_true, kind};
pub(crate) use builtin::{Builtin, BuiltinObjects, object, object_of};
pub(crate) use javascript::{callable, constructor, own, own_script, prepared};
pub(crate) use tags::{about, given_tags, tag};
pub(crate) use values::{bytes, freeze};
