//! What carries out a run, whatever language its script is written in.
//!
//! It sees neither a script nor a sink nor stdout.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod control;
pub mod delivery;
pub mod health;
mod rooms;
pub mod seconds;

pub use control::Control;
