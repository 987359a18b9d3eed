//! QuickJS and what it needs of us: stacks that can wait, bytecode, objects that stand for something of ours, errors.
//!
//! Nothing here knows of virtual users; `crate::vu` does.

mod errors;
mod fiber;
mod host_object;
mod intrinsics;
pub(crate) mod raw;
mod rejections;

pub(crate) use errors::{described, go_error};
pub(crate) use fiber::{Fiber, block_on, is_on_fiber};
pub(crate) use host_object::{
    HostObject, Members, Structure, any_host_object, host_object, host_object_on, host_object_with,
};
pub(crate) use intrinsics::{Intrinsics, Language};
pub(crate) use rejections::Rejections;
