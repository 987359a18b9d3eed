//! Scripts that run: an interpreter per virtual user, on a stack of its own.

mod bundle;
mod events;
mod fiber;
mod intrinsics;
mod loading;
mod machine;
mod opaque;
mod raw;
mod rejections;
mod returned;
#[cfg(test)]
pub(crate) mod tests;
mod thrown;
mod user;
mod vu;

pub(crate) use bundle::{Bundle, Unusable, located};
pub(crate) use events::{Job, Source, outcome};
pub(crate) use intrinsics::Language;
pub(crate) use loading::{common, own_script};
pub(crate) use machine::Given;
pub(crate) use opaque::{Members, Opaque, opaque, opaque_in, opaque_on};
pub(crate) use rejections::Rejections;
pub(crate) use thrown::{Thrown, described};
pub(crate) use user::{Task, User};
pub(crate) use vu::{Phase, Vu};
