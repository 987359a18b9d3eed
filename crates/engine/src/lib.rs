//! Starts virtual users when the schedule says, moves frames, records.
//!
//! The engine sees neither a script language nor a sink nor stdout: it is handed a [`plan::Plan`] and speaks through
//! typed [`Happening`]s.

pub mod plan;
pub mod schedule;
