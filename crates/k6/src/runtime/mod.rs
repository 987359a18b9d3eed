//! Scripts that run: an interpreter for each virtual user, on a stack of its own.

mod loading;
mod machine;
mod return_values;
#[cfg(test)]
pub(crate) mod tests;
mod thrown;
mod user;

pub(crate) use machine::Given;
pub(crate) use thrown::Thrown;
pub(crate) use user::{Task, User};
