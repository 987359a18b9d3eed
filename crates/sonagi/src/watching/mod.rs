//! `sonagi watch`: probes without a load, on the terminal, as JSON, on a page, and for another Sonagi that generates
//! the load.

mod recorded;
mod ring;
mod server;
mod table;

pub(crate) use recorded::Recorded;
pub(crate) use ring::Ring;
pub(crate) use server::{Serving, WatchServer};
pub(crate) use table::Table;
